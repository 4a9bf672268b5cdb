/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_error.c - see request_error.h.
 *
 * A request that has failed is in a list, by its handle, from before the host knows that it is
 * complete until a call has returned the error. So whichever thread completes the request finds it
 * here. While a request is in the list it counts as pending, so that the Wait and Test families
 * look. Of several errors in one call all are in the statuses, and the handler is called once, with
 * the code of the first one: a call raises one error, and returns MPI_ERR_IN_STATUS where there are
 * statuses (MPI 4.1, 3.7.5). MPICH calls a handler once, too.
 *
 * Locks: one around the list, not held while calling the host. Neighbours: request.c,
 * request_wait.c, request_test.c; errhan.c, which tells.
 */
#include "mpi/requests/request_error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "mpi/host/host.h"
#include "mpi/process/errhan.h"
#include "mpi/process/error_held.h"
#include "mpi/process/state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list failed = {{&failed.head, &failed.head}};
static _Atomic unsigned nfailed;

void request_handles_keep(struct request_handles *kept, int n, const MPI_Request *requests)
{
    const size_t few = sizeof kept->few / sizeof kept->few[0];

    kept->n = requests != NULL && n > 0 ? n : 0;
    kept->all = (size_t)kept->n <= few ? kept->few : malloc((size_t)kept->n * sizeof *requests);
    if (kept->all != NULL && kept->n > 0)
        memcpy(kept->all, requests, (size_t)kept->n * sizeof *requests);
}

void request_handles_drop(struct request_handles *kept)
{
    if (kept->all != kept->few)
        free(kept->all);
}

void request_failed(struct mpi_request *r)
{
    atomic_fetch_add_explicit(&r->holders, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    list_push_back(&failed, &r->failed);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add_explicit(&nfailed, 1, memory_order_release);
}

bool request_failed_any(void)
{
    return unlikely(atomic_load_explicit(&nfailed, memory_order_acquire) != 0);
}

/* take takes the request of that handle out of the list; NULL: it has not failed. */
static struct mpi_request *take(MPI_Request handle)
{
    struct mpi_request *found = NULL;

    pthread_mutex_lock(&lock);
    LIST_EACH_SAFE (node, &failed) {
        struct mpi_request *r = LIST_ENTRY(node, struct mpi_request, failed);
        if (found == NULL && r->handle == handle) {
            list_remove(node);
            found = r;
        }
    }
    pthread_mutex_unlock(&lock);
    if (found != NULL) {
        atomic_fetch_sub_explicit(&nfailed, 1, memory_order_relaxed);
        atomic_fetch_sub_explicit(&request_npending, 1, memory_order_release);
    }
    return found;
}

/* say_operation keeps, for the message of err, what the operation of r was, if nobody has said why
 * it has failed: an operation that its target refuses is not there any more to be looked at. */
static void say_operation(const struct mpi_request *r, int err)
{
    const struct request_op *op = &r->op;
    const struct log *log = engine_messages();
    const char *at =
        win_flavor(r->rec->win) == WIN_DYNAMIC ? "address 0x%llx" : "displacement %lld";
    char place[64];

    if (error_is_named(err))
        return;
    snprintf(place, sizeof place, at, (long long)op->disp);
    if (err == MRMA_ERR_PROC_FAILED || err == MRMA_ERR_NO_MEM)
        log_fail(log, err, "the operation of %llu bytes at %s of rank %d was not completed",
                 (unsigned long long)op->bytes, place, op->target);
    else
        log_fail(log, err, "rank %d has refused the operation of %llu bytes at %s", op->target,
                 (unsigned long long)op->bytes, place);
}

/* tell calls the window's handler, unless quietly is true, and drops r. Returns the code. */
static int tell(struct mpi_request *r, bool quietly)
{
    const int err = atomic_load_explicit(&r->req.err, memory_order_acquire);
    const struct win_rec *rec = r->rec;
    int code = err_class(err);

    if (!quietly && rec != NULL) {
        say_operation(r, err);
        code = win_fail_target(rec, r->func, err, r->op.target);
    } else if (!quietly)
        code = plain_fail(r->func, err, "its window is gone");
    request_drop(r);
    return code;
}

int request_told_one(const struct request_handles *kept, int index, int rc)
{
    struct mpi_request *r;

    if (likely(!request_failed_any()) || kept->all == NULL || index < 0 || index >= kept->n)
        return rc;
    r = take(kept->all[index]);
    return r != NULL ? tell(r, false) : rc;
}

/* has_completed returns whether the call has come so far that it may have completed requests, which
 * the host's rc tells. */
static bool has_completed(int rc)
{
    int class = MPI_SUCCESS;

    if (rc != MPI_SUCCESS)
        mpi_host.Error_class(rc, &class);
    return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}

int request_told_many(const struct request_handles *kept, const MPI_Request *requests,
                      const int *done, const int *indices, MPI_Status *statuses, int rc)
{
    const bool wanted = statuses != MPI_STATUSES_IGNORE;
    bool any = rc != MPI_SUCCESS;

    if (likely(!request_failed_any()) || kept->all == NULL || !has_completed(rc))
        return rc;
    for (int k = 0; k < *done; k++) {
        const int i = indices != NULL ? indices[k] : k;
        struct mpi_request *r = requests[i] == MPI_REQUEST_NULL ? take(kept->all[i]) : NULL;
        if (r == NULL)
            continue;
        for (int other = 0; !any && wanted && other < *done; other++)
            statuses[other].MPI_ERROR = MPI_SUCCESS;
        const int code = tell(r, any);
        if (wanted)
            statuses[k].MPI_ERROR = code;
        any = true;
    }
    return any && rc == MPI_SUCCESS ? MPI_ERR_IN_STATUS : rc;
}
