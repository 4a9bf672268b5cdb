/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_wait.c - the MPI_Wait family (MPI 4.1, 3.7.3 and 3.7.5).
 *
 * These are the host's functions, except while a request of an R-operation is pending: then the
 * engine and the host make progress in turn, the host by its own test of the same requests, until
 * the wait is over. Results, statuses and errors are those of the host's test, which are the same
 * as those of its wait.
 *
 * No state, no locks. Neighbours: request.c, which makes progress; rma.h, whose rma_backoff waits
 * between two rounds.
 */
#include <mpi.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/state.h"
#include "mpi/requests/request.h"
#include "mpi/requests/request_error.h"

enum { REQUESTS_PER_ROUND = 64, ROUNDS_MOST = 64 };

/* again is called between two rounds. False: nothing is pending any more, so the host can wait. */
static bool again(unsigned *round)
{
    if (!request_pending())
        return false;
    rma_backoff(mpi_state.rma, (*round)++);
    return true;
}

static int wait_one(MPI_Request *request, MPI_Status *status)
{
    struct request_handles kept;
    unsigned round = 0;
    int flag = 0, rc;

    request_handles_keep(&kept, 1, request);
    do {
        request_advance();
        rc = mpi_host.Test(request, &flag, status);
        if (rc != MPI_SUCCESS || flag)
            return rc == MPI_SUCCESS ? request_told_one(&kept, 0, rc) : rc;
    } while (again(&round));
    return mpi_host.Wait(request, status);
}

MRMA_PUBLIC int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    TRACED_REQUESTS(Wait, 1, request);
    return request_pending() ? wait_one(request, status) : mpi_host.Wait(request, status);
}
MRMA_EXPORT_MPI(Wait);

static int wait_any(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct request_handles kept;
    unsigned round = 0;
    int flag = 0, rc;

    request_handles_keep(&kept, count, requests);
    do {
        request_advance();
        rc = mpi_host.Testany(count, requests, index, &flag, status);
    } while (rc == MPI_SUCCESS && !flag && again(&round));
    if (rc == MPI_SUCCESS && !flag)
        rc = mpi_host.Waitany(count, requests, index, status);
    else if (rc == MPI_SUCCESS)
        rc = request_told_one(&kept, *index, rc);
    request_handles_drop(&kept);
    return rc;
}

MRMA_PUBLIC int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    TRACED_REQUESTS(Waitany, count, requests);
    return request_pending() ? wait_any(count, requests, index, status)
                             : mpi_host.Waitany(count, requests, index, status);
}
MRMA_EXPORT_MPI(Waitany);

/* The host's test of many requests looks at each of them, while the pending ones end one after the
 * other; so it comes after as many rounds as cost about the same. */
static void advance_for(int count)
{
    const int rounds =
        count / REQUESTS_PER_ROUND < ROUNDS_MOST ? count / REQUESTS_PER_ROUND : ROUNDS_MOST;

    request_advance();
    for (int i = 0; i < rounds && request_pending(); i++) {
        rma_backoff(mpi_state.rma, (unsigned)i);
        request_advance();
    }
}

static int wait_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct request_handles kept;
    unsigned round = 0;
    int flag = 0, rc;

    request_handles_keep(&kept, count, requests);
    do {
        advance_for(count);
        rc = mpi_host.Testall(count, requests, &flag, statuses);
    } while (rc == MPI_SUCCESS && !flag && again(&round));
    if (rc == MPI_SUCCESS && !flag)
        rc = mpi_host.Waitall(count, requests, statuses);
    else
        rc = request_told_many(&kept, requests, &kept.n, NULL, statuses, rc);
    request_handles_drop(&kept);
    return rc;
}

MRMA_PUBLIC int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    TRACED_REQUESTS(Waitall, count, requests);
    return request_pending() ? wait_all(count, requests, statuses)
                             : mpi_host.Waitall(count, requests, statuses);
}
MRMA_EXPORT_MPI(Waitall);

static int wait_some(int incount, MPI_Request requests[], int *outcount, int indices[],
                     MPI_Status statuses[])
{
    struct request_handles kept;
    unsigned round = 0;
    int rc;

    request_handles_keep(&kept, incount, requests);
    do {
        request_advance();
        rc = mpi_host.Testsome(incount, requests, outcount, indices, statuses);
    } while (rc == MPI_SUCCESS && *outcount == 0 && again(&round));
    if (rc == MPI_SUCCESS && *outcount == 0)
        rc = mpi_host.Waitsome(incount, requests, outcount, indices, statuses);
    else
        rc = request_told_many(&kept, requests, outcount, indices, statuses, rc);
    request_handles_drop(&kept);
    return rc;
}

MRMA_PUBLIC int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                              MPI_Status statuses[])
{
    TRACED_REQUESTS(Waitsome, incount, requests);
    return request_pending() ? wait_some(incount, requests, outcount, indices, statuses)
                             : mpi_host.Waitsome(incount, requests, outcount, indices, statuses);
}
MRMA_EXPORT_MPI(Waitsome);
