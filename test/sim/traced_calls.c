/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_calls.c - see traced_calls.h.
 */
#include "traced_calls.h"

#include "base/err.h"
#include "rma/win/win.h"
#include "trace/record_parts.h"

struct traced_counts traced_counts;

static struct trace *trace_of(const struct win *w)
{
    return w->rma->env->trace;
}

static void record(struct trace *tr, struct trace_record rec)
{
    if (tr) {
        rec.time = trace_now(tr);
        trace_add(tr, &rec);
    }
}

static void enter(struct trace *tr, const struct win *w, enum trace_call call, int peer)
{
    traced_counts.calls++;
    record(tr, (struct trace_record){.kind = TRACE_ENTER,
                                     .what = (uint16_t)call,
                                     .win = w ? win_id(w) + 1 : 0,
                                     .peer = peer});
}

static void leave(struct trace *tr, enum trace_call call)
{
    record(tr, (struct trace_record){.kind = TRACE_LEAVE, .what = (uint16_t)call});
}

static void detail(const struct win *w, struct trace_record rec)
{
    rec.win = win_id(w) + 1;
    record(trace_of(w), rec);
}

/* result WRAPPED(name, parameters) is what --wrap=name calls; REAL(name) is what it stands for. */
#define REAL(name) __real_##name
#define WRAPPED(result, name, ...)     \
    result __real_##name(__VA_ARGS__); \
    result __wrap_##name(__VA_ARGS__); \
    result __wrap_##name(__VA_ARGS__)

/* ---- windows ---- */

WRAPPED(int, win_create, struct rma *rma, const struct win_spec *spec, struct win **out)
{
    static const enum trace_call call[] = {[WIN_CREATE] = TRACE_CALL_Win_create,
                                           [WIN_ALLOCATE] = TRACE_CALL_Win_allocate,
                                           [WIN_ALLOCATE_SHARED] = TRACE_CALL_Win_allocate_shared};
    static const uint16_t flavor[] = {[WIN_CREATE] = TRACE_CREATE,
                                      [WIN_ALLOCATE] = TRACE_ALLOCATE,
                                      [WIN_ALLOCATE_SHARED] = TRACE_SHARED};

    enter(rma->env->trace, NULL, call[spec->flavor], 0);
    const int err = REAL(win_create)(rma, spec, out);
    if (!err)
        detail(*out, (struct trace_record){.kind = TRACE_WIN_CREATE,
                                           .id = win_number(*out),
                                           .peer = spec->boot->rank,
                                           .arg = (uint32_t)spec->boot->nproc,
                                           .what = flavor[spec->flavor],
                                           .bytes = spec->size});
    leave(rma->env->trace, call[spec->flavor]);
    return err;
}

/* Where processes die, the second half is called for windows of which the first was not. */
WRAPPED(int, win_free_begin, struct win *w)
{
    enter(trace_of(w), w, TRACE_CALL_Win_free, 0);
    const int err = REAL(win_free_begin)(w);
    if (!err)
        detail(w, (struct trace_record){.kind = TRACE_WIN_FREE});
    leave(trace_of(w), TRACE_CALL_Win_free);
    return err;
}

/* ---- operations ---- */

