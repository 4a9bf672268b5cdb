/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.c - MPI_Win_lock and MPI_Win_unlock (MPI 4.1, 12.5.3): the origin's state. The table of the
 * target takes a lock and gives it back (by_memory.c, by_packets.c). Locks: the engine's is taken
 * in this file; waits are without it.
 */
#include "base/err.h"
#include "base/fault.h"
#include "rma/origin/passive_epoch.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/strict/strict.h"
#include "rma/sync/sync.h"
#include "rma/win/sync_ops.h"
#include "rma/win/target_lock.h"
#include "rma/win/win.h"

/* forget_lock sets the origin's state after unlock, or after a lock that has failed. */
static void forget_lock(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    t->lock = WIN_LOCK_NONE;
    target_set_unready(w, t);
    if (--w->nlocks == 0) {
        w->rma->passive--;
        (void)epoch_event(&w->epoch, EPOCH_EV_UNLOCK_LAST);
        win_set_flush_quick(w);
        win_next_gen(w);
    }
    rma_leave(w->rma);
}

static enum win_lock kind_of_lock(const struct win *w, bool exclusive, int asserts)
{
    if (asserts & RMA_NOCHECK)
        return WIN_LOCK_NOCHECK;
    if (exclusive)
        return WIN_LOCK_EXCLUSIVE;
    return lock_is_nested(w) ? WIN_LOCK_TICKETLESS : WIN_LOCK_SHARED;
}

static bool no_lock_all_waits(void *arg)
{
    const struct win_ctl *lead = arg;
    return atomic_load_explicit(&lead->all, memory_order_relaxed) < LOCK_ALL_WAITER;
}

/* let_lock_alls_in makes an exclusive request wait for those who wait for the locks of all targets
 * at once, since otherwise the moment in which no lock is held exclusively would hardly come. Only
 * a process that holds no lock may wait for this, and before it has a ticket (target_lock.h). */
static int let_lock_alls_in(struct win *w)
{
    if (no_lock_all_waits(w->lead))
        return MRMA_SUCCESS;
    return rma_wait_until(w, &(struct rma_wait){.done = no_lock_all_waits,
                                                .arg = w->lead,
                                                .event = &w->lead->all_event,
                                                .what = "MPI_Win_lock_all that came first",
                                                .rank = -1});
}

int lock_despite_hint(struct win *w)
{
    if (likely(!w->hints.no_locks))
        return MRMA_SUCCESS;
    if (w->locks_refused)
        return FAULT(w->rma->log, NO_LOCKS);
    if (!atomic_exchange_explicit(&w->rma->said_no_locks, true, memory_order_relaxed))
        log_msg(w->rma->log, LOG_LEVEL_WARN,
                "window %u was made with the info key no_locks=true and is locked all the same; "
                "the lock is taken, and this is not said again",
                w->index);
    return MRMA_SUCCESS;
}

int rma_lock(struct win *w, bool exclusive, int rank, int asserts)
{
    struct rma *r = w->rma;
    struct rma_target *t;
    int err = lock_despite_hint(w);
    if (!err)
        err = win_target(w, rank, &t);
    if (err)
        return err;
    rma_enter(r);
    bool due = false;
    err = t->lock == WIN_LOCK_NONE ? epoch_event(&w->epoch, EPOCH_EV_LOCK) : MRMA_ERR_RMA_SYNC;
    if (!err) {
        due = r->lock_due != NULL;
        if (w->nlocks++ == 0) {
            win_next_gen(w);
            r->passive++;
        }
        win_set_flush_quick(w);
        t->lock = kind_of_lock(w, exclusive, asserts);
    }
    const bool first = !lock_is_nested(w);
    rma_leave(r);
    if (err)
        return err;
    if (due)
        err = origin_lock_await(r);
    if (!err && t->lock == WIN_LOCK_EXCLUSIVE && first)
        err = let_lock_alls_in(w);
    if (!err)
        err = target_sync(t)->lock(w, t, exclusive);
    if (!err)
        err = strict_lock(w, t, exclusive);
    if (err)
        forget_lock(w, t);
    else if (!w->fence_pending) /* if so, the first access looks for the last fence's puts */
        target_set_ready(w, t);
    return err;
}

int rma_unlock(struct win *w, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    if (epoch_now(&w->epoch) != EPOCH_LOCK || t->lock == WIN_LOCK_NONE)
        return MRMA_ERR_RMA_SYNC;
    if (win_count_call(w))
        rma_look_around(w);
    const int err = target_sync(t)->unlock(w, t);
    forget_lock(w, t);
    rma_grant_released(w->rma);
    return err;
}
