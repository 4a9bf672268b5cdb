/*
 * fmutex.h - a mutex of one 32-bit word in memory shared by processes.
 *
 * Three states: free, held, held with waiters. Uncontended locking is one
 * compare-and-swap, unlocking one exchange. A waiter spins with growing pauses
 * (so that a holder that comes back soon keeps the line), yields the processor,
 * then sleeps on the word: a preempted holder costs the others no processor.
 * Acquire and release order pair lock with the previous unlock.
 */
#ifndef MRMA_BASE_FMUTEX_H
#define MRMA_BASE_FMUTEX_H

#include <stdalign.h>

#include "base/atomic.h"

struct fmutex {
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t word; /* 0 free, 1 held, 2 held with waiters */
};

/* Out-of-line parts: wait for the mutex; wake one waiter. */
void fmutex_lock_slow(struct fmutex *mx);
void fmutex_wake(struct fmutex *mx);

static inline void fmutex_lock(struct fmutex *mx)
{
    uint32_t free_word = 0;
    if (unlikely(!atomic_compare_exchange_strong_explicit(&mx->word, &free_word, 1, memory_order_acquire,
                                                          memory_order_relaxed)))
        fmutex_lock_slow(mx);
}

static inline void fmutex_unlock(struct fmutex *mx)
{
    /* seq_cst for those who rely on that no store under the lock is still on its way. */
    if (unlikely(atomic_exchange_explicit(&mx->word, 0, memory_order_seq_cst) == 2))
        fmutex_wake(mx);
}

#endif