#define WRAPPED_OP(name, call)                                                         \
    WRAPPED(int, name, struct win *w, const struct rma_op *op)                         \
    {                                                                                  \
        enter(trace_of(w), w, TRACE_CALL_##call, op->target);                          \
        const int err = REAL(name)(w, op);                                             \
        traced_counts.ops += !err && (op->tcount * op->ttype->size > 0 || op->notify); \
        leave(trace_of(w), TRACE_CALL_##call);                                         \
        return err;                                                                    \
    }

WRAPPED_OP(rma_put, Put)
WRAPPED_OP(rma_get, Get)
WRAPPED_OP(rma_accumulate, Accumulate)
WRAPPED_OP(rma_get_accumulate, Get_accumulate)
WRAPPED_OP(rma_compare_and_swap, Compare_and_swap)

void traced_waits(struct prog_actor *a, const struct rma_req *req, bool done)
{
    struct trace *tr = a->rma->env->trace;

    if (!done) {
        enter(tr, NULL, TRACE_CALL_Wait, -1);
        return;
    }
    if (req->number)
        record(tr, (struct trace_record){.kind = TRACE_REQUEST_DONE, .id = req->number});
    leave(tr, TRACE_CALL_Wait);
}

/* ---- synchronization ---- */

static int left(const struct win *w, enum trace_call call, int err)
{
    leave(trace_of(w), call);
    return err;
}

WRAPPED(int, rma_fence, struct win *w, int asserts)
{
    enter(trace_of(w), w, TRACE_CALL_Win_fence, 0);
    detail(w, (struct trace_record){.kind = TRACE_FENCE, .arg = (uint32_t)asserts});
    return left(w, TRACE_CALL_Win_fence, REAL(rma_fence)(w, asserts));
}

static void group(const struct win *w, enum trace_kind kind, const int *ranks, int n, int asserts)
{
    detail(w, (struct trace_record){
                  .kind = (uint16_t)kind, .arg = (uint32_t)asserts, .id = (uint64_t)n});
    if (trace_of(w))
        trace_add_ranks(trace_of(w), trace_now(trace_of(w)), ranks, n);
}

WRAPPED(int, rma_start, struct win *w, const int *ranks, int n, int asserts)
{
    enter(trace_of(w), w, TRACE_CALL_Win_start, 0);
    group(w, TRACE_START, ranks, n, asserts);
    return left(w, TRACE_CALL_Win_start, REAL(rma_start)(w, ranks, n, asserts));
}

WRAPPED(int, rma_complete, struct win *w)
{
    enter(trace_of(w), w, TRACE_CALL_Win_complete, 0);
    return left(w, TRACE_CALL_Win_complete, REAL(rma_complete)(w));
}

WRAPPED(int, rma_post, struct win *w, const int *ranks, int n, int asserts)
{
    enter(trace_of(w), w, TRACE_CALL_Win_post, 0);
    group(w, TRACE_POST, ranks, n, asserts);
    return left(w, TRACE_CALL_Win_post, REAL(rma_post)(w, ranks, n, asserts));
}

WRAPPED(int, rma_wait, struct win *w)
{
    enter(trace_of(w), w, TRACE_CALL_Win_wait, 0);
    return left(w, TRACE_CALL_Win_wait, REAL(rma_wait)(w));
}

WRAPPED(int, rma_test, struct win *w, bool *flag)
{
    enter(trace_of(w), w, TRACE_CALL_Win_test, 0);
    const int err = REAL(rma_test)(w, flag);
    if (!err)
        detail(w, (struct trace_record){.kind = TRACE_TEST, .arg = *flag});
    return left(w, TRACE_CALL_Win_test, err);
}

WRAPPED(int, rma_lock, struct win *w, bool exclusive, int target, int asserts)
{
    const uint16_t type = exclusive ? TRACE_LOCK_EXCLUSIVE : TRACE_LOCK_SHARED;

    enter(trace_of(w), w, TRACE_CALL_Win_lock, target);
    detail(w, (struct trace_record){.kind = TRACE_LOCK,
                                    .peer = target,
                                    .what = type | (asserts ? TRACE_LOCK_NOCHECK : 0)});
    traced_counts.locks++;
    return left(w, TRACE_CALL_Win_lock, REAL(rma_lock)(w, exclusive, target, asserts));
}

WRAPPED(int, rma_unlock, struct win *w, int target)
{
    enter(trace_of(w), w, TRACE_CALL_Win_unlock, target);
    const int err = REAL(rma_unlock)(w, target);
    detail(w, (struct trace_record){.kind = TRACE_UNLOCK, .peer = target});
    return left(w, TRACE_CALL_Win_unlock, err);
}

WRAPPED(int, rma_lock_all, struct win *w, int asserts)
{
    enter(trace_of(w), w, TRACE_CALL_Win_lock_all, -1);
    detail(w, (struct trace_record){.kind = TRACE_LOCK,
                                    .peer = -1,
                                    .what = TRACE_LOCK_ALL | (asserts ? TRACE_LOCK_NOCHECK : 0)});
    traced_counts.locks++;
    return left(w, TRACE_CALL_Win_lock_all, REAL(rma_lock_all)(w, asserts));
}

WRAPPED(int, rma_unlock_all, struct win *w)
{
    enter(trace_of(w), w, TRACE_CALL_Win_unlock_all, -1);
    const int err = REAL(rma_unlock_all)(w);
    detail(w, (struct trace_record){.kind = TRACE_UNLOCK, .peer = -1});
    return left(w, TRACE_CALL_Win_unlock_all, err);
}

WRAPPED(int, rma_flush, struct win *w, int target, bool local)
{
    const enum trace_call call = local ? TRACE_CALL_Win_flush_local : TRACE_CALL_Win_flush;

    enter(trace_of(w), w, call, target);
    return left(w, call, REAL(rma_flush)(w, target, local));
}

WRAPPED(int, rma_flush_all, struct win *w, bool local)
{
    const enum trace_call call = local ? TRACE_CALL_Win_flush_local_all : TRACE_CALL_Win_flush_all;

    enter(trace_of(w), w, call, -1);
    return left(w, call, REAL(rma_flush_all)(w, local));
}

WRAPPED(int, rma_sync, struct win *w)
{
    enter(trace_of(w), w, TRACE_CALL_Win_sync, 0);
    return left(w, TRACE_CALL_Win_sync, REAL(rma_sync)(w));
}
