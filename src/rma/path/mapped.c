/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapped.c - the way to a target whose memory is mapped here, this process's own included: loads
 * and stores (load_store.h), in a dynamic window at the regions that are attached here
 * (xpmem_path.c).
 *
 * Operations are complete when they return, but stores may still be in the processor's buffer: so a
 * put makes the window dirty, and a flush is a full fence if the window is. No state, no locks.
 */
#include "base/err.h"
#include "rma/notify/notify.h"
#include "rma/origin/atomics.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/load_store.h"
#include "rma/path/path.h"
#include "rma/win/full_fence.h"
#include "rma/win/win.h"

/* mapped_operate does the operation, if there is a byte to transfer, and then raises its
 * notification. */
static int mapped_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                          const struct rma_op *op, int64_t offset, size_t len)
{
    int err = MRMA_SUCCESS;
    if (unlikely(w->dynamic && t->attaches && len))
        err = attached_operate(w, t, kind, op, offset, len);
    else if (likely(len))
        err = load_store_operate(w, t, t->base, kind, op, offset, len);
    if (unlikely(op->notify && !err))
        notify_raise(w, t, op->notify);
    return err;
}

/* Instructions for accumulates are one thread's of this process (acc_atomic.h). So where another
 * thread may be using them they end for this target, as they do for an accumulate that comes by
 * packet. */
bool mapped_leave(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len, int *err)
{
    const bool acc = kind != PKT_OP_PUT && kind != PKT_OP_GET;
    if ((w->dynamic && t->attaches) || (acc && origin_atomics_used(w)))
        return false;
    *err = acc && rma_concurrent(w->rma) ? acc_lock_mode(w, t->ctl, true) : MRMA_SUCCESS;
    if (!*err)
        *err = load_store_operate(w, t, t->base, kind, op, offset, len);
    return true;
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
