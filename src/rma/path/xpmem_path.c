/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xpmem_path.c - operations on the regions of a dynamic window that its target has exported.
 *
 * A region is attached at its first use and stays so: the next operation finds it. It is known by
 * its segment, which the target's table of regions has (win/region.h). So memory that the target
 * has detached, freed, mapped anew and attached again is another region, and is attached anew. A
 * region that the target has detached is unmapped here by the next operation that finds this out.
 *
 * If an operation's target side is in several regions at once, the kernel does the operation
 * (assisted_copy.h), as it would for a target that exports nothing; it also does operations on a
 * region that cannot be attached here. Both ways use the same stripes for accumulates, or none:
 * acc_lock_mode makes sure of that.
 *
 * It has no state except in the target. Locks: the stripes. The region is in use while the
 * operation runs, so no other thread unmaps it.
 */
#include "rma/path/load_store.h"

#include "base/err.h"
#include "dtype/dtype.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/assisted_copy.h"
#include "rma/progress/lost.h"
#include "rma/progress/wait.h"
#include "rma/win/region.h"
#include "rma/win/win.h"

/* is_gone returns whether the region is not attached to the window any more. Another region may be
 * at its place. */
static bool is_gone(void *arg, const struct rma_exported *mem)
{
    struct rma_exported now;
    return !region_find(arg, mem->vaddr, mem->len, &now) || now.segment != mem->segment;
}

/* Threads that find this out at the same time do it twice, which does no harm. */
static void unmap_gone(const struct win *w, struct rma_target *t)
{
    const struct rma_env *env = w->rma->env;
    /* Pairs with region_detach of win/region.c: is_gone then finds the tree of that count, or a
     * later one. */
    const uint32_t gone = atomic_load_explicit(&t->ctl->regions_gone, memory_order_acquire);
    if (likely(gone == atomic_load_explicit(&t->path_side.regions_gone, memory_order_relaxed)))
        return;
    atomic_store_explicit(&t->path_side.regions_gone, gone, memory_order_relaxed);
    env->attach->detach_group(env->ctx, t, is_gone, t->regions);
}

/* look checks that the target lives, since its process number may belong to another process when
 * the target has ended. */
static int look(struct win *w, struct rma_target *t)
{
    const struct rma_env *env = w->rma->env;
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    if (!env->peer_alive(env->ctx, t->peer)) {
        err = rma_died(w, t);
        win_lost(w, t->rank);
    }
    rma_leave(w->rma);
    return err;
}

static int by_kernel(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                     const struct rma_op *op, int64_t offset)
{
    int err = look(w, t);
    if (!err && kind != PKT_OP_PUT && kind != PKT_OP_GET)
        err = acc_lock_mode(w, t->ctl, false);
    if (err)
        return err;
    w->rma->stats.unattached++;
    return assisted_by_kernel(t->peer, w->rma->log, kind, (uint64_t)offset, op);
}

int attached_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                     const struct rma_op *op, int64_t offset, size_t len)
{
    const struct rma_env *env = w->rma->env;
    struct rma_exported mem;
    ptrdiff_t lo, hi;
    void *at, *handle;
    unmap_gone(w, t);
    if (!dtype_span(op->ttype, op->tcount, &lo, &hi) ||
        !region_find(t->regions, (uint64_t)(offset + lo), (uint64_t)(hi - lo), &mem) ||
        env->attach->attach(env->ctx, t->peer, &mem, t, &at, &handle) != MRMA_SUCCESS)
        return by_kernel(w, t, kind, op, offset);
    char *base = (char *)((uintptr_t)at - (uintptr_t)mem.vaddr);
    const int err = load_store_operate(w, t, base, kind, op, offset, len);
    env->attach->detach(env->ctx, handle, true);
    return err;
}
