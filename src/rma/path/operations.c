/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operations.c - put, get and accumulates from the call to the target's path (MPI 4.1, 12.3).
 *
 * For each operation it checks that the present epoch includes the target (one comparison, or
 * epoch_includes), that the sizes of the two sides agree, and that the target side lies in the
 * window. Then the operation goes along the target's route (win/path_ops.h). If the target is known
 * to be accessible it goes past the filter that finds this out (ready.c).
 */
#include "base/err.h"
#include "base/fault.h"
#include "rma/path/path.h"
#include "rma/progress/wait.h"
#include "rma/win/region.h"
#include "rma/win/win.h"

/* The target side of an operation, and the table by which the operation enters the route. If len is
 * 0 there is nothing to do, and offset means nothing. */
struct place {
    const struct path_ops *ops;
    int64_t offset;
    size_t len;
    bool ready; /* the target is known to be accessible */
};

/* R-operations are for passive target epochs only (MPI 4.1, 12.3.5). The hosts do them in other
 * epochs, too, and so does this library, with one warning of this process; with MPIRMA_STRICT it
 * refuses them. */
static __attribute__((noinline)) int request_in_active(struct win *w)
{
    if (epoch_now(&w->epoch) == EPOCH_NONE)
        return MRMA_ERR_RMA_SYNC;
    if (w->strict)
        return FAULT(w->rma->log, REQUEST_ACTIVE);
    if (!atomic_exchange_explicit(&w->rma->said_requests, true, memory_order_relaxed))
        log_msg(w->rma->log, LOG_LEVEL_WARN,
                "window %u: an operation with a request needs a passive target epoch (MPI 4.1, "
                "12.3.5); it is done all the same, and this is not said again",
                w->index);
    return MRMA_SUCCESS;
}

/* check_request makes progress now and then: a loop of R-operations and MPI_Wait may make no other
 * call of this library, and no call of the host that waits. */
static __attribute__((noinline)) int check_request(struct win *w)
{
    if (win_count_call(w))
        rma_look_around(w);
    return epoch_is_passive(&w->epoch) ? MRMA_SUCCESS : request_in_active(w);
}

static inline int find_ops(struct win *w, struct rma_target *t, const struct rma_op *op,
                           struct place *at)
{
    if (unlikely(op->req != NULL)) {
        const int err = check_request(w);
        if (err)
            return err;
    }
    const struct route *r = target_route(t);
    at->ready = target_ready(w, t);
    at->ops = r->ops[likely(at->ready) ? r->known : 0];
    return likely(at->ready) ? MRMA_SUCCESS : epoch_includes(w, t);
}

/* check_span does not look at attached memory, which counts from the beginning of the target's
 * exposure on: path_ready looks at it then. */
static __attribute__((noinline)) int check_span(struct win *w, struct rma_target *t,
                                                const struct rma_op *op, bool is_ready)
{
    ptrdiff_t lo, hi;
    int64_t offset, first, end;
    if (op->tcount == 0 || op->ttype->size == 0)
        return MRMA_SUCCESS;
    if (!dtype_span(op->ttype, op->tcount, &lo, &hi))
        return MRMA_ERR_RMA_RANGE;
    if (w->dynamic)
        return !is_ready || region_allows(t, op) ? MRMA_SUCCESS : MRMA_ERR_RMA_RANGE;
    if (__builtin_mul_overflow(op->disp, (int64_t)t->disp_unit, &offset) ||
        __builtin_add_overflow(offset, lo, &first) || __builtin_add_overflow(offset, hi, &end))
        return MRMA_ERR_RMA_RANGE;
    return first >= 0 && (uint64_t)end <= t->size ? MRMA_SUCCESS : MRMA_ERR_RMA_RANGE;
}

/* find_place returns an error if the target side does not lie in the window; otherwise *at says
 * where it is. */
static inline int find_place(struct win *w, struct rma_target *t, const struct rma_op *op,
                             struct place *at)
{
    const uint64_t offset = (uint64_t)op->disp * t->disp_unit;
    const size_t len = op->tcount * op->ttype->size;
    at->offset = (int64_t)offset;
    at->len = len;
    if (likely(op->ttype->contig && !((uint64_t)op->disp >> 31) && !(op->tcount >> 31) &&
               offset <= t->size && len <= t->size - offset))
        return MRMA_SUCCESS;
    return check_span(w, t, op, at->ready);
}

