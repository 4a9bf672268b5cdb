/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_wait.c - the MPI_Wait family (MPI 4.1, 3.7.3 and 3.7.5).
 *
 * The host's functions, and for requests of R-operations, which the host takes for inactive ones,
 * those of request_many.h. While one is pending, of this call or not, the engine and the host
 * advance in turn, the host by its own test of the same requests, until the wait is over.
 *
 * No state, no locks. Neighbours: request.c, which makes progress; rma.h, whose rma_backoff waits
 * between two rounds.
 */
#include <mpi.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/state.h"
#include "mpi/requests/request.h"
#include "mpi/requests/request_many.h"

/* Between two rounds. False: nothing is pending any more, let the host wait. */
static bool again(unsigned *round)
{
    if (!request_pending())
        return false;
    rma_backoff(mpi_state.rma, (*round)++);
    request_advance();
    return true;
}

static int wait_one(MPI_Request *request, MPI_Status *status)
{
    unsigned round = 0;
    int flag = 0, rc;

    if (requests_await(1, request) > 0)
        return requests_finish_one(request, 0, status);
    while (request_pending()) {
        rc = mpi_host.Test(request, &flag, status);
        if (rc != MPI_SUCCESS || flag)
            return rc;
        (void)again(&round);
    }
    return mpi_host.Wait(request, status);
}

MRMA_PUBLIC int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    TRACED_REQUESTS(Wait, 1, request);
    return requests_matter() ? wait_one(request, status) : mpi_host.Wait(request, status);
}
MRMA_EXPORT_MPI(Wait);

/* With requests of R-operations, none of which has ended. Never in the host's wait, which does not
 * know that one ends. */
static int wait_any_of_both(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    unsigned round = 0;
    int flag = 0, rc;

    for (;;) {
        const int ended = requests_first_ended(count, requests);
        if (ended >= 0) {
            *index = ended;
            return requests_finish_one(requests, ended, status);
        }
        rc = mpi_host.Testany(count, requests, index, &flag, status);
        if (rc != MPI_SUCCESS || (flag && *index != MPI_UNDEFINED))
            return rc;
        (void)again(&round);
    }
}

static int wait_any(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    unsigned round = 0;
    int flag = 0, rc;

    if (request_pending())
        request_advance();
    if (requests_are_any(count, requests))
        return wait_any_of_both(count, requests, index, status);
    while (request_pending()) {
        rc = mpi_host.Testany(count, requests, index, &flag, status);
        if (rc != MPI_SUCCESS || flag)
            return rc;
        (void)again(&round);
    }
    return mpi_host.Waitany(count, requests, index, status);
}

MRMA_PUBLIC int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    TRACED_REQUESTS(Waitany, count, requests);
    return requests_matter() ? wait_any(count, requests, index, status)
                             : mpi_host.Waitany(count, requests, index, status);
}
MRMA_EXPORT_MPI(Waitany);

static int wait_all_of_host(int count, MPI_Request requests[], MPI_Status statuses[])
{
    unsigned round = 0;
    int flag = 0, rc;

    while (request_pending()) {
        rc = mpi_host.Testall(count, requests, &flag, statuses);
        if (rc != MPI_SUCCESS || flag)
            return rc;
        (void)again(&round);
    }
    return mpi_host.Waitall(count, requests, statuses);
}

static int wait_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    const int ours = requests_await(count, requests);
    int rc = MPI_SUCCESS;

    if (ours == 0 || ours < count)
        rc = wait_all_of_host(count, requests, statuses);
    return ours > 0 && requests_host_went_on(rc)
               ? requests_finish_all(count, requests, statuses, rc)
               : rc;
}

MRMA_PUBLIC int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    TRACED_REQUESTS(Waitall, count, requests);
    return requests_matter() ? wait_all(count, requests, statuses)
                             : mpi_host.Waitall(count, requests, statuses);
}
MRMA_EXPORT_MPI(Waitall);

/* As wait_any_of_both. */
static int wait_some_of_both(int incount, MPI_Request requests[], int *outcount, int indices[],
                             MPI_Status statuses[])
{
    unsigned round = 0;
    int rc;

    for (;;) {
        rc = mpi_host.Testsome(incount, requests, outcount, indices, statuses);
        if (!requests_host_went_on(rc))
            return rc;
        rc = requests_finish_some(incount, requests, outcount, indices, statuses, rc);
        if (rc != MPI_SUCCESS || *outcount > 0)
            return rc;
        (void)again(&round);
    }
}

static int wait_some(int incount, MPI_Request requests[], int *outcount, int indices[],
                     MPI_Status statuses[])
{
    unsigned round = 0;
    int rc;

    if (request_pending())
        request_advance();
    if (requests_are_any(incount, requests))
        return wait_some_of_both(incount, requests, outcount, indices, statuses);
    while (request_pending()) {
        rc = mpi_host.Testsome(incount, requests, outcount, indices, statuses);
        if (rc != MPI_SUCCESS || *outcount != 0)
            return rc;
        (void)again(&round);
    }
    return mpi_host.Waitsome(incount, requests, outcount, indices, statuses);
}

MRMA_PUBLIC int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                              MPI_Status statuses[])
{
    TRACED_REQUESTS(Waitsome, incount, requests);
    return requests_matter() ? wait_some(incount, requests, outcount, indices, statuses)
                             : mpi_host.Waitsome(incount, requests, outcount, indices, statuses);
}
MRMA_EXPORT_MPI(Waitsome);
