/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.c - the life of an R-operation's request.
 *
 * request_new takes one from the pool, with its handle, then the operation is issued. If it is
 * complete at once, as on the direct paths and for what was copied into a packet, the application
 * gets the handle that stands for all of these, and the request is free again. Otherwise it gets
 * the request's own, which request_advance finds ended at some time, and which a call of the Wait
 * or Test family takes back. A trace and MPIRMA_STRICT have to tell the requests apart, so with
 * them each has its own.
 *
 *   thread that does progress             thread that waits
 *   A: takes r from the list that has     C: request_ended(r) (acquire)
 *      ended (acquire; origin/replies.c)  D: uses what the operation has written, and gives r away
 *   B: ended = true (release)
 *
 * C reads B, so that what has ended the operation is before D. request_npending is lowered behind
 * B: a thread that sees 0 may block in the host once it has looked at its requests again.
 *
 * An error of the operation is told by the call that completes the request. The host is not told of
 * it: what hosts make of it differs.
 *
 * Neighbours: request_ops.c, which issues; request_wait.c, request_test.c and request_many.c, which
 * complete; rma.h, which ends the operations.
 */
#include "mpi/requests/request.h"

#include <pthread.h>
#include <stdio.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/log.h"
#include "engine/engine.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/errhan.h"
#include "mpi/process/error_held.h"
#include "mpi/process/state.h"
#include "mpi/requests/notify_request.h"
#include "mpi/traced/traced.h"

/* One of request_npending stands for operations that are unsent, though all their requests may be
 * complete: the next call for a request sends them.
 *
 *   thread that has issued one            thread that sends what is unsent
 *   A: counted as unsent                  C: noted = false (acquire)
 *   B: noted = true (release)             D: is any counted? send all
 *
 * Both exchange, so one comes behind the other. If C reads B, D sees A, and sends it. Otherwise B
 * reads C, or the initial false, and counts itself in request_npending once more, for the next call
 * for a request. */
_Atomic bool request_unsent_noted;

static struct rma_req_list ended; /* of what the application has: request_advance notes them */

static MPI_Status done; /* what request_status gives */
static pthread_once_t done_once = PTHREAD_ONCE_INIT;

struct mpi_request *request_new(const char *func)
{
    struct mpi_request *r = request_pool_take();

    if (unlikely(r == NULL))
        return NULL;
    rma_req_begin(&r->req, &ended);
    r->func = func;
    return r;
}

void request_note_unsent(void)
{
    if (rma_requests_unsent(mpi_state.rma) &&
        !atomic_exchange_explicit(&request_unsent_noted, true, memory_order_release)) /* B */
        atomic_fetch_add_explicit(&request_npending, 1, memory_order_relaxed);
}

/* Before they are sent: what is left unsent from now on is noted again. */
static void unsent_leaves(void)
{
    if (atomic_load_explicit(&request_unsent_noted, memory_order_relaxed) &&
        atomic_exchange_explicit(&request_unsent_noted, false, memory_order_acquire)) /* C */
        atomic_fetch_sub_explicit(&request_npending, 1, memory_order_relaxed);
}

/* Must every request be recognized? */
static bool are_watched(void)
{
    return mpi_trace != NULL || engine_conf(mpi_state.engine)->strict;
}

/* common_handle returns the handle that stands for what is complete at once, which request_complete
 * returns from now on; MPI_REQUEST_NULL: every operation has its own. */
static MPI_Request common_handle(void)
{
    if (request_complete() == MPI_REQUEST_NULL || unlikely(are_watched()))
        request_pool_use_shared(!are_watched());
    return request_complete();
}

static const char *kind_of(const struct rma_op *op)
{
    if (op->rtype == NULL)
        return op->op == ACC_OP_NONE ? "a put" : "an accumulate";
    return op->op == ACC_OP_NONE ? "a get" : "an accumulate that fetches";
}

int request_issued(struct mpi_request *r, const struct win_rec *rec, int err,
                   const struct rma_op *op, MPI_Request *request)
{
    if (unlikely(err != MRMA_SUCCESS && err != OP_NOTHING)) {
        const char *func = r->func;
        request_pool_give(r);
        return op_fail(rec, func, err, op);
    }
    request_may_be_unsent();
    const bool complete = rma_req_held_only(&r->req) &&
                          atomic_load_explicit(&r->req.err, memory_order_relaxed) == MRMA_SUCCESS;
    const MPI_Request handle = complete ? common_handle() : MPI_REQUEST_NULL;
    if (likely(handle != MPI_REQUEST_NULL)) {
        request_pool_give(r);
        *request = handle;
        return MPI_SUCCESS;
    }
    *request = r->handle;
    r->op = (struct request_op){.kind = kind_of(op),
                                .target = op->target,
                                .disp = op->disp,
                                .bytes = op->ttype != NULL ? op->tcount * op->ttype->size : 0};
    atomic_store_explicit(&r->rec, rec, memory_order_relaxed);
    atomic_store_explicit(&r->ended, complete, memory_order_relaxed);
    if (!complete) {
        atomic_fetch_add_explicit(&request_npending, 1, memory_order_release);
        rma_req_issued(&r->req);
    }
    return MPI_SUCCESS;
}

