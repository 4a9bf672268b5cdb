/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * by_packets.c - synchronization with a target by packets (win/sync_ops.h). The end of an epoch is
 * piggybacked on its last packet, and packets that come before their epoch wait at the target;
 * operations that may not be sent before then wait here (path/deferred.h). src/rma/origin makes the
 * packets; the handlers count the answers in the target's signals. No state.
 */
#include "base/err.h"
#include "rma/origin/active_epoch.h"
#include "rma/origin/passive_epoch.h"
#include "rma/path/deferred.h"
#include "rma/path/path.h"
#include "rma/progress/wait.h"
#include "rma/sync/sync.h"
#include "rma/target/target.h"
#include "rma/win/path_ops.h"
#include "rma/win/send_header.h"

static bool packets_accessible(const struct win *w, const struct rma_target *t)
{
    (void)w;
    return origin_target_is_open(t);
}

static int packets_await(struct win *w, struct rma_target *t)
{
    return origin_await_target(w, t);
}

/* packets_access need not wait: packets wait at the target, as far as they may be sent. */
static int packets_access(struct win *w, struct rma_target *t)
{
    if (likely(!deferred_wait(t)))
        return MRMA_SUCCESS;
    rma_enter(w->rma);
    const bool open = origin_target_is_open(t);
    rma_leave(w->rma);
    return open ? deferred_run(w, t, MRMA_SUCCESS) : MRMA_SUCCESS;
}

static int packets_post(struct win *w, struct rma_target *t)
{
    t->posted++;
    const int told = target_post(w, t);
    return told == MRMA_ERR_PROC_FAILED ? rma_lost(w, t) : told;
}

static bool packets_completed(const struct rma_target *t)
{
    return seq_reached(atomic_load_explicit(&t->in->completes, memory_order_acquire), t->exposures);
}

/* packets_take has nothing to do: the target's side of packets has done everything that came. */
static void packets_take(struct win *w, struct rma_target *t)
{
    (void)w, (void)t;
}

/* packets_unlock needs no second step, since the unlock of the path gives the lock back. */
static int packets_unlock(struct win *w, struct rma_target *t)
{
    return route_enter(w, t)->unlock(w, t);
}

/* packets_lock sends nothing, except where the caller may use load and store under the lock
 * (MPI_Win_allocate_shared): there it waits for the grant. */
static int packets_lock(struct win *w, struct rma_target *t, bool exclusive)
{
    (void)exclusive;
    return origin_lock_begin(w, t);
}

static int packets_enter(struct win *w, struct rma_target *t, int kind, int err)
{
    rma_enter(w->rma);
    const int sent = win_send_header(w, t, PKT_SYNC, w->sync.barriers[kind], 0, (uint32_t)err, 0);
    rma_leave(w->rma);
    return sent == MRMA_ERR_PROC_FAILED ? rma_lost(w, t) : sent;
}

static void packets_tell_lost(struct win *w, struct rma_target *t, int rank)
{
    (void)win_send_header(w, t, PKT_ERROR, PKT_ERROR_LOST, (uint32_t)rank, MRMA_ERR_PROC_FAILED, 0);
}

const struct sync_ops sync_by_packets = {
    .access = packets_access,
    .accessible = packets_accessible,
    .await = packets_await,
    .post = packets_post,
    .complete = origin_complete,
    .completed = packets_completed,
    .take = packets_take,
    .end_phase = origin_send_marker,
    .lock = packets_lock,
    .unlock = packets_unlock,
    .lock_all = origin_lock_begin,
    .enter = packets_enter,
    .tell_lost = packets_tell_lost,
};
