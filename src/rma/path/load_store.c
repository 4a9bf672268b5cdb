/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load_store.c - see load_store.h. Accumulates are done by the processor's atomic instructions
 * where these can be used (acc_atomic.h), else under stripe locks (copy_local.h). In a window whose
 * accumulates the network's cards do, the card does them (origin/atomics.h). No state, no locks but
 * the stripes.
 */
#include "rma/path/load_store.h"

#include "base/err.h"
#include "rma/origin/atomics.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/copy_local.h"
#include "rma/win/full_fence.h"
#include "rma/win/win.h"

/* In a dynamic window offsets are addresses; base is then NULL, or the distance from the target's
 * addresses to those here. */
static char *here(const char *base, int64_t offset)
{
    return (char *)((uintptr_t)base + (uintptr_t)offset);
}

static struct acc_at acc_here(const struct rma_target *t, const char *base, int64_t offset)
{
    return (struct acc_at){t->peer->stripes, t->vaddr + (uint64_t)offset, here(base, offset)};
}

static int do_put(struct win *w, const char *base, const struct rma_op *op, int64_t offset,
                  size_t len)
{
    if (likely(op->otype->contig && op->ttype->contig))
        copy_whole(here(base, offset), op->oaddr, len);
    else
        direct_put(here(base, offset), op);
    win_set_dirty(w);
    return MRMA_SUCCESS;
}

static int do_get(const char *base, const struct rma_op *op, int64_t offset, size_t len)
{
    if (likely(op->rtype->contig && op->ttype->contig))
        copy_whole(op->raddr, here(base, offset), len);
    else
        direct_get(here(base, offset), op);
    return MRMA_SUCCESS;
}

static int do_accumulate(struct win *w, struct rma_target *t, const char *base,
                         const struct rma_op *op, bool fetch, int64_t offset, size_t len)
{
    const bool data = op->op != ACC_NO_OP;
    const bool plain =
        op->ttype->contig && (!data || op->otype->contig) && (!fetch || op->rtype->contig);
    const struct acc_at at = acc_here(t, base, offset);
    if (likely(plain && acc_atomic(w, t->ctl, at.here, op, fetch, len)))
        return MRMA_SUCCESS;
    const enum pkt_op_kind kind = fetch ? PKT_OP_GET_ACC : PKT_OP_ACC;
    if (unlikely(origin_atomics_used(w)) && origin_atomics_serve(w, kind, op))
        return origin_atomic_own(w, t, kind, op, offset);
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

static int do_compare_and_swap(struct win *w, struct rma_target *t, const char *base,
                               const struct rma_op *op, int64_t offset, size_t len)
{
    const struct acc_at at = acc_here(t, base, offset);
    if (likely(acc_atomic_cas(w, t->ctl, at.here, op)))
        return MRMA_SUCCESS;
    if (unlikely(origin_atomics_used(w)) && origin_atomics_serve(w, PKT_OP_CAS, op))
        return origin_atomic_own(w, t, PKT_OP_CAS, op, offset);
    const int err = acc_lock_mode(w, t->ctl, false);
    if (!err)
        direct_cas(at, op->caddr, op->oaddr, op->raddr, len);
    return err;
}

int load_store_operate(struct win *w, struct rma_target *t, char *base, enum pkt_op_kind kind,
                       const struct rma_op *op, int64_t offset, size_t len)
{
    switch (kind) {
    case PKT_OP_PUT:
        return do_put(w, base, op, offset, len);
    case PKT_OP_GET:
        return do_get(base, op, offset, len);
    case PKT_OP_CAS:
        return do_compare_and_swap(w, t, base, op, offset, len);
    default:
        return do_accumulate(w, t, base, op, kind == PKT_OP_GET_ACC, offset, len);
    }
}
