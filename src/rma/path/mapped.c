/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapped.c - the way to a target whose memory is mapped here, this process's own included: loads
 * and stores, and accumulates by the processor's atomic instructions where these can be used
 * (acc_atomic.h), else under stripe locks (direct.h); those of a window whose accumulates the
 * network's cards do by the card (origin/atomics.h).
 *
 * Operations are complete when they return, but stores may still be in the processor's buffer: so a
 * put makes the window dirty, and a flush is a full fence if the window is. No state, no locks but
 * the stripes.
 */
#include "base/err.h"
#include "rma/origin/atomics.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/attached.h"
#include "rma/path/direct.h"
#include "rma/path/path.h"
#include "rma/win/full_fence.h"
#include "rma/win/win.h"

/* In a dynamic window offsets are addresses, and base is NULL or how far those here are from the
 * target's. */
static char *here(const char *base, int64_t offset)
{
    return (char *)((uintptr_t)base + (uintptr_t)offset);
}

static struct acc_at acc_here(const struct rma_target *t, const char *base, int64_t offset)
{
    return (struct acc_at){t->peer->stripes, t->vaddr + (uint64_t)offset, here(base, offset)};
}

static int mapped_put(struct win *w, const char *base, const struct rma_op *op, int64_t offset,
                      size_t len)
{
    if (likely(op->otype->contig && op->ttype->contig))
        copy_whole(here(base, offset), op->oaddr, len);
    else
        direct_put(here(base, offset), op);
    win_set_dirty(w);
    return MRMA_SUCCESS;
}

static int mapped_get(const char *base, const struct rma_op *op, int64_t offset, size_t len)
{
    if (likely(op->rtype->contig && op->ttype->contig))
        copy_whole(op->raddr, here(base, offset), len);
    else
        direct_get(here(base, offset), op);
    return MRMA_SUCCESS;
}

static int mapped_accumulate(struct win *w, struct rma_target *t, const char *base,
                             const struct rma_op *op, bool fetch, int64_t offset, size_t len)
{
    const bool data = op->op != ACC_NO_OP;
    const bool plain =
        op->ttype->contig && (!data || op->otype->contig) && (!fetch || op->rtype->contig);
    const struct acc_at at = acc_here(t, base, offset);
    if (likely(plain && acc_atomic(w, t->ctl, at.here, op, fetch, len)))
        return MRMA_SUCCESS;
    const enum pkt_op_kind kind = fetch ? PKT_OP_GET_ACC : PKT_OP_ACC;
    if (unlikely(atomics_used(w)) && atomics_serve(w, kind, op))
        return issue_own_atomic(w, t, kind, op, offset);
    const int err = acc_lock_mode(w, t->ctl, false);
    if (err)
        return err;
    if (plain)
        direct_acc_piece(at, (struct acc_what){op->op, op->ttype->basic}, data ? op->oaddr : NULL,
                         fetch ? op->raddr : NULL, len);
    else
        direct_acc(at, op, fetch);
    return MRMA_SUCCESS;
}

static int mapped_compare_and_swap(struct win *w, struct rma_target *t, const char *base,
                                   const struct rma_op *op, int64_t offset, size_t len)
{
    const struct acc_at at = acc_here(t, base, offset);
    if (likely(acc_atomic_cas(w, t->ctl, at.here, op)))
        return MRMA_SUCCESS;
    if (unlikely(atomics_used(w)) && atomics_serve(w, PKT_OP_CAS, op))
        return issue_own_atomic(w, t, PKT_OP_CAS, op, offset);
    const int err = acc_lock_mode(w, t->ctl, false);
    if (!err)
        direct_cas(at, op->caddr, op->oaddr, op->raddr, len);
    return err;
}

int mapped_operate_at(struct win *w, struct rma_target *t, char *base, enum pkt_op_kind kind,
                      const struct rma_op *op, int64_t offset, size_t len)
{
    switch (kind) {
    case PKT_OP_PUT:
        return mapped_put(w, base, op, offset, len);
    case PKT_OP_GET:
        return mapped_get(base, op, offset, len);
    case PKT_OP_CAS:
        return mapped_compare_and_swap(w, t, base, op, offset, len);
    default:
        return mapped_accumulate(w, t, base, op, kind == PKT_OP_GET_ACC, offset, len);
    }
}

/* The operation, and behind it its notification. */
static int notified(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, int64_t offset, size_t len)
{
    int err = MRMA_SUCCESS;
    if (len && w->dynamic && t->attaches)
        err = attached_operate(w, t, kind, op, offset, len);
    else if (len)
        err = mapped_operate_at(w, t, t->base, kind, op, offset, len);
    if (!err)
        notify_raise(w, t, op->notify);
    return err;
}

static int mapped_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                          const struct rma_op *op, int64_t offset, size_t len)
{
    if (unlikely(op->notify))
        return notified(w, t, kind, op, offset, len);
    if (unlikely(w->dynamic && t->attaches))
        return attached_operate(w, t, kind, op, offset, len);
    return mapped_operate_at(w, t, t->base, kind, op, offset, len);
}

static int mapped_flush(struct win *w, struct rma_target *t, bool local)
{
    (void)t;
    if (!local)
        win_full_fence(w);
    return MRMA_SUCCESS;
}

static int mapped_unlock(struct win *w, struct rma_target *t)
{
    if (t->lock == WIN_LOCK_NOCHECK)
        win_full_fence(w);
    return MRMA_SUCCESS;
}

const struct path_ops path_mapped = {
    .name = "mapped",
    .operate = mapped_operate,
    .flush = mapped_flush,
    .unlock = mapped_unlock,
};
