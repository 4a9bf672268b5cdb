/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * explain.c - finds out, after a call was refused, why it was (rma.h).
 *
 * Calls that succeed look at nothing that only a message needs: they return an enum mrma_err, and
 * this file checks the same conditions once more, one by one. If another thread has changed
 * something meanwhile, the message may be wrong, or there may be none. No state; the engine's lock
 * is not taken.
 *
 * Neighbours: path/operations.c, path/access.c, sync/ and win/epoch.c, which refuse; base/fault.h.
 */
#include "base/fault.h"
#include "rma/path/path.h"
#include "rma/sync/sync.h"
#include "rma/win/region.h"
#include "rma/win/win.h"

typedef unsigned long long ull;

/* ---- epochs ---- */

/* open_epoch names an epoch that has to end before the call. */
static int open_epoch(struct win *w)
{
    const struct log *log = w->rma->log;

    switch (epoch_now(&w->epoch)) {
    case EPOCH_FENCE_USED:
        return FAULT(log, IN_FENCE);
    case EPOCH_PSCW:
        return FAULT(log, IN_START);
    case EPOCH_LOCK:
        return FAULT(log, IN_LOCK, w->nlocks);
    case EPOCH_LOCK_ALL:
        return FAULT(log, IN_LOCK_ALL);
    default:
        return MRMA_SUCCESS;
    }
}

static bool is_locked(const struct win *w, int target)
{
    return epoch_now(&w->epoch) == EPOCH_LOCK && target >= 0 &&
           win_peek(w, target)->lock != WIN_LOCK_NONE;
}

void rma_explain_sync(struct win *w, enum rma_call call, int target, int err)
{
    const struct log *log = w->rma->log;

    if (err != MRMA_ERR_RMA_SYNC)
        return;
    switch (call) {
    case RMA_CALL_COMPLETE:
        (void)FAULT(log, NO_START);
        break;
    case RMA_CALL_WAIT:
        (void)FAULT(log, NOT_EXPOSED);
        break;
    case RMA_CALL_UNLOCK:
    case RMA_CALL_FLUSH:
        if (!is_locked(w, target) && epoch_now(&w->epoch) != EPOCH_LOCK_ALL)
            (void)FAULT(log, NOT_LOCKED, "rank", target);
        else if (call == RMA_CALL_UNLOCK)
            (void)open_epoch(w);
        break;
    case RMA_CALL_UNLOCK_ALL:
        (void)FAULT(log, NO_LOCK_ALL);
        break;
    case RMA_CALL_FLUSH_ALL:
        if (!epoch_is_passive(&w->epoch))
            (void)FAULT(log, NONE_LOCKED);
        break;
    case RMA_CALL_LOCK:
        if (is_locked(w, target))
            (void)FAULT(log, LOCKED_TWICE, target);
        else
            (void)open_epoch(w);
        break;
    case RMA_CALL_FENCE:
    case RMA_CALL_POST:
    case RMA_CALL_FREE:
        if (w->epoch.exposed)
            (void)FAULT(log, EXPOSED);
        else
            (void)open_epoch(w);
        break;
    default:
        (void)open_epoch(w);
    }
}

/* ---- operations ---- */

static void explain_epoch(struct win *w, const struct rma_target *t, const struct rma_op *op)
{
    const struct log *log = w->rma->log;
    const enum epoch_state now = epoch_now(&w->epoch);

    if (now == EPOCH_NONE)
        (void)FAULT(log, NO_EPOCH, t->rank);
    else if (now == EPOCH_LOCK && t->lock == WIN_LOCK_NONE)
        (void)FAULT(log, NOT_LOCKED, "target_rank", t->rank);
    else if (now == EPOCH_PSCW && t->started_in != w->start_count)
        (void)FAULT(log, NOT_STARTED, t->rank);
    else if (op->req && !epoch_is_passive(&w->epoch))
        (void)FAULT(log, REQUEST_ACTIVE);
}

/* explain_sizes names the side with which the target's side must agree. */
static void explain_sizes(struct win *w, const struct rma_op *op)
{
    const bool back = op->rtype != NULL;
    const char *side = back && op->otype ? "result" : "origin";
    const struct dtype *type = back ? op->rtype : op->otype;
    const size_t count = back ? op->rcount : op->ocount;
    size_t here, there;

    if (__builtin_mul_overflow(op->tcount, op->ttype->size, &there))
        (void)FAULT(w->rma->log, COUNT_OVERFLOW, "target_count", (ull)op->tcount,
                    (ull)op->ttype->size);
    else if (type && __builtin_mul_overflow(count, type->size, &here))
        (void)FAULT(w->rma->log, COUNT_OVERFLOW,
                    back && op->otype ? "result_count" : "origin_count", (ull)count,
                    (ull)type->size);
    else if (type && here != there)
        (void)FAULT(w->rma->log, SIZES_DIFFER, side, (ull)count, (ull)type->size, (ull)op->tcount,
                    (ull)op->ttype->size, (ull)here, side, (ull)there);
    else if (op->otype && !__builtin_mul_overflow(op->ocount, op->otype->size, &here) &&
             here != there)
        (void)FAULT(w->rma->log, SIZES_DIFFER, "origin", (ull)op->ocount, (ull)op->otype->size,
                    (ull)op->tcount, (ull)op->ttype->size, (ull)here, "origin", (ull)there);
}

static void explain_range(struct win *w, const struct rma_target *t, const struct rma_op *op)
{
    const struct log *log = w->rma->log;
    const size_t each = op->ttype->size;
    ptrdiff_t lo, hi;
    int64_t offset, first, end;

    if (!dtype_span(op->ttype, op->tcount, &lo, &hi) ||
        __builtin_mul_overflow(op->disp, (int64_t)(w->dynamic ? 1 : t->disp_unit), &offset) ||
        __builtin_add_overflow(offset, lo, &first) || __builtin_add_overflow(offset, hi, &end))
        (void)FAULT(log, FAR_OUTSIDE, (long long)op->disp, t->disp_unit, (ull)op->tcount, (ull)each,
                    t->rank, (ull)t->size, (ull)(t->size / t->disp_unit));
    else if (w->dynamic)
        (void)FAULT(log, NOT_ATTACHED, (ull)op->disp, (ull)op->tcount, (ull)each, (ull)first,
                    (ull)end - 1, t->rank);
    else
        (void)FAULT(log, OUTSIDE_WINDOW, (long long)op->disp, t->disp_unit, (ull)op->tcount,
                    (ull)each, (long long)first, (long long)end - 1, t->rank, (ull)t->size,
                    (ull)(t->size / t->disp_unit));
}

void rma_explain_op(struct win *w, const struct rma_op *op, int err)
{
    const struct rma_target *t = win_peek(w, op->target);

    if (!t->peer) /* it was never used, so nothing is known of it */
        return;
    if (err == MRMA_ERR_RMA_SYNC)
        explain_epoch(w, t, op);
    else if (err == MRMA_ERR_COUNT)
        explain_sizes(w, op);
    else if (err == MRMA_ERR_RMA_RANGE)
        explain_range(w, t, op);
}
