/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_many.c - see request_many.h.
 *
 * No state, no locks. Neighbours: request.c, one request; request_wait.c and request_test.c, the
 * calls.
 */
#include "mpi/requests/request_many.h"

#include "mpi/host/host.h"
#include "mpi/process/state.h"
#include "mpi/requests/request.h"

bool requests_are_any(int n, const MPI_Request *requests)
{
    for (int i = 0; requests != NULL && requests_made() && i < n; i++)
        if (request_find(requests[i]) != NULL)
            return true;
    return false;
}

/* The handle of what was complete at once, which there may be many of in one call. */
static MPI_Request common_handle(void)
{
    const struct mpi_request *shared = request_pool_shared();

    return shared != NULL ? shared->handle : MPI_REQUEST_NULL;
}

/* What is unsent leaves in any case. */
int requests_await(int n, const MPI_Request *requests)
{
    const MPI_Request common = common_handle();
    unsigned round = 0;
    int ours = 0;

    if (request_pending())
        request_advance();
    for (int i = 0; requests != NULL && requests_made() && i < n; i++) {
        const bool complete = requests[i] == common && common != MPI_REQUEST_NULL;
        struct mpi_request *r = complete ? NULL : request_find(requests[i]);
        ours += complete || r != NULL;
        while (r != NULL && !request_ended(r)) {
            rma_backoff(mpi_state.rma, round++);
            request_advance();
        }
    }
    return ours;
}

bool requests_all_ended(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n; i++) {
        struct mpi_request *r = request_find(requests[i]);
        if (r != NULL && !request_ended(r))
            return false;
    }
    return true;
}

int requests_first_ended(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n; i++) {
        struct mpi_request *r = request_find(requests[i]);
        if (r != NULL && request_ended(r))
            return i;
    }
    return -1;
}

int requests_finish_one(MPI_Request *requests, int index, MPI_Status *status)
{
    struct mpi_request *r = request_find(requests[index]);

    requests[index] = MPI_REQUEST_NULL;
    return request_finish(r, status, false);
}

bool requests_host_went_on(int rc)
{
    int class = MPI_SUCCESS;

    if (rc != MPI_SUCCESS)
        mpi_host.Error_class(rc, &class);
    return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}

static void set_errors(MPI_Status *statuses, int n)
{
    for (int i = 0; statuses != MPI_STATUSES_IGNORE && i < n; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

/* Completes r, the k-th of n in a call, which returns rc so far. Returns what it returns now. */
static int finish(struct mpi_request *r, int k, int n, MPI_Status *statuses, int rc)
{
    MPI_Status *status = statuses != MPI_STATUSES_IGNORE ? &statuses[k] : MPI_STATUS_IGNORE;
    const int code = request_finish(r, status, rc != MPI_SUCCESS);

    if (likely(code == MPI_SUCCESS && rc == MPI_SUCCESS))
        return rc;
    if (rc == MPI_SUCCESS)
        set_errors(statuses, n);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = code;
    return rc == MPI_SUCCESS ? MPI_ERR_IN_STATUS : rc;
}

int requests_finish_all(int n, MPI_Request *requests, MPI_Status *statuses, int rc)
{
    const MPI_Request common = statuses == MPI_STATUSES_IGNORE ? common_handle() : MPI_REQUEST_NULL;

    for (int i = 0; i < n; i++) {
        const bool complete = requests[i] == common;
        struct mpi_request *r = complete ? NULL : request_find(requests[i]);
        if (complete)
            requests[i] = MPI_REQUEST_NULL;
        if (r == NULL)
            continue;
        requests[i] = MPI_REQUEST_NULL;
        rc = finish(r, i, n, statuses, rc);
    }
    return rc;
}

int requests_finish_some(int n, MPI_Request *requests, int *done, int *indices,
                         MPI_Status *statuses, int rc)
{
    int k = *done == MPI_UNDEFINED ? 0 : *done;

    for (int i = 0; i < n; i++) {
        struct mpi_request *r = request_find(requests[i]);
        if (r == NULL || !request_ended(r))
            continue;
        requests[i] = MPI_REQUEST_NULL;
        indices[k] = i;
        rc = finish(r, k, k + 1, statuses, rc);
        k++;
    }
    *done = k;
    return rc;
}
