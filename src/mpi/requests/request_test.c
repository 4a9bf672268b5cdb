/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_test.c - the MPI_Test family and MPI_Request_get_status (MPI 4.1, 3.7.3, 3.7.5
 * and 3.7.6).
 *
 * The host's functions, and for requests of R-operations, which the host takes for inactive ones,
 * those of request_many.h; while one is pending, of this call or not, one round of progress of the
 * engine goes before.
 *
 * No state, no locks. Neighbour: request.c, which makes progress.
 */
#include <mpi.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/requests/request.h"
#include "mpi/requests/request_many.h"

/* In a trace: these requests are not complete, if *done is 0. done is not read after an error,
 * since the host may have refused it. */
static void tested(int rc, const int *done, int n, const MPI_Request *requests)
{
    if (unlikely(mpi_trace != NULL) && rc == MPI_SUCCESS && !*done)
        request_traced_tests(n, requests);
}

static void advance(void)
{
    if (request_pending())
        request_advance();
}

static int test_one(MPI_Request *request, int *flag, MPI_Status *status)
{
    advance();
    if (!requests_are_any(1, request))
        return mpi_host.Test(request, flag, status);
    *flag = requests_all_ended(1, request);
    return *flag ? requests_finish_one(request, 0, status) : MPI_SUCCESS;
}

MRMA_PUBLIC int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    TRACED_REQUESTS(Test, 1, request);
    const int rc =
        requests_matter() ? test_one(request, flag, status) : mpi_host.Test(request, flag, status);
    tested(rc, flag, 1, request);
    return rc;
}
MRMA_EXPORT_MPI(Test);

/* To the host none of them is active. */
static int test_any(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    advance();
    if (!requests_are_any(count, requests))
        return mpi_host.Testany(count, requests, index, flag, status);
    const int ended = requests_first_ended(count, requests);
    if (ended >= 0) {
        *index = ended;
        *flag = 1;
        return requests_finish_one(requests, ended, status);
    }
    const int rc = mpi_host.Testany(count, requests, index, flag, status);
    if (rc == MPI_SUCCESS && *flag && *index == MPI_UNDEFINED)
        *flag = 0;
    return rc;
}

MRMA_PUBLIC int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                             MPI_Status *status)
{
    TRACED_REQUESTS(Testany, count, requests);
    const int rc = requests_matter() ? test_any(count, requests, index, flag, status)
                                     : mpi_host.Testany(count, requests, index, flag, status);
    tested(rc, flag, count, requests);
    return rc;
}
MRMA_EXPORT_MPI(Testany);

/* The host's test takes back all requests that it knows as soon as these are complete, so it comes
 * when all others are; until then request_advance lets the host make progress. */
static int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    advance();
    const bool ours = requests_are_any(count, requests);
    if (ours && !requests_all_ended(count, requests)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    const int rc = mpi_host.Testall(count, requests, flag, statuses);
    return ours && requests_host_went_on(rc) && (rc != MPI_SUCCESS || *flag)
               ? requests_finish_all(count, requests, statuses, rc)
               : rc;
}

MRMA_PUBLIC int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    TRACED_REQUESTS(Testall, count, requests);
    const int rc = requests_matter() ? test_all(count, requests, flag, statuses)
                                     : mpi_host.Testall(count, requests, flag, statuses);
    tested(rc, flag, count, requests);
    return rc;
}
MRMA_EXPORT_MPI(Testall);

static int test_some(int incount, MPI_Request requests[], int *outcount, int indices[],
                     MPI_Status statuses[])
{
    advance();
    const bool ours = requests_are_any(incount, requests);
    const int rc = mpi_host.Testsome(incount, requests, outcount, indices, statuses);
    return ours && requests_host_went_on(rc)
               ? requests_finish_some(incount, requests, outcount, indices, statuses, rc)
               : rc;
}

MRMA_PUBLIC int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                              MPI_Status statuses[])
{
    TRACED_REQUESTS(Testsome, incount, requests);
    const int rc = requests_matter()
                       ? test_some(incount, requests, outcount, indices, statuses)
                       : mpi_host.Testsome(incount, requests, outcount, indices, statuses);
    tested(rc, outcount, incount, requests);
    return rc;
}
MRMA_EXPORT_MPI(Testsome);

static int get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    advance();
    if (!requests_are_any(1, &request))
        return mpi_host.Request_get_status(request, flag, status);
    *flag = requests_all_ended(1, &request);
    if (*flag)
        request_status(status);
    return MPI_SUCCESS;
}

MRMA_PUBLIC int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    TRACED_REQUESTS(Request_get_status, 1, &request);
    const int rc = requests_matter() ? get_status(request, flag, status)
                                     : mpi_host.Request_get_status(request, flag, status);
    tested(rc, flag, 1, &request);
    return rc;
}
MRMA_EXPORT_MPI(Request_get_status);
