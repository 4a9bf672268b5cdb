/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * full_fence.h - the fence that completes stores to mapped targets. It is left out where there were
 * no stores. Any thread, no locks.
 */
#ifndef MRMA_RMA_WIN_FULL_FENCE_H
#define MRMA_RMA_WIN_FULL_FENCE_H

#include "rma/win/win.h"

/* win_set_dirty notes that this process has stored to a mapped target of w, so that the next
 * win_full_fence is not left out. */
static inline void win_set_dirty(struct win *w)
{
    atomic_store_explicit(&w->dirty, true, memory_order_relaxed);
}

/*
 * win_full_fence makes every stored byte visible before anything that follows (flush). A put on a
 * mapped target is plain stores, which may stay in the processor's store buffer while later loads
 * of the same process go ahead:
 *
 *   process 0                             process 1
 *   put x = 1                             put y = 1
 *   A: flush: fence (seq_cst)             B: flush: fence (seq_cst)
 *   get y                                 get x
 *
 * A flush promises completion at the target, so one of the two gets must see 1. The two fences are
 * in one order, and the process whose fence is second has both puts before its get. Without stores
 * since the last fence there is nothing to order and the fence is left out. Unlocks and accumulates
 * need no further fence: the release of the lock (lockword_release), acc_atomic_leave, and the
 * return of a stripe (fmutex_unlock) are full fences themselves, by atomic_rmw_fence.
 */
static inline void win_full_fence(struct win *w)
{
    if (atomic_load_explicit(&w->dirty, memory_order_relaxed) || w->rma->threads) {
        atomic_store_explicit(&w->dirty, false, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
    }
}

#endif
