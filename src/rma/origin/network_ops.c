/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * network_ops.c - the way to a target whose window memory the network reaches by itself (issue_rdma
 * of issue.h). Puts and gets go by the channel or by packet (rdma.h); accumulates go by the card
 * where that was chosen for the window (atomics.h), else by packet. An operation that may not begin
 * before the target has begun its part of the epoch is deferred. No state, no locks.
 */
#include "base/err.h"
#include "rma/origin/atomics.h"
#include "rma/origin/issue.h"
#include "rma/origin/rdma.h"
#include "rma/win/win.h"

/* MRMA_AGAIN: nothing was done, since the operation would wait for its target. */
static int issue_now(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                     const struct rma_op *op, int64_t offset, size_t len)
{
    if (kind == PKT_OP_PUT || kind == PKT_OP_GET)
        return rdma_move(w, t, kind, op, offset, len);
    if (likely(!atomics_used(w) || !atomics_serve(w, kind, op)))
        return issue_operate(w, t, kind, op, offset, len);
    const int err = issue_atomic(w, t, kind, op, offset);
    return !err && op->notify ? rdma_notify_behind(w, t, op) : err;
}

int issue_rdma(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
               int64_t offset, size_t len)
{
    int err;
    do
        err = issue_now(w, t, kind, op, offset, len);
    while (unlikely(err == MRMA_AGAIN) && !w->rma->defer(w, t, kind, op, offset, len, &err) &&
           !err);
    return err;
}
