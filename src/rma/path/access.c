/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * access.c - decides whether a target may be accessed in the present epoch (MPI 4.1, 12.5). It is
 * called for the first operation on the target in the epoch, and for each operation while
 * operations on the target wait (deferred.h). Locks: the caller holds none, since epoch_access may
 * wait.
 */
#include "base/err.h"
#include "rma/path/deferred.h"
#include "rma/path/path.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

static int use_fence(struct win *w)
{
    rma_enter(w->rma);
    const int err = epoch_event(&w->epoch, EPOCH_EV_OP);
    rma_leave(w->rma);
    return err;
}

int epoch_includes(struct win *w, const struct rma_target *t)
{
    switch (epoch_now(&w->epoch)) {
    case EPOCH_FENCE:
        return use_fence(w);
    case EPOCH_PSCW:
        return t->started_in == w->start_count ? MRMA_SUCCESS : MRMA_ERR_RMA_SYNC;
    case EPOCH_LOCK:
        return t->lock != WIN_LOCK_NONE ? MRMA_SUCCESS : MRMA_ERR_RMA_SYNC;
    case EPOCH_FENCE_USED:
    case EPOCH_LOCK_ALL:
        return MRMA_SUCCESS;
    default:
        return MRMA_ERR_RMA_SYNC;
    }
}

/* Another thread may make operations on t wait at the same time; then t stays unready. */
static void make_ready(const struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    if (unlikely(r->threads))
        elock_lock(&r->lock);
    if (!deferred_wait(t))
        target_set_ready(w, t);
    if (unlikely(r->threads))
        elock_unlock(&r->lock);
}

int epoch_access(struct win *w, struct rma_target *t)
{
    const int err = target_sync(t)->access(w, t);
    if (!err)
        make_ready(w, t);
    return err;
}
