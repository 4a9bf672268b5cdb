/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.c - the life of an R-operation's request.
 *
 * request_new makes a request of this library's, then the operation is issued. If the operation is
 * complete at once, as on the direct paths and for data that were copied into a packet, the
 * application gets a request of the host that is complete from the beginning: the request of a
 * receive from MPI_PROC_NULL, which costs a tenth of a generalized request (MPI 4.1, 3.10: it
 * completes as soon as possible, with a count of 0, and is not cancelled). Otherwise the
 * application gets a generalized request, which is pending until request_advance finds that the
 * operation has ended. The host calls on_free when the application has waited for the request, and
 * only then it is freed. A trace and MPIRMA_STRICT must recognize every request, so with them all
 * requests are generalized ones.
 *
 * A mutex guards the list of live requests; it is not held while calling the host or src/rma.
 * request_npending is lowered after the host has been told of a completion, so a thread that sees 0
 * may block in the host.
 *
 * The call that completes the request returns errors of its operation (request_error.h).
 *
 * Neighbours: request_ops.c, which issues; request_wait.c and request_test.c, which advance; rma.h,
 * which completes.
 */
#include "mpi/requests/request.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/tsan_order.h"
#include "engine/engine.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/errhan.h"
#include "mpi/process/state.h"
#include "mpi/requests/notify_request.h"
#include "mpi/requests/request_error.h"
#include "mpi/traced/traced.h"

_Atomic unsigned request_npending;

/* A count of one in request_npending stands for operations that are unsent, although all their
 * requests may be complete: the next call for a request sends them.
 *
 *   thread that has issued one            thread that sends what is unsent
 *   A: counted as unsent                  C: noted = false (acquire)
 *   B: noted = true (release)             D: is any counted? send all
 *
 * Both are exchanges, so one comes behind the other. If C reads B, D sees A, and sends the
 * operation. Otherwise B reads C, or the initial false, and raises request_npending once more, for
 * the next call for a request. */
static _Atomic bool unsent_noted;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list live = {{&live.head, &live.head}};

static struct rma_req_list ended; /* those of the live requests that have ended: request_advance
                                     tells the host of them */

/* Requests that were freed, to be used again: spare is the next one, if there is one; the mutex
 * guards those behind it. There are as many as were live at once, up to a limit. They are kept
 * since malloc is slow with many objects that come and go together. */
static _Atomic(struct mpi_request *) spare;
static struct list spares = {{&spares.head, &spares.head}};
static unsigned nspares;
enum { SPARES_MOST = 8192 };

/* MPI_Grequest_query_function. Source and tag are undefined (12.3.5). */
static int on_query(void *extra, MPI_Status *status)
{
    struct mpi_request *r = extra;

    /* pairs with on_free, which the host may call in the thread that completes the request */
    order_before(r);
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS; /* the call that completes the request returns its error: request_error.h */
}

/* Under the mutex; NULL: there is none. */
static struct mpi_request *spares_take(void)
{
    struct list_node *node = list_pop_front(&spares);

    nspares -= node != NULL;
    return node != NULL ? LIST_ENTRY(node, struct mpi_request, live) : NULL;
}

/* recycle keeps r, which nobody uses any more, for later. The exchange is acq_rel: what this thread
 * has done with r comes before what the next user does with it, and likewise for the request that
 * this thread gets in exchange. */
static void recycle(struct mpi_request *r)
{
    r = atomic_exchange_explicit(&spare, r, memory_order_acq_rel);
    if (likely(r == NULL))
        return;
    pthread_mutex_lock(&lock);
    const bool keeps = nspares < SPARES_MOST;
    if (keeps) {
        list_push_front(&spares, &r->live);
        nspares++;
    }
    pthread_mutex_unlock(&lock);
    if (!keeps)
        free(r);
}

/* (acq_rel: what either holder has written to r comes before r is used again) */
void request_drop(struct mpi_request *r)
{
    if (atomic_fetch_sub_explicit(&r->holders, 1, memory_order_acq_rel) == 1)
        recycle(r);
}

/* live_add also refills spare, so that the next call gets its request without the mutex. */
static void live_add(struct mpi_request *r)
{
    struct mpi_request *next;

    pthread_mutex_lock(&lock);
    list_push_back(&live, &r->live);
    next = spares_take();
    pthread_mutex_unlock(&lock);
    if (next != NULL)
        recycle(next);
}

static void live_remove(struct mpi_request *r)
{
    pthread_mutex_lock(&lock);
    list_remove(&r->live);
    pthread_mutex_unlock(&lock);
}