static inline int check_sizes(size_t count, const struct dtype *type, const struct rma_op *op)
{
    size_t here, there;
    if (__builtin_mul_overflow(op->tcount, op->ttype->size, &there))
        return MRMA_ERR_COUNT;
    if (likely(count == op->tcount && type == op->ttype))
        return MRMA_SUCCESS;
    if (__builtin_mul_overflow(count, type->size, &here))
        return MRMA_ERR_COUNT;
    return likely(here == there) ? MRMA_SUCCESS : MRMA_ERR_COUNT;
}

/* check_copy checks that the epoch includes the target and that op, which has count of type on this
 * side, is right. */
static inline int check_copy(struct win *w, struct rma_target *t, const struct rma_op *op,
                             size_t count, const struct dtype *type, struct place *at)
{
    int err = find_ops(w, t, op, at);
    if (likely(!err))
        err = check_sizes(count, type, op);
    return likely(!err) ? find_place(w, t, op, at) : err;
}

/* notify_only is for operations without a byte, of which only the notification is done. */
static __attribute__((noinline)) int notify_only(struct win *w, struct rma_target *t,
                                                 const struct rma_op *op, struct place at)
{
    struct rma_op only = *op;
    only.oaddr = NULL;
    only.ocount = only.tcount = 0;
    only.disp = 0;
    only.otype = only.ttype;
    return at.ops->operate(w, t, PKT_OP_PUT, &only, 0, 0);
}

static inline int operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                          const struct rma_op *op, struct place at)
{
    if (unlikely(!at.len))
        return op->notify ? notify_only(w, t, op, at) : MRMA_SUCCESS;
    const int err = at.ops->operate(w, t, kind, op, at.offset, at.len);
    if (likely(!err)) /* a trace has no operation that was refused here */
        win_count(w, target_stats_path(t), at.len);
    return err;
}

int rma_put(struct win *w, const struct rma_op *op)
{
    struct rma_target *t;
    struct place at;
    int err = win_target(w, op->target, &t);
    if (likely(!err))
        err = check_copy(w, t, op, op->ocount, op->otype, &at);
    return unlikely(err) ? err : operate(w, t, PKT_OP_PUT, op, at);
}

int rma_get(struct win *w, const struct rma_op *op)
{
    struct rma_target *t;
    struct place at;
    int err = win_target(w, op->target, &t);
    if (likely(!err))
        err = check_copy(w, t, op, op->rcount, op->rtype, &at);
    return unlikely(err) ? err : operate(w, t, PKT_OP_GET, op, at);
}

/* check_acc checks an accumulate, which is on elements of one predefined type. */
static inline int check_acc(struct win *w, struct rma_target *t, const struct rma_op *op,
                            bool fetch, struct place *at)
{
    int err = find_ops(w, t, op, at);
    if (likely(!err) && op->op != ACC_NO_OP)
        err = check_sizes(op->ocount, op->otype, op);
    if (likely(!err) && fetch)
        err = check_sizes(op->rcount, op->rtype, op);
    if (unlikely(err))
        return err;
    return likely(op->ttype->basic != ACC_NONE) ? find_place(w, t, op, at) : MRMA_ERR_TYPE;
}

static inline int accumulate(struct win *w, const struct rma_op *op, bool fetch)
{
    struct rma_target *t;
    struct place at;
    int err = win_target(w, op->target, &t);
    if (likely(!err))
        err = check_acc(w, t, op, fetch, &at);
    return unlikely(err) ? err : operate(w, t, fetch ? PKT_OP_GET_ACC : PKT_OP_ACC, op, at);
}

int rma_accumulate(struct win *w, const struct rma_op *op)
{
    return accumulate(w, op, false);
}

int rma_get_accumulate(struct win *w, const struct rma_op *op)
{
    return accumulate(w, op, true);
}

int rma_compare_and_swap(struct win *w, const struct rma_op *op)
{
    struct rma_target *t;
    struct place at;
    int err = win_target(w, op->target, &t);
    if (likely(!err))
        err = find_ops(w, t, op, &at);
    if (likely(!err))
        err = find_place(w, t, op, &at);
    return unlikely(err) ? err : operate(w, t, PKT_OP_CAS, op, at);
}
