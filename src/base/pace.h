/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pace.h - lets only some of the calls or rounds of a loop look at the clock.
 *
 * An action that is due after a time must not wait for a number of calls: a program that calls a
 * thousand times a second would wait a thousand times as long as one that calls a million times.
 * But a look at the clock costs as much as a short call. So after each look so many calls pass
 * without a look as fit into the time until the next action is due, if calls last as long as the
 * last ones have lasted.
 *
 * No locks. Threads may lose each other's counts, and look a little early or late; no other data
 * depends on them.
 */
#ifndef MRMA_BASE_PACE_H
#define MRMA_BASE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: the next call looks. */
struct pace {
    uint64_t clocked_at; /* the last look */
    int32_t left;        /* how many calls pass without a look from now on; below 0: none */
    int32_t given;       /* how many calls were to pass after the last look */
};

/* pace_due counts a call, and returns whether that call has to look at the clock and then to call
 * pace_next. */
static inline bool pace_due(struct pace *p)
{
    const int32_t left = __atomic_load_n(&p->left, __ATOMIC_RELAXED) - 1;
    __atomic_store_n(&p->left, left, __ATOMIC_RELAXED);
    return __builtin_expect(left < 0, 0);
}

/* pace_due_alone is pace_due where no other thread calls. */
static inline bool pace_due_alone(struct pace *p)
{
    return __builtin_expect(--p->left < 0, 0);
}

/* pace_next is called at each look. now is the time; the next look is to come at due_at, but after
 * no fewer than least and no more than most calls without a look. */
static inline void pace_next(struct pace *p, uint64_t now, uint64_t due_at, int32_t least,
                             int32_t most)
{
    const uint64_t passed = now - __atomic_load_n(&p->clocked_at, __ATOMIC_RELAXED);
    const int32_t given = __atomic_load_n(&p->given, __ATOMIC_RELAXED);
    const uint64_t call = passed / ((uint64_t)given + 1) + 1;
    const uint64_t calls = now < due_at ? (due_at - now) / call : 0;
    const int32_t next = calls > (uint64_t)most    ? most
                         : calls < (uint64_t)least ? least
                                                   : (int32_t)calls;
    __atomic_store_n(&p->clocked_at, now, __ATOMIC_RELAXED);
    __atomic_store_n(&p->given, next, __ATOMIC_RELAXED);
    __atomic_store_n(&p->left, next, __ATOMIC_RELAXED);
}

#endif
