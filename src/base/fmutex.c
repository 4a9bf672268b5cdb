/*
 * fmutex.c - the contended paths of fmutex.h.
 *
 * A thread that has slept takes the word as FWORD_WAITERS, since it
 * cannot know whether others sleep too; that costs one needless wake at most.
 */
#include "base/fmutex.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Long pauses on purpose: while a waiter does not look, the holder's core keeps the
 * line and locks again without a transfer, which is what gives a contended word its
 * throughput. Measured: doc/performance.md. */
enum { SPIN_ROUNDS = 20, FIRST_PAUSES = 8, MOST_PAUSES = 64, YIELD_ROUNDS = 16 };

static void sleep_until_had(_Atomic uint32_t *word, int wait)
{
    while (atomic_exchange_explicit(word, FWORD_WAITERS, memory_order_acquire) != FWORD_FREE)
        syscall(SYS_futex, word, wait, FWORD_WAITERS, NULL, NULL, 0);
}

static bool look_and_try(_Atomic uint32_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed) == FWORD_FREE && fword_try(word);
}

void fmutex_lock_slow(struct fmutex *mx)
{
    int pauses = FIRST_PAUSES;
    for (int round = 0; round < SPIN_ROUNDS; round++) {
        for (int i = 0; i < pauses; i++)
            cpu_relax();
        if (look_and_try(&mx->word))
            return;
        pauses = pauses < MOST_PAUSES ? 2 * pauses : MOST_PAUSES;
    }
    for (int round = 0; round < YIELD_ROUNDS; round++) {
        sched_yield();
        if (look_and_try(&mx->word))
            return;
    }
    sleep_until_had(&mx->word, FUTEX_WAIT);
}

void fmutex_wake(struct fmutex *mx)
{
    syscall(SYS_futex, &mx->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void elock_lock_slow(struct elock *l)
{
    sleep_until_had(&l->word, FUTEX_WAIT_PRIVATE);
}

void elock_wake(struct elock *l)
{
    syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