static int on_free(void *extra)
{
    struct mpi_request *r = extra;

    order_after(r); /* pairs with request_advance and on_query, of other threads maybe */
    traced_request(TRACE_REQUEST_DONE, r->req.number);
    live_remove(r);
    request_drop(r);
    return MPI_SUCCESS;
}

/* The host calls on_cancel in MPI_Cancel, which is erroneous for these requests (12.3.5). */
static int on_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_ERR_REQUEST;
}

struct mpi_request *request_new(const char *func)
{
    struct mpi_request *r = atomic_exchange_explicit(&spare, NULL, memory_order_acquire);

    if (r == NULL)
        r = malloc(sizeof *r);
    if (r == NULL)
        return NULL;
    list_node_init(&r->live);
    rma_req_begin(&r->req, &ended);
    r->func = func;
    return r;
}

static void note_unsent(void)
{
    if (rma_requests_unsent(mpi_state.rma) &&
        !atomic_exchange_explicit(&unsent_noted, true, memory_order_release)) /* B */
        atomic_fetch_add_explicit(&request_npending, 1, memory_order_relaxed);
}

/* unsent_leaves is called before operations are sent: what is left unsent from now on is noted
 * again. */
static void unsent_leaves(void)
{
    if (atomic_load_explicit(&unsent_noted, memory_order_relaxed) &&
        atomic_exchange_explicit(&unsent_noted, false, memory_order_acquire)) /* C */
        atomic_fetch_sub_explicit(&request_npending, 1, memory_order_relaxed);
}

