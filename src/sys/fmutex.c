/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fmutex.c - the contended paths of fmutex.h.
 *
 * A thread that has slept takes the word with the mark for waiters set, since it cannot know
 * whether others sleep, too; that costs one needless wake at most. fmutex.h has the argument about
 * order. Neighbour: procstart.c, which says whether a holder lives.
 */
#include "sys/fmutex.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/procstart.h"

/* Long pauses on purpose: while a waiter does not look, the holder's core keeps the
 * line and locks again without a transfer, which is what gives a contended word its
 * throughput (doc/decisions.md). */
enum { SPIN_ROUNDS = 20, FIRST_PAUSES = 8, MOST_PAUSES = 64, YIELD_ROUNDS = 16 };

/* How long a waiter sleeps before it asks whether the holder lives. */
enum { SLEEP_NS = 250000000 };

/* The half of the word that a waiter sleeps on: it has the mark and the process id. */
static uint32_t *futex_of(struct fmutex *mx)
{
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lower half comes first");
    return (uint32_t *)(void *)&mx->word;
}

uint64_t fmutex_self(uint64_t started)
{
    return started << 32 | (uint32_t)getpid();
}

static bool look_and_try(struct fmutex *mx, uint64_t self)
{
    return !atomic_load_explicit(&mx->word, memory_order_relaxed) && fmutex_try(mx, self);
}

static bool holder_lives(uint64_t word)
{
    int fd = -1;
    const bool lives =
        procstart_lives((int)(word & (FMUTEX_WAITERS - 1)), (uint32_t)(word >> 32), &fd);
    if (fd >= 0)
        close(fd);
    return lives;
}

static bool change(struct fmutex *mx, uint64_t from, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(&mx->word, &from, to, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* sleep_and_try waits one round for the holder that word names. True: this process has the mutex
 * now. */
static bool sleep_and_try(struct fmutex *mx, uint64_t self, uint64_t word)
{
    const struct timespec limit = {.tv_nsec = SLEEP_NS};
    if (!word)
        return change(mx, 0, self | FMUTEX_WAITERS);
    if (!(word & FMUTEX_WAITERS) && !change(mx, word, word | FMUTEX_WAITERS))
        return false;
    word |= FMUTEX_WAITERS;
    if (syscall(SYS_futex, futex_of(mx), FUTEX_WAIT, (uint32_t)word, &limit, NULL, 0) == 0 ||
        errno != ETIMEDOUT)
        return false;
    return atomic_load_explicit(&mx->word, memory_order_relaxed) == word && !holder_lives(word) &&
           change(mx, word, self | FMUTEX_WAITERS);
}

void fmutex_lock_slow(struct fmutex *mx, uint64_t self)
{
    int pauses = FIRST_PAUSES;
    for (int round = 0; round < SPIN_ROUNDS; round++) {
        for (int i = 0; i < pauses; i++)
            cpu_relax();
        if (look_and_try(mx, self))
            return;
        pauses = pauses < MOST_PAUSES ? 2 * pauses : MOST_PAUSES;
    }
    for (int round = 0; round < YIELD_ROUNDS; round++) {
        sched_yield();
        if (look_and_try(mx, self))
            return;
    }
    while (!sleep_and_try(mx, self, atomic_load_explicit(&mx->word, memory_order_relaxed)))
        ;
}

void fmutex_wake(struct fmutex *mx)
{
    syscall(SYS_futex, futex_of(mx), FUTEX_WAKE, 1, NULL, NULL, 0);
}

void elock_lock_slow(struct elock *l)
{
    while (atomic_exchange_explicit(&l->word, FWORD_WAITERS, memory_order_acquire) != FWORD_FREE)
        syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, FWORD_WAITERS, NULL, NULL, 0);
}

void elock_wake(struct elock *l)
{
    syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