void request_advance(void)
{
    struct rma_req *next;
    unsigned n = 0;

    unsent_leaves();
    rma_progress_requests(mpi_state.rma);
    notify_request_advance();
    for (struct rma_req *req = rma_req_take(&ended); req != NULL; req = next, n++) { /* A */
        struct mpi_request *r = LIST_ENTRY(req, struct mpi_request, req);
        next = req->next;
        atomic_store_explicit(&r->ended, true, memory_order_release); /* B; r may be gone */
    }
    if (n > 0)
        atomic_fetch_sub_explicit(&request_npending, n, memory_order_release);
}

/* Source and tag are undefined (12.3.5). */
static void make_status(void)
{
    PMPI_Status_set_elements(&done, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(&done, 0);
    done.MPI_SOURCE = MPI_UNDEFINED;
    done.MPI_TAG = MPI_UNDEFINED;
}

void request_status(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    const int error = status->MPI_ERROR;
    pthread_once(&done_once, make_status);
    *status = done;
    status->MPI_ERROR = error;
}

/* say_operation keeps, for the message of err, what the operation on the window of rec was, if
 * nobody has said why it has failed: an operation that its target refuses is not there any more to
 * be looked at. */
static void say_operation(const struct win_rec *rec, const struct request_op *op, int err)
{
    const struct log *log = engine_messages();
    const bool dynamic = win_flavor(rec->win) == WIN_DYNAMIC;
    const unsigned long long bytes = op->bytes;
    char place[64];

    if (error_is_named(err))
        return;
    if (err == MRMA_ERR_RMA_RANGE && dynamic) {
        (void)FAULT(log, REQUEST_MEMORY, (unsigned long long)op->disp, op->target, op->kind, bytes);
        return;
    }
    snprintf(place, sizeof place, dynamic ? "target_disp = 0x%llx" : "target_disp = %lld",
             (long long)op->disp);
    if (err == MRMA_ERR_PROC_FAILED || err == MRMA_ERR_NO_MEM)
        log_fail(log, err, "%s: %s of %llu bytes was not completed at rank %d", place, op->kind,
                 bytes, op->target);
    else
        log_fail(log, err, "%s: rank %d has refused %s of %llu bytes", place, op->target, op->kind,
                 bytes);
}

/* tell calls the handler of the window of rec, unless quietly is true. Returns the code. */
static __attribute__((cold)) int tell(const struct win_rec *rec, const char *func,
                                      const struct request_op *op, int err, bool quietly)
{
    if (quietly)
        return err_class(err);
    if (rec == NULL)
        return plain_fail(func, err, "its window is gone");
    say_operation(rec, op, err);
    return win_fail_target(rec, func, err, op->target);
}

/* The request is given away first: the handler may start operations. */
int request_finish(struct mpi_request *r, MPI_Status *status, bool quietly)
{
    request_status(status);
    if (likely(r->shared))
        return MPI_SUCCESS;
    const int err = atomic_load_explicit(&r->req.err, memory_order_relaxed); /* D */
    const struct win_rec *rec = atomic_load_explicit(&r->rec, memory_order_relaxed);
    const char *func = r->func;
    const struct request_op op = r->op;
    traced_request(TRACE_REQUEST_DONE, r->req.number);
    request_pool_give(r);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : tell(rec, func, &op, err, quietly);
}

enum trace_call request_traced_call(enum trace_call call, int n, const MPI_Request *requests,
                                    const void *caller)
{
    for (int i = 0; requests != NULL && i < n; i++)
        if (request_find(requests[i]) != NULL || notify_request_is(requests[i]))
            return traced_enter(call, MPI_WIN_NULL, -1, caller);
    return TRACE_CALL_NONE;
}

void request_traced_tests(int n, const MPI_Request *requests)
{
    for (int i = 0; requests != NULL && i < n; i++) {
        const struct mpi_request *r = request_find(requests[i]);
        if (r != NULL && !r->shared)
            traced_request(TRACE_REQUEST_TEST, r->req.number);
    }
}

/* Of what was complete at once, and is not told apart, a program loses the handle, as on the
 * hosts; the request of any other operation is refused, and stays as it is: MPI 4.1, 12.3.5. */
MRMA_PUBLIC int PMPI_Request_free(MPI_Request *request)
{
    struct mpi_request *r = request != NULL ? request_find(*request) : NULL;

    if (unlikely(r != NULL) && !r->shared)
        return request_refuse("MPI_Request_free", r);
    if (unlikely(r != NULL)) {
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    if (request != NULL)
        notify_request_free(*request);
    return mpi_host.Request_free(request);
}
MRMA_EXPORT_MPI(Request_free);

MRMA_PUBLIC int PMPI_Cancel(MPI_Request *request)
{
    struct mpi_request *r = request != NULL ? request_find(*request) : NULL;

    if (unlikely(r != NULL))
        return r->shared ? MPI_SUCCESS : request_refuse("MPI_Cancel", r);
    if (request != NULL)
        notify_request_cancel(*request);
    return mpi_host.Cancel(request);
}
MRMA_EXPORT_MPI(Cancel);
