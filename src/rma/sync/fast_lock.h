/*
 * fast_lock.h - MPI_Win_lock and MPI_Win_unlock of a direct target whose lock is free,
 * inline in the entry points (MPI 4.1, 12.5.3).
 *
 * As in fast.h each does all of the call or nothing and says so, and the caller then goes
 * the general way (lock.c), which finds the errors, waits, and does what is left out
 * here: lock_quick is set for windows in which nobody watches locks (MPIRMA_STRICT,
 * MPIRMA_HANG_REPORT, traces, no_locks), and while others may take the engine's lock, a
 * packet lock is pending, or lock_all's holders are about, it is not tried.
 *
 * An exclusive request must look at lock_all's holders after its ticket is in the word
 * (target_lock.h: C before D). Who finds one gives the lock back and takes the general way:
 * that is a lock and an unlock of nothing.
 */
#ifndef MRMA_RMA_SYNC_FAST_LOCK_H
#define MRMA_RMA_SYNC_FAST_LOCK_H

#include "rma/win/target_lock.h"
#include "rma/win/win.h"

/* The first lock of an epoch, or one more. */
static inline void fast_lock_hold(struct win *w, struct rma_target *t, enum win_lock lock)
{
    t->lock = (uint8_t)lock;
    if (w->nlocks++ == 0) {
        atomic_store_explicit(&w->epoch.state, EPOCH_LOCK, memory_order_relaxed);
        w->flush_quick = FLUSH_QUICK_READY;
        win_next_gen(w);
    }
    if (!w->fence_lags) /* else the first access looks whether the last fence's puts are in place,
                         */
        atomic_store_explicit(&t->gen, atomic_load_explicit(&w->gen, memory_order_relaxed),
                              memory_order_relaxed);
}

static inline __attribute__((always_inline)) bool fast_lock(struct win *w, bool exclusive, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    const enum epoch_state now = epoch_now(&w->epoch);
    if (unlikely((now != EPOCH_NONE && now != EPOCH_LOCK) || !w->lock_quick || !t->direct ||
                 t->lock != WIN_LOCK_NONE || w->rma->lock_due))
        return false;
    if (unlikely(!lockword_try(&t->ctl->lock, exclusive)))
        return false;
    if (exclusive &&
        unlikely(atomic_load_explicit(&w->lead->all_holders, memory_order_seq_cst) != 0)) {
        lockword_release(&t->ctl->lock, true);
        fast_lock_notify(t);
        return false;
    }
    fast_lock_hold(w, t, exclusive ? WIN_LOCK_EXCLUSIVE : WIN_LOCK_SHARED);
    return true;
}

static inline __attribute__((always_inline)) bool fast_unlock(struct win *w, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    const uint8_t lock = t->lock;
    if (unlikely(epoch_now(&w->epoch) != EPOCH_LOCK || !w->lock_quick ||
                 (lock != WIN_LOCK_SHARED && lock != WIN_LOCK_EXCLUSIVE) || !t->direct ||
                 t->sent != SENT_NOTHING))
        return false;
    lockword_release(&t->ctl->lock, lock == WIN_LOCK_EXCLUSIVE);
    fast_lock_notify(t);
    t->lock = WIN_LOCK_NONE;
    if (--w->nlocks == 0) {
        atomic_store_explicit(&w->epoch.state, EPOCH_NONE, memory_order_relaxed);
        w->flush_quick = FLUSH_QUICK_NONE;
        win_next_gen(w);
    } else {
        target_set_unready(w, t);
    }
    return true;
}

#endif
