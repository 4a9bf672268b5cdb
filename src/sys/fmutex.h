/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fmutex.h - a mutex of one word on a futex, in two modes: between processes, and between the
 * threads of one.
 *
 * Three states: free, held, held with waiters. Uncontended locking is one compare-and-swap,
 * unlocking one exchange, both inline. Acquire and release order pair lock with the previous
 * unlock.
 *
 * A struct fmutex lies in memory shared by processes, in a cache line of its own. A waiter spins
 * with growing pauses (so that a holder that comes back soon keeps the line), yields the processor,
 * then sleeps on the word: a preempted holder costs the others no processor. The word says which
 * process holds it, and from time to time a sleeper looks whether that process lives: the mutex of
 * a dead process is taken over. What the mutex protects may be half done then.
 *
 * A struct elock is the engine's lock. A thread that finds it held sleeps at once and does not
 * spin, since its holder (the agent, say) may be waiting for this very processor. pthread_mutex_t
 * does the same with four times the instructions and two calls, and a small operation by packet
 * takes the lock twice (doc/decisions.md).
 *
 * Order of stores and loads. The word is 0 when the mutex is free, else it names the holder, and a
 * bit of it says that others sleep:
 *
 *   holder                                   next
 *   stores under the lock                    B: word 0 -> own process (acquire)
 *   A: exchange 0 (release)                     sees the stores
 *      the bit was set: futex wake
 *
 * A pairs with B. A thread that is going to sleep sets the bit first, by a compare-and-swap with
 * the word that it has seen; the holder's exchange then finds the bit and wakes. The futex compares
 * with that word, so a wake between the two is not missed. A thread that has slept takes the lock
 * with the bit, since others may still sleep; the cost is one needless wake.
 *
 * Taking over from a dead holder: one of the sleepers swaps the dead one's word for its own
 * (acquire). The dead one makes no stores any more, and those that it has made are in memory: the
 * kernel says that a process is dead when all its threads have ended.
 *
 * A thread that takes several mutexes takes them in ascending order of their addresses, so that
 * holders do not wait for each other in a circle.
 */
#ifndef MRMA_SYS_FMUTEX_H
#define MRMA_SYS_FMUTEX_H

#include <stdalign.h>
#include <stdbool.h>

#include "base/atomic.h"

enum fword { FWORD_FREE, FWORD_HELD, FWORD_WAITERS }; /* held, and somebody sleeps or is about to */

/* Of a fmutex: the bit beside its holder's process id. */
#define FMUTEX_WAITERS (UINT64_C(1) << 31)

struct fmutex {
    /* 0: free; else the holder's process id, in the upper half when it began (sys/procstart.h),
     * and FMUTEX_WAITERS. */
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t word;
};

struct elock {
    _Atomic uint32_t word; /* enum fword */
};

/* fmutex_self returns the word by which this process says that it holds a struct fmutex. started is
 * its own procstart_of. */
uint64_t fmutex_self(uint64_t started);

/* fmutex_lock_slow waits until the mutex can be had, and takes it. Only for fmutex_lock. */
void fmutex_lock_slow(struct fmutex *mx, uint64_t self);

/* fmutex_wake wakes one process that sleeps for the mutex. Only for fmutex_unlock. */
void fmutex_wake(struct fmutex *mx);

/* elock_lock_slow sleeps until the lock can be had, and takes it. Only for elock_lock. */
void elock_lock_slow(struct elock *l);

/* elock_wake wakes one thread that sleeps for the lock. Only for elock_unlock. */
void elock_wake(struct elock *l);

/* fmutex_try takes the mutex if it is free, and returns whether it has. Never waits. Here and below
 * self is fmutex_self of this process. */
static inline bool fmutex_try(struct fmutex *mx, uint64_t self)
{
    uint64_t none = 0;
    return atomic_compare_exchange_strong_explicit(
        &mx->word, &none, self, memory_order_acquire,
        memory_order_relaxed); /* pairs with fmutex_unlock */
}

/* fmutex_lock takes the mutex; it waits while another holds it, and takes it over from a process
 * that has died. Not recursive. */
static inline void fmutex_lock(struct fmutex *mx, uint64_t self)
{
    if (unlikely(!fmutex_try(mx, self)))
        fmutex_lock_slow(mx, self);
}

/* fmutex_unlock gives the mutex back and wakes one process that sleeps for it. */
static inline void fmutex_unlock(struct fmutex *mx)
{
    /* A full fence, since callers rely on this: no store under the lock is still on its way. */
    const uint64_t held = atomic_exchange_explicit(&mx->word, 0, memory_order_seq_cst);
    atomic_rmw_fence();
    if (unlikely(held & FMUTEX_WAITERS))
        fmutex_wake(mx);
}

/* elock_init makes *l a lock that nobody holds. */
static inline void elock_init(struct elock *l)
{
    atomic_init(&l->word, FWORD_FREE);
}

/* elock_try takes the lock if it is free, and returns whether it has. Never waits. */
static inline bool elock_try(struct elock *l)
{
    uint32_t old = FWORD_FREE;
    return atomic_compare_exchange_strong_explicit(
        &l->word, &old, FWORD_HELD, memory_order_acquire,
        memory_order_relaxed); /* pairs with elock_unlock */
}

/* elock_lock takes the lock; it sleeps while another thread holds it. Not recursive. */
static inline void elock_lock(struct elock *l)
{
    if (unlikely(!elock_try(l)))
        elock_lock_slow(l);
}

/* elock_unlock gives the lock back and wakes one thread that sleeps for it. */
static inline void elock_unlock(struct elock *l)
{
    if (unlikely(atomic_exchange_explicit(&l->word, FWORD_FREE, memory_order_release) ==
                 FWORD_WAITERS))
        elock_wake(l);
}

#endif