/* complete_request makes a request that is complete, for which nothing is kept here. */
static int complete_request(MPI_Request *request)
{
    return PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

/* are_watched returns whether every request must be recognized. */
static bool are_watched(void)
{
    return mpi_trace != NULL || engine_conf(mpi_state.engine)->strict;
}

/* tell_refusal logs, once, that a call which returns a request has waited, which the program does
 * not expect. */
static void tell_refusal(const char *func)
{
    static _Atomic bool told;

    if (!atomic_exchange_explicit(&told, true, memory_order_relaxed))
        log_msg(engine_log(mpi_state.engine), LOG_LEVEL_WARN,
                "%s: the host refuses a generalized request; such a call waits until its operation "
                "is complete, here and whenever the host refuses one",
                func);
}

/* report_wait reports a long wait, as MPIRMA_HANG_REPORT does for any. Returns when the next report
 * is due. */
static uint64_t report_wait(const char *func, uint64_t began, uint64_t due)
{
    const uint64_t period = (uint64_t)(engine_conf(mpi_state.engine)->hang_report * 1e9);
    const uint64_t now = clock_monotonic_ns();

    if (period == 0 || now < due)
        return due;
    if (due != 0)
        log_msg(engine_log(mpi_state.engine), LOG_LEVEL_ERROR,
                "%s waits for %.1f s for its operation to be complete: the host has refused a "
                "generalized request for it",
                func, (double)(now - began) * 1e-9);
    return now + period;
}

/* wait_without is called when the host has refused a request for an operation that is under way.
 * The buffers are not the application's before the operation is complete, so the function waits for
 * that, and the call returns the operation's error. */
static int wait_without(struct mpi_request *r, const struct win_rec *rec, const struct rma_op *op,
                        MPI_Request *request)
{
    const char *func = r->func;
    const uint64_t began = clock_monotonic_ns();
    uint64_t due = 0;

    tell_refusal(func);
    for (unsigned round = 0; !rma_req_held_only(&r->req); round++) {
        due = report_wait(func, began, due);
        rma_progress_requests(mpi_state.rma);
        rma_backoff(mpi_state.rma, round);
    }
    const int err = atomic_load_explicit(&r->req.err, memory_order_relaxed);
    recycle(r);
    return err == MRMA_SUCCESS ? complete_request(request) : op_fail(rec, func, err, op);
}

/* start_request starts a generalized request for r, which its call still holds. complete says that
 * the operation is complete, without an error. */
static int start_request(struct mpi_request *r, const struct win_rec *rec, bool complete,
                         const struct rma_op *op, MPI_Request *request)
{
    r->rec = rec;
    r->op = (struct request_op){.target = op->target,
                                .disp = op->disp,
                                .bytes = op->ttype != NULL ? op->tcount * op->ttype->size : 0};
    atomic_init(&r->holders, 1);
    list_node_init(&r->failed);
    live_add(r);
    if (PMPI_Grequest_start(on_query, on_free, on_cancel, r, &r->handle) != MPI_SUCCESS) {
        live_remove(r);
        return wait_without(r, rec, op, request);
    }
    *request = r->handle;
    if (complete)
        return PMPI_Grequest_complete(r->handle);
    atomic_fetch_add_explicit(&request_npending, 1, memory_order_release);
    rma_req_issued(&r->req);
    return MPI_SUCCESS;
}

int request_issued(struct mpi_request *r, const struct win_rec *rec, int err,
                   const struct rma_op *op, MPI_Request *request)
{
    if (unlikely(err != MRMA_SUCCESS && err != OP_NOTHING)) {
        const char *func = r->func;
        recycle(r);
        return op_fail(rec, func, err, op);
    }
    note_unsent();
    const bool complete = rma_req_held_only(&r->req) &&
                          atomic_load_explicit(&r->req.err, memory_order_relaxed) == MRMA_SUCCESS;
    if (unlikely(!complete || are_watched()))
        return start_request(r, rec, complete, op, request);
    recycle(r);
    return complete_request(request);
}

void request_advance(void)
{
    struct rma_req *next;

    unsent_leaves();
    rma_progress_requests(mpi_state.rma);
    notify_request_advance();
    for (struct rma_req *req = rma_req_take(&ended); req != NULL; req = next) {
        struct mpi_request *r = LIST_ENTRY(req, struct mpi_request, req);
        const bool fails = atomic_load_explicit(&req->err, memory_order_relaxed) != MRMA_SUCCESS;
        next = req->next;
        if (unlikely(fails))
            request_failed(r);
        MPI_Request handle = r->handle;
        order_before(r);                /* pairs with on_free, through the host */
        PMPI_Grequest_complete(handle); /* r may be gone after this */
        if (likely(!fails))
            atomic_fetch_sub_explicit(&request_npending, 1, memory_order_release);
    }
}

void request_orphan(const struct win_rec *rec)
{
    pthread_mutex_lock(&lock);
    LIST_EACH (node, &live) {
        struct mpi_request *r = LIST_ENTRY(node, struct mpi_request, live);
        if (r->rec == rec)
            r->rec = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* find_ours returns whether the handle is the request of an R-operation, and sets *number to that
 * of the operation. */
static bool find_ours(MPI_Request handle, uint64_t *number)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    LIST_EACH (node, &live) {
        const struct mpi_request *r = LIST_ENTRY(node, struct mpi_request, live);
        if (r->handle != handle)
            continue;
        found = true;
        *number = r->req.number;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static bool request_is_ours(MPI_Request handle)
{
    uint64_t number;

    return find_ours(handle, &number);
}

enum trace_call request_traced_call(enum trace_call call, int n, const MPI_Request *requests,
                                    const void *caller)
{
    uint64_t number;

    for (int i = 0; requests != NULL && i < n; i++)
        if (find_ours(requests[i], &number) || notify_request_is(requests[i]))
            return traced_enter(call, MPI_WIN_NULL, -1, caller);
    return TRACE_CALL_NONE;
}

void request_traced_tests(int n, const MPI_Request *requests)
{
    uint64_t number;

    for (int i = 0; requests != NULL && i < n; i++)
        if (find_ours(requests[i], &number))
            traced_request(TRACE_REQUEST_TEST, number);
}

static int request_refuse(MPI_Request handle)
{
    const char *func = "an operation of a window";

    pthread_mutex_lock(&lock);
    LIST_EACH (node, &live) {
        const struct mpi_request *r = LIST_ENTRY(node, struct mpi_request, live);
        if (r->handle == handle)
            func = r->func;
    }
    pthread_mutex_unlock(&lock);
    return FAULT(engine_messages(), REQUEST_IS_RMA, func);
}

/* MPI 4.1, 12.3.5: erroneous for R-operations. The request stays as it is. */
MRMA_PUBLIC int PMPI_Request_free(MPI_Request *request)
{
    if (request != NULL && *request != MPI_REQUEST_NULL && unlikely(request_is_ours(*request)))
        return plain_fail("MPI_Request_free", request_refuse(*request), "");
    if (request != NULL)
        notify_request_free(*request);
    return mpi_host.Request_free(request);
}
MRMA_EXPORT_MPI(Request_free);

MRMA_PUBLIC int PMPI_Cancel(MPI_Request *request)
{
    if (request != NULL && *request != MPI_REQUEST_NULL && unlikely(request_is_ours(*request)))
        return plain_fail("MPI_Cancel", request_refuse(*request), "");
    if (request != NULL)
        notify_request_cancel(*request);
    return mpi_host.Cancel(request);
}
MRMA_EXPORT_MPI(Cancel);
