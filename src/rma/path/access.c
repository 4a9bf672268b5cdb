/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * access.c - access to a target for the first time in an epoch, and again while its operations wait
 * (deferred.h). Locks: none is held by the caller, since epoch_access may wait.
 */
#include "base/err.h"
#include "rma/path/deferred.h"
#include "rma/path/path.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

int epoch_use_fence(struct win *w)
{
    rma_enter(w->rma);
    int err = epoch_event(&w->epoch, EPOCH_EV_OP);
    rma_leave(w->rma);
    return err;
}

/* Does the present epoch include t? */
static int epoch_includes(struct win *w, const struct rma_target *t)
{
    switch (epoch_now(&w->epoch)) {
    case EPOCH_FENCE:
    case EPOCH_FENCE_USED:
        return epoch_use_fence(w);
    case EPOCH_PSCW:
        return t->started_in == w->start_count ? MRMA_SUCCESS : MRMA_ERR_RMA_SYNC;
    case EPOCH_LOCK:
        return t->lock != WIN_LOCK_NONE ? MRMA_SUCCESS : MRMA_ERR_RMA_SYNC;
    case EPOCH_LOCK_ALL:
        return MRMA_SUCCESS;
    default:
        return MRMA_ERR_RMA_SYNC;
    }
}

int epoch_access(struct win *w, struct rma_target *t)
{
    int err = epoch_includes(w, t);
    if (!err)
        err = target_sync(t)->access(w, t);
    if (!err && !deferred_wait(t))
        target_set_ready(w, t);
    return err;
}
