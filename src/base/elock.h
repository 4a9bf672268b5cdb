/*
 * elock.h - the engine's lock: a mutex between the threads of one process, whose
 * uncontended parts are inline.
 *
 * Three states: free, held, held with sleepers. Locking and unlocking are one atomic
 * instruction each; a thread that finds it held sleeps at once and does not spin, since its
 * holder (the agent, say) may be waiting for this very processor. pthread_mutex_t does the same
 * in four times the instructions and two calls, which small operations by packet paid
 * twice over (doc/performance.md).
 */
#ifndef MRMA_BASE_ELOCK_H
#define MRMA_BASE_ELOCK_H

#include <stdbool.h>

#include "base/atomic.h"

struct elock {
    _Atomic uint32_t word; /* 0 free, 1 held, 2 held with sleepers */
};

static inline void elock_init(struct elock *l)
{
    atomic_init(&l->word, 0);
}

/* Out-of-line parts: sleep until it can be had; wake one sleeper. */
void elock_sleep(struct elock *l);
void elock_wake(struct elock *l);

static inline bool elock_try(struct elock *l)
{
    uint32_t free_word = 0;
    return atomic_compare_exchange_strong_explicit(&l->word, &free_word, 1, memory_order_acquire,
                                                   memory_order_relaxed); /* pairs with elock_unlock */
}

static inline void elock_lock(struct elock *l)
{
    if (unlikely(!elock_try(l)))
        elock_sleep(l);
}

static inline void elock_unlock(struct elock *l)
{
    if (unlikely(atomic_exchange_explicit(&l->word, 0, memory_order_release) == 2))
        elock_wake(l);
}

#endif
