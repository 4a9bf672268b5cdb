/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_test.c - the MPI_Test family and MPI_Request_get_status (MPI 4.1, 3.7.3, 3.7.5
 * and 3.7.6).
 *
 * These are the host's functions; while a request of an R-operation is pending, one round of
 * progress of the engine comes before them.
 *
 * No state, no locks. Neighbour: request.c, which makes progress.
 */
#include <mpi.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/requests/request.h"
#include "mpi/requests/request_error.h"

/* tested records in a trace that these requests are not complete, if *done is 0. done is not read
 * after an error, since the host may have refused it. */
static void tested(int rc, const int *done, int n, const MPI_Request *requests)
{
    if (unlikely(mpi_trace != NULL) && rc == MPI_SUCCESS && !*done)
        request_traced_tests(n, requests);
}

static int test_one(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct request_handles kept;

    request_handles_keep(&kept, 1, request);
    request_advance();
    const int rc = mpi_host.Test(request, flag, status);
    return rc == MPI_SUCCESS && *flag ? request_told_one(&kept, 0, rc) : rc;
}

MRMA_PUBLIC int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    TRACED_REQUESTS(Test, 1, request);
    const int rc =
        request_pending() ? test_one(request, flag, status) : mpi_host.Test(request, flag, status);
    tested(rc, flag, 1, request);
    return rc;
}
MRMA_EXPORT_MPI(Test);

static int test_any(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct request_handles kept;

    request_handles_keep(&kept, count, requests);
    request_advance();
    int rc = mpi_host.Testany(count, requests, index, flag, status);
    if (rc == MPI_SUCCESS && *flag)
        rc = request_told_one(&kept, *index, rc);
    request_handles_drop(&kept);
    return rc;
}

MRMA_PUBLIC int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                             MPI_Status *status)
{
    TRACED_REQUESTS(Testany, count, requests);
    const int rc = request_pending() ? test_any(count, requests, index, flag, status)
                                     : mpi_host.Testany(count, requests, index, flag, status);
    tested(rc, flag, count, requests);
    return rc;
}
MRMA_EXPORT_MPI(Testany);

static int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct request_handles kept;

    request_handles_keep(&kept, count, requests);
    request_advance();
    int rc = mpi_host.Testall(count, requests, flag, statuses);
    if (rc != MPI_SUCCESS || *flag)
        rc = request_told_many(&kept, requests, &kept.n, NULL, statuses, rc);
    request_handles_drop(&kept);
    return rc;
}

MRMA_PUBLIC int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    TRACED_REQUESTS(Testall, count, requests);
    const int rc = request_pending() ? test_all(count, requests, flag, statuses)
                                     : mpi_host.Testall(count, requests, flag, statuses);
    tested(rc, flag, count, requests);
    return rc;
}
MRMA_EXPORT_MPI(Testall);

static int test_some(int incount, MPI_Request requests[], int *outcount, int indices[],
                     MPI_Status statuses[])
{
    struct request_handles kept;

    request_handles_keep(&kept, incount, requests);
    request_advance();
    int rc = mpi_host.Testsome(incount, requests, outcount, indices, statuses);
    rc = request_told_many(&kept, requests, outcount, indices, statuses, rc);
    request_handles_drop(&kept);
    return rc;
}

MRMA_PUBLIC int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                              MPI_Status statuses[])
{
    TRACED_REQUESTS(Testsome, incount, requests);
    const int rc = request_pending()
                       ? test_some(incount, requests, outcount, indices, statuses)
                       : mpi_host.Testsome(incount, requests, outcount, indices, statuses);
    tested(rc, outcount, incount, requests);
    return rc;
}
MRMA_EXPORT_MPI(Testsome);

MRMA_PUBLIC int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    TRACED_REQUESTS(Request_get_status, 1, &request);
    if (request_pending())
        request_advance();
    const int rc = mpi_host.Request_get_status(request, flag, status);
    tested(rc, flag, 1, &request);
    return rc;
}
MRMA_EXPORT_MPI(Request_get_status);
