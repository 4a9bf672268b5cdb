/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_all.c - MPI_Win_lock_all (MPI 4.1, 12.5.3): a shared lock on every target. The call locks
 * only this process's own memory, for loads and stores, by one atomic operation, and waits for no
 * other process.
 *
 * Targets are locked one by one, by the first access to each: this process counts itself there
 * (target_lock.h has the protocol with exclusive requests), or the first packet lets the target do
 * that (lock_queue.c). In windows from MPI_Win_allocate_shared loads and stores to all targets may
 * follow at once: the call acquires the locks of all memory peers together, by one atomic for the
 * node, and then those of packet targets.
 *
 * So that exclusive requests are not starved, a new lock_all waits while one has stepped back on
 * the node, unless this process holds a lock. A process that holds a lock may not wait for requests
 * that only wait: two processes in lock_all, each holding what the other's exclusive request waits
 * for, would wait for each other for ever. Locks: the engine's is taken in this file; waits are
 * without it.
 */
#include "base/err.h"
#include "rma/origin/outstanding.h"
#include "rma/origin/passive_epoch.h"
#include "rma/path/deferred.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/progress/lost.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/strict/strict.h"
#include "rma/sync/sync.h"
#include "rma/traced/traced_path.h"
#include "rma/win/full_fence.h"
#include "rma/win/sync_ops.h"
#include "rma/win/target_lock.h"

static bool none_blocked(void *arg)
{
    struct win_ctl *lead = arg;
    return atomic_load_explicit(&lead->all_blocked, memory_order_acquire) == 0;
}

static bool is_open(void *arg)
{
    struct rma_target *t = arg;
    return lockword_open_to_all(&t->ctl->lock);
}

/* hold_direct takes the locks of all memory peers, in a moment when none is held exclusively. */
static int hold_direct(struct win *w)
{
    struct rma_target *held = lock_all_try(w);
    int err = MRMA_SUCCESS;
    if (!held)
        return MRMA_SUCCESS;
    atomic_fetch_add_explicit(&w->rma->stats.lock_waits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->lead->all, LOCK_ALL_WAITER, memory_order_seq_cst);
    while (!err && held) {
        err = rma_wait_until(w, &(struct rma_wait){.done = is_open,
                                                   .arg = held,
                                                   .event = &held->ctl->lock_event,
                                                   .what = "an exclusive lock to be released",
                                                   .rank = held->rank});
        held = err ? held : lock_all_try(w);
    }
    atomic_fetch_sub_explicit(&w->lead->all, LOCK_ALL_WAITER, memory_order_seq_cst);
    event_notify(&w->lead->all_event, EVENT_NO_POLL);
    return err;
}

/* hold_all makes all targets accessible where load and store may follow at once. Where packets ask
 * for the locks one by one, it takes them in the order of ranks, as programs do that take several
 * locks. */
static int hold_all(struct win *w)
{
    bool held = false;
    int err = MRMA_SUCCESS;
    for (int i = 0; !err && i < w->nproc; i++) {
        struct rma_target *t = win_peek(w, i);
        if (t->ctl && !held) {
            err = hold_direct(w);
            held = !err;
        } else if (!t->ctl) {
            err = target_sync(t)->lock_all(w, t);
        }
    }
    if (err && held)
        lock_all_leave(w);
    return err;
}

/* release_direct gives back the locks of the memory peers. */
static void release_direct(struct win *w)
{
    struct list_node *node;
    if (w->flavor == WIN_ALLOCATE_SHARED)
        lock_all_leave(w);
    while ((node = list_pop_front(&w->sync.ticketless)) != NULL) {
        struct rma_target *t = LIST_ENTRY(node, struct rma_target, sync.ticketless_link);
        t->lock = WIN_LOCK_NONE;
        lock_uncount(t);
    }
}

static void forget_lock_all(struct win *w)
{
    rma_enter(w->rma);
    w->rma->passive--;
    (void)epoch_event(&w->epoch, EPOCH_EV_UNLOCK_ALL);
    win_set_flush_quick(w);
    win_next_gen(w);
    rma_leave(w->rma);
}

static int acquire_all(struct win *w, bool await_due, bool first)
{
    int err = win_lost_error(w);
    if (!err && await_due)
        err = origin_lock_await(w->rma);
    err = err ? err : origin_await_unlocked(w);
    if (!err && first && !none_blocked(w->lead))
        err = rma_wait_until(w, &(struct rma_wait){.done = none_blocked,
                                                   .arg = w->lead,
                                                   .event = &w->lead->all_event,
                                                   .what = "exclusive locks that came first",
                                                   .rank = -1});
    if (err)
        return err;
    if (w->flavor == WIN_ALLOCATE_SHARED)
        return hold_all(w);
    struct rma_target *self = win_peek(w, w->rank);
    err = target_sync(self)->lock_all(w, self);
    if (err)
        release_direct(w);
    return err;
}

/* After an error there is no epoch, and this process is counted nowhere: an unlock_all that
 * follows is refused. */
int rma_lock_all(struct win *w, int asserts)
{
    struct rma *r = w->rma;
    int err = lock_despite_hint(w);
    if (err)
        return err;
    rma_enter(r);
    err = epoch_event(&w->epoch, EPOCH_EV_LOCK_ALL);
    if (!err) {
        w->all_nocheck = asserts & RMA_NOCHECK;
        r->passive++;
        win_set_flush_quick(w);
        win_next_gen(w);
    }
    const bool await_due = r->lock_due != NULL, first = !lock_is_nested(w);
    rma_leave(r);
    if (!err && (err = strict_lock_all(w)) != MRMA_SUCCESS)
        forget_lock_all(w);
    if (err || w->all_nocheck)
        return err;
    err = acquire_all(w, await_due, first);
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
    if (win_count_call(w))
        rma_look_around(w);
    const int broken = strict_unlock_all(w);
    const int carried = deferred_any(w) ? deferred_end(w) : MRMA_SUCCESS;
    const int joint = joint_end(w, NULL);
    int err = w->nsent ? assisted_settle_all(w) : MRMA_SUCCESS;
    err = carried ? carried : joint ? joint : err;
    const int ended = w->npackets || w->nsent ? origin_unlock_all(w) : MRMA_SUCCESS;
    err = err ? err : ended;
    assisted_end_all(w);
    if (w->all_nocheck)
        win_full_fence(w);
    else
        release_direct(w);
    forget_lock_all(w);
    rma_grant_released(w->rma);
    err = err ? err : win_lost_error(w);
    return err ? err : broken;
}
