/*
 * lock.c - MPI_Win_lock and MPI_Win_unlock (MPI 4.1, 12.5.3).
 *
 * A direct target's lock is taken in its control block by the origin itself: one
 * atomic to lock, one to unlock (the usual case in rma/fast.h, all others here). For
 * packet targets nothing is sent here: the request rides on the first packet
 * (open_packet.c), except where the caller may use load and store under the lock
 * (MPI_Win_allocate_shared), which waits for the grant. The target's side of packet locks
 * is lock_queue.c.
 *
 *   holder                                 next
 *   stores under the lock
 *   A: release ticket (seq_cst CAS)        B: enter (seq_cst) sees A
 *   sleepers (seq_cst)? wake               loads see the stores
 */
#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/strict/strict.h"
#include "rma/sync/lock.h"
#include "rma/traced/traced.h"
#include "rma/win/path_ops.h"
#include "rma/win/target_lock.h"

/* Stored only where reports are wanted: what, exclusive or not, and the ticket. */
static void note(const struct win *w, struct rma_target *t, enum lock_use use, bool exclusive,
                 uint32_t ticket)
{
    if (unlikely(w->rma->conf->hang_report > 0))
        atomic_store_explicit(&t->out->sync.lock,
                              (uint32_t)use | (uint32_t)exclusive << 2 | ticket << 3,
                              memory_order_relaxed);
}

struct lock_note lock_noted(const struct rma_target *t, int slot)
{
    const uint32_t word =
        atomic_load_explicit(&t->ctl->slots[slot].signals.sync.lock, memory_order_relaxed);
    return (struct lock_note){(enum lock_use)(word & 3), word >> 2 & 1, word >> 3};
}

struct turn {
    struct win *w;
    struct rma_target *t;
    uint32_t ticket;
    bool exclusive, served, yielded;
};

static bool turn_come(void *arg)
{
    struct turn *a = arg;
    if (a->served) /* entering happens once; the waiter may ask again */
        return true;
    a->served = lockword_enter(&a->t->ctl->lock, a->ticket, a->exclusive);
    if (a->served && !a->exclusive)
        lock_notify(a->t); /* the next shared request may be asleep */
    return a->served;
}

static bool all_passed(void *arg)
{
    struct turn *a = arg;
    return lock_all_pass(a->w, a->t, &a->yielded);
}

/* The lock with this ticket: behind those before it, and, exclusive, behind the holders of
 * lock_all. */
static int await_lock(struct win *w, struct rma_target *t, bool exclusive, uint32_t ticket,
                      bool granted)
{
    struct turn turn = {.w = w, .t = t, .ticket = ticket, .exclusive = exclusive};
    const int rank = t->rank;
    int err = MRMA_SUCCESS;
    if (!granted) {
        atomic_fetch_add_explicit(&w->rma->stats.lock_waits, 1, memory_order_relaxed);
        err = rma_wait_until(w, &(struct rma_wait){.done = turn_come,
                                                   .arg = &turn,
                                                   .event = &t->ctl->lock_event,
                                                   .what = "the window's lock",
                                                   .rank = rank});
    }
    if (!err && exclusive && !all_passed(&turn))
        err =
            rma_wait_until(w, &(struct rma_wait){.done = all_passed,
                                                 .arg = &turn,
                                                 .event = &w->lead->all_event,
                                                 .what = "MPI_Win_unlock_all of the lock's holders",
                                                 .rank = rank});
    return err;
}

static int acquire(struct win *w, struct rma_target *t, bool exclusive)
{
    bool granted;
    int err = MRMA_SUCCESS;
    const uint32_t ticket = lockword_take(&t->ctl->lock, exclusive, &granted);
    note(w, t, LOCK_AWAITED, exclusive, ticket);
    if (unlikely(!granted) || exclusive)
        err = await_lock(w, t, exclusive, ticket, granted);
    if (!err) {
        note(w, t, LOCK_HELD, exclusive, ticket);
        win_event(w, t->rank, TRACE_LOCKED, 0);
    }
    return err;
}

static void release(struct win *w, struct rma_target *t, bool exclusive)
{
    note(w, t, LOCK_UNUSED, exclusive, 0);
    lockword_release(&t->ctl->lock, exclusive);
    fast_lock_notify(t);
}

/* The origin's state after unlock, or after a lock that failed. */
static void forget_lock(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    t->lock = WIN_LOCK_NONE;
    target_set_unready(w, t);
    if (--w->nlocks == 0) {
        (void)epoch_event(&w->epoch, EPOCH_EV_UNLOCK_LAST);
        win_set_flush_quick(w);
        win_next_gen(w);
    }
    rma_leave(w->rma);
}

int rma_lock(struct win *w, bool exclusive, int rank, int asserts)
{
    struct rma *r = w->rma;
    struct rma_target *t;
    if (w->hints.no_locks)
        return MRMA_ERR_RMA_SYNC;
    int err = win_target(w, rank, &t);
    if (err)
        return err;
    rma_enter(r);
    bool nested = false;
    err = t->lock == WIN_LOCK_NONE ? epoch_event(&w->epoch, EPOCH_EV_LOCK) : MRMA_ERR_RMA_SYNC;
    if (!err) {
        nested = r->lock_due != NULL;
        if (w->nlocks++ == 0)
            win_next_gen(w);
        win_set_flush_quick(w);
        t->lock = asserts & RMA_NOCHECK ? WIN_LOCK_NOCHECK
                  : exclusive           ? WIN_LOCK_EXCLUSIVE
                                        : WIN_LOCK_SHARED;
    }
    rma_leave(r);
    if (err)
        return err;
    if (nested)
        err = issue_lock_settle(r);
    if (!err && !t->direct)
        err = issue_lock_begin(w, t);
    else if (!err && t->lock != WIN_LOCK_NOCHECK)
        err = acquire(w, t, exclusive);
    if (!err)
        err = strict_lock(w, t, exclusive);
    if (err)
        forget_lock(w, t);
    else if (!w->fence_unsettled) /* else the first access looks whether the last fence's puts are
                                in place */
        target_set_ready(w, t);
    return err;
}

int rma_unlock(struct win *w, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    if (epoch_now(&w->epoch) != EPOCH_LOCK || t->lock == WIN_LOCK_NONE)
        return MRMA_ERR_RMA_SYNC;
    const int err = t->path->unlock(w, t);
    if (t->direct && t->lock != WIN_LOCK_NOCHECK)
        release(w, t, t->lock == WIN_LOCK_EXCLUSIVE);
    forget_lock(w, t);
    return err;
}
