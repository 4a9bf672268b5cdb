/*
 * fmutex.c - the contended paths of fmutex.h.
 *
 * A thread that has slept takes the word as 2 ("held with waiters"), since it
 * cannot know whether others sleep too; that costs one needless wake at most.
 */
#include "base/fmutex.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Long pauses on purpose: while a waiter does not look, the holder's core keeps the
 * line and locks again without a transfer, which is what gives a contended word its
 * throughput. Measured: doc/performance.md. */
enum { SPIN_ROUNDS = 20, FIRST_PAUSES = 8, MOST_PAUSES = 64, YIELD_ROUNDS = 16 };

static bool try_take(struct fmutex *mx)
{
    uint32_t free_word = 0;
    return atomic_load_explicit(&mx->word, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&mx->word, &free_word, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

void fmutex_lock_slow(struct fmutex *mx)
{
    int pauses = FIRST_PAUSES;
    for (int round = 0; round < SPIN_ROUNDS; round++) {
        for (int i = 0; i < pauses; i++)
            cpu_relax();
        if (try_take(mx))
            return;
        pauses = pauses < MOST_PAUSES ? 2 * pauses : MOST_PAUSES;
    }
    for (int round = 0; round < YIELD_ROUNDS; round++) {
        sched_yield();
        if (try_take(mx))
            return;
    }
    while (atomic_exchange_explicit(&mx->word, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &mx->word, FUTEX_WAIT, 2, NULL, NULL, 0);
}

void fmutex_wake(struct fmutex *mx)
{
    syscall(SYS_futex, &mx->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
