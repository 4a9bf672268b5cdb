/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ready.c - the filter for targets that are not known to be accessible in the present epoch
 * (win/path_ops.h). Calls on targets that are known to be go past it (route_enter).
 *
 * The filter asks whether the target may be accessed (access.c), which may wait. Where operations
 * on the target have to wait, they wait here (deferred.h), and the calls that complete them carry
 * them out first. Otherwise the operation goes on along the route.
 *
 * An operation that waits does not come to the filter of traces, which stands behind this one, so
 * it is recorded here. No state, no locks.
 */
#include "base/err.h"
#include "rma/path/deferred.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/traced/traced_path.h"
#include "rma/win/region.h"
#include "rma/win/win.h"

static int ready_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                         const struct rma_op *op, int64_t offset, size_t len)
{
    if (unlikely(len >= w->joint_min && !target_ready(w, t)))
        joint_await_access(w, t);
    int err = target_ready(w, t) ? MRMA_SUCCESS : epoch_access(w, t);
    if (!err && deferred_wait(t) && deferred_add(w, t, kind, op, offset, len, &err)) {
        traced_elsewhere(w, t, kind, op, len);
        return err;
    }
    /* operations.c has left this check to this filter */
    if (!err && w->dynamic && !region_allows(t, op))
        err = MRMA_ERR_RMA_RANGE;
    return err ? err : route_next(t, &path_ready)->operate(w, t, kind, op, offset, len);
}

static int ready_flush(struct win *w, struct rma_target *t, bool local)
{
    const int err = deferred_finish(w, t);
    return err ? err : route_next(t, &path_ready)->flush(w, t, local);
}

static int ready_unlock(struct win *w, struct rma_target *t)
{
    const int carried = deferred_finish(w, t);
    const int err = route_next(t, &path_ready)->unlock(w, t);
    return err ? err : carried;
}

const struct path_ops path_ready = {
    .name = "ready",
    .operate = ready_operate,
    .flush = ready_flush,
    .unlock = ready_unlock,
};
