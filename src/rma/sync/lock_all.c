/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_all.c - MPI_Win_lock_all (MPI 4.1, 12.5.3): a shared lock on every target with one atomic.
 *
 * Direct targets: this process joins the holders of its node, who are counted in one word, and
 * looks at a target's lock word once, before its first access there (target_lock.h has the protocol
 * with exclusive requests). So that those are not starved, a new lock_all waits while one has
 * stepped back.
 *
 * Packet targets are locked one by one, by the first packet: the target counts the
 * origin among the holders of its own node (lock_queue.c) and does not wait for
 * exclusive requests that have stepped back. With a ticket it would, and two
 * lock_all, each holding what the other's exclusive request waits for, would wait
 * for each other for ever. Locks: the engine's, taken here; waits are without it.
 */
#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/path/path.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/strict/strict.h"
#include "rma/traced/traced.h"
#include "rma/win/sync_ops.h"
#include "rma/win/target_lock.h"

static bool none_blocked(void *arg)
{
    struct win_ctl *lead = arg;
    return atomic_load_explicit(&lead->all_blocked, memory_order_acquire) == 0;
}

/* Where load and store may follow at once, all targets must be accessible. */
static int access_shared(struct win *w)
{
    int err = MRMA_SUCCESS;
    for (int i = 0; !err && i < w->nproc; i++)
        err = win_peek(w, i)->sync_ops->lock_all(w, win_peek(w, i));
    return err;
}

static void forget_lock_all(struct win *w)
{
    rma_enter(w->rma);
    (void)epoch_event(&w->epoch, EPOCH_EV_UNLOCK_ALL);
    win_set_flush_quick(w);
    win_next_gen(w);
    rma_leave(w->rma);
}

static int acquire_all(struct win *w, bool settle)
{
    int err = settle ? issue_lock_settle(w->rma) : MRMA_SUCCESS;
    err = err ? err : issue_await_unlocked(w);
    if (!err && !none_blocked(w->lead))
        err = rma_wait_until(w, &(struct rma_wait){.done = none_blocked,
                                                   .arg = w->lead,
                                                   .event = &w->lead->all_event,
                                                   .what = "exclusive locks that came first",
                                                   .rank = -1});
    if (err)
        return err;
    lock_all_join(w);
    struct rma_target *self = win_peek(w, w->rank);
    err = w->flavor == WIN_ALLOCATE_SHARED ? access_shared(w) : self->sync_ops->lock_all(w, self);
    if (err)
        lock_all_leave(w);
    return err;
}

/* After an error there is no epoch, and nobody is counted as a holder: an unlock_all that
 * follows is refused. */
int rma_lock_all(struct win *w, int asserts)
{
    struct rma *r = w->rma;
    if (w->hints.no_locks)
        return MRMA_ERR_RMA_SYNC;
    rma_enter(r);
    int err = epoch_event(&w->epoch, EPOCH_EV_LOCK_ALL);
    if (!err) {
        w->all_nocheck = asserts & RMA_NOCHECK;
        win_set_flush_quick(w);
        win_next_gen(w);
    }
    const bool settle = r->lock_due != NULL;
    rma_leave(r);
    if (!err && (err = strict_lock_all(w)) != MRMA_SUCCESS)
        forget_lock_all(w);
    if (err || w->all_nocheck)
        return err;
    err = acquire_all(w, settle);
    if (err) {
        (void)strict_unlock_all(w);
        forget_lock_all(w);
    }
    win_event(w, -1, TRACE_LOCKED, 0);
    return err;
}

int rma_unlock_all(struct win *w)
{
    if (epoch_now(&w->epoch) != EPOCH_LOCK_ALL)
        return MRMA_ERR_RMA_SYNC;
    const int broken = strict_unlock_all(w);
    int err = w->nsent ? assisted_settle_all(w) : MRMA_SUCCESS;
    const int ended = w->npackets || w->nsent ? issue_unlock_all(w) : MRMA_SUCCESS;
    err = err ? err : ended;
    assisted_end_all(w);
    if (w->all_nocheck)
        win_full_fence(w);
    else
        lock_all_leave(w);
    forget_lock_all(w);
    return err ? err : broken;
}
