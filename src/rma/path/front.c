/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.c - the tables of this room that stand in front of a target's path (win/path_ops.h).
 *
 * path_unready serves a target that is not known to be accessible in the present epoch (path_of):
 * a put may go into a stage (stage.h) at once; otherwise it asks whether the target may be accessed
 * (access.c), which may wait. Where operations on the target have to wait, they do so here
 * (deferred.h), and the calls that complete them carry them out first. Else it goes on to the
 * target's own table, to which the next operation comes without a detour.
 *
 * path_stage_first is the table of a kernel-assisted target that has stages: puts of active target
 * epochs try these before the path, also when the target is known to be accessible.
 *
 * Behind both is what strict mode and traces put in front of the path. What ends in a stage or
 * waits does not come there, so it is recorded here. No state, no locks.
 */
#include "base/err.h"
#include "rma/path/deferred.h"
#include "rma/path/path.h"
#include "rma/path/stage.h"
#include "rma/traced/traced.h"
#include "rma/win/region.h"
#include "rma/win/win.h"

/* In a trace its completion is that of its epoch. */
static void record(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                   const struct rma_op *op, size_t len)
{
    if (unlikely(w->front != NULL))
        (void)traced_issue(w, t, kind, op, len);
}

static bool try_stage(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                      const struct rma_op *op, size_t len)
{
    if (kind != PKT_OP_PUT || op->notify || !stage_put(w, t, op))
        return false;
    record(w, t, kind, op, len);
    return true;
}

static int unready_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                           const struct rma_op *op, int64_t offset, size_t len)
{
    if (try_stage(w, t, kind, op, len))
        return MRMA_SUCCESS;
    int err = epoch_access(w, t);
    if (!err && deferred_wait(t) && deferred_add(w, t, kind, op, offset, len, &err)) {
        record(w, t, kind, op, len);
        return err;
    }
    if (!err && w->dynamic && !region_allows(t, op)) /* op.c has left that to this table */
        err = MRMA_ERR_RMA_RANGE;
    return err ? err : target_path_ops(t)->operate(w, t, kind, op, offset, len);
}

static int unready_flush(struct win *w, struct rma_target *t, bool local)
{
    const struct path_ops *ops = target_path_ops(t);
    const int err = deferred_finish(w, t);
    if (err || !ops) /* it was never used */
        return err;
    return ops->flush(w, t, local);
}

static int unready_unlock(struct win *w, struct rma_target *t)
{
    const int carried = deferred_finish(w, t);
    const int err = target_path_ops(t)->unlock(w, t);
    return err ? err : carried;
}

const struct path_ops path_unready = {
    .operate = unready_operate,
    .flush = unready_flush,
    .unlock = unready_unlock,
};

/* ---- kernel-assisted targets with stages ---- */

static const struct path_ops *below(const struct win *w, const struct rma_target *t)
{
    return w->front ? w->front : w->rma->paths[t->path];
}

static int stage_first_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                               const struct rma_op *op, int64_t offset, size_t len)
{
    if (try_stage(w, t, kind, op, len))
        return MRMA_SUCCESS;
    return below(w, t)->operate(w, t, kind, op, offset, len);
}

static int stage_first_flush(struct win *w, struct rma_target *t, bool local)
{
    return below(w, t)->flush(w, t, local);
}

static int stage_first_unlock(struct win *w, struct rma_target *t)
{
    return below(w, t)->unlock(w, t);
}

const struct path_ops path_stage_first = {
    .operate = stage_first_operate,
    .flush = stage_first_flush,
    .unlock = stage_first_unlock,
};
