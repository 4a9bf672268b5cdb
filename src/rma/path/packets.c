/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packets.c - the ways to a target that does what packets ask of it, and to one whose window memory
 * the network puts into and gets from by itself: tables around the functions of src/rma/origin
 * (issue.h). What may not be sent before the target has begun its part of the epoch waits
 * (deferred.h), and all operations on that target behind it. No state, no locks.
 */
#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/path/deferred.h"
#include "rma/path/path.h"
#include "rma/win/win.h"

/* From now on all operations on t wait, unless it has just begun. */
static __attribute__((noinline)) int operate_early(struct win *w, struct rma_target *t,
                                                   enum pkt_op_kind kind, const struct rma_op *op,
                                                   int64_t offset, size_t len)
{
    int err = MRMA_SUCCESS;
    if (deferred_begin(w, t) && deferred_add(w, t, kind, op, offset, len, &err))
        return err;
    return err ? err : route_way(target_route(t))->operate(w, t, kind, op, offset, len);
}

static int packets_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                           const struct rma_op *op, int64_t offset, size_t len)
{
    const int err = issue_operate(w, t, kind, op, offset, len);
    return likely(err != MRMA_AGAIN) ? err : operate_early(w, t, kind, op, offset, len);
}

static int rdma_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                        const struct rma_op *op, int64_t offset, size_t len)
{
    const int err = issue_rdma(w, t, kind, op, offset, len);
    return likely(err != MRMA_AGAIN) ? err : operate_early(w, t, kind, op, offset, len);
}

const struct path_ops path_packets = {
    .name = "packets",
    .operate = packets_operate,
    .flush = issue_flush,
    .unlock = issue_lock_end,
};

const struct path_ops path_rdma = {
    .name = "rdma",
    .operate = rdma_operate,
    .flush = issue_flush,
    .unlock = issue_lock_end,
};
