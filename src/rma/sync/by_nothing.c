/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * by_nothing.c - synchronization with a target of this node whose process is lost
 * (progress/lost.h): every call that concerns it fails at once. Nothing is stored into its control
 * block, and a lock that was held there is forgotten. If it had ended an access epoch before, the
 * wait for that still succeeds. The table takes the place of by_memory.c's. No state.
 */
#include "base/err.h"
#include "rma/path/stage.h"
#include "rma/progress/wait.h"
#include "rma/sync/sync.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

static int lost(struct win *w, struct rma_target *t)
{
    return rma_lost(w, t);
}

/* lost_accessible returns true, so that nobody waits for the target. */
static bool lost_accessible(const struct win *w, const struct rma_target *t)
{
    (void)w, (void)t;
    return true;
}

static int lost_end_phase(struct win *w, struct rma_target *t)
{
    (void)w, (void)t; /* barrier_node follows */
    return MRMA_SUCCESS;
}

static int lost_lock(struct win *w, struct rma_target *t, bool exclusive)
{
    (void)exclusive;
    return rma_lost(w, t);
}

static int lost_enter(struct win *w, struct rma_target *t, int kind, int err)
{
    (void)kind, (void)err;
    return rma_lost(w, t);
}

static void lost_tell_lost(struct win *w, struct rma_target *t, int rank)
{
    (void)w, (void)t, (void)rank;
}

const struct sync_ops sync_by_nothing = {
    .access = lost,
    .accessible = lost_accessible,
    .await = lost,
    .post = lost,
    .complete = lost,
    .completed = stage_completed,
    .take = stage_apply,
    .end_phase = lost_end_phase,
    .lock = lost_lock,
    .unlock = lost,
    .lock_all = lost,
    .enter = lost_enter,
    .tell_lost = lost_tell_lost,
};
