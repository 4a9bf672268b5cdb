/*
 * fmutex.h - a mutex of one 32-bit word on a futex, in two modes: between processes, and
 * between the threads of one.
 *
 * Three states: free, held, held with waiters. Uncontended locking is one compare-and-swap,
 * unlocking one exchange, both inline. Acquire and release order pair lock with the previous unlock.
 *
 * struct fmutex: in memory shared by processes, a cache line of its own. A waiter spins with growing pauses
 * (so that a holder that comes back soon keeps the line), yields the processor,
 * then sleeps on the word: a preempted holder costs the others no processor.
 *
 * struct elock: the engine's lock. A thread that finds it held sleeps at once and does not spin, since
 * its holder (the agent, say) may be waiting for this very processor. pthread_mutex_t does the same
 * in four times the instructions and two calls, which small operations by packet paid
 * twice over (doc/performance.md).
 */
#ifndef MRMA_BASE_FMUTEX_H
#define MRMA_BASE_FMUTEX_H

#include <stdalign.h>
#include <stdbool.h>

#include "base/atomic.h"

enum fword { FWORD_FREE, FWORD_HELD, FWORD_WAITERS }; /* held, and somebody sleeps or is about to */

struct fmutex {
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t word; /* enum fword */
};

struct elock {
    _Atomic uint32_t word; /* enum fword */
};

/* Out-of-line parts: wait until it can be had; wake one waiter. */
void fmutex_lock_slow(struct fmutex *mx);
void fmutex_wake(struct fmutex *mx);
void elock_lock_slow(struct elock *l);
void elock_wake(struct elock *l);

static inline bool fword_try(_Atomic uint32_t *word)
{
    uint32_t old = FWORD_FREE;
    return atomic_compare_exchange_strong_explicit(word, &old, FWORD_HELD, memory_order_acquire,
                                                   memory_order_relaxed); /* pairs with the unlocks */
}

static inline void fmutex_lock(struct fmutex *mx)
{
    if (unlikely(!fword_try(&mx->word)))
        fmutex_lock_slow(mx);
}

static inline void fmutex_unlock(struct fmutex *mx)
{
    /* seq_cst for those who rely on that no store under the lock is still on its way. */
    if (unlikely(atomic_exchange_explicit(&mx->word, FWORD_FREE, memory_order_seq_cst) == FWORD_WAITERS))
        fmutex_wake(mx);
}

static inline void elock_init(struct elock *l)
{
    atomic_init(&l->word, FWORD_FREE);
}

static inline bool elock_try(struct elock *l)
{
    return fword_try(&l->word);
}

static inline void elock_lock(struct elock *l)
{
    if (unlikely(!elock_try(l)))
        elock_lock_slow(l);
}

static inline void elock_unlock(struct elock *l)
{
    if (unlikely(atomic_exchange_explicit(&l->word, FWORD_FREE, memory_order_release) == FWORD_WAITERS))
        elock_wake(l);
}

#endif
