/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_holders.c - who held locks that exclude another one, beside a search through all of them,
 * and that a lock which is held for the whole run does not make each of the others look at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../holders.h"

enum { LOCKS = 60, ROUNDS = 300, MANY = 1 << 18 };
#define CPU_SECONDS 10.0 /* many times what is needed, and a small part of a search through all */

static unsigned seed;

static unsigned pick(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

static struct lock_use random_lock(void)
{
    struct lock_use lock = {.rank = pick(4), .win = pick(2), .target = pick(3)};

    lock.request = 1 + pick(100);
    lock.acquire = lock.request + pick(60);
    lock.release = lock.acquire + pick(3) * pick(60);
    lock.exclusive = pick(2) == 0;
    lock.nocheck = pick(12) == 0;
    if (lock.target == 2)
        lock.target = NONE;
    if (pick(12) == 0)
        lock.release = 0;
    return lock;
}

/* Does a exclude b while that is awaited? */
static bool excludes(const struct lock_use *a, const struct lock_use *b, uint64_t before)
{
    return a->release >= a->acquire && a->release > b->request && a->acquire < before &&
           !a->nocheck && a->win == b->win && a->rank != b->rank &&
           (a->exclusive || b->exclusive) &&
           (a->target == b->target || a->target == NONE || b->target == NONE);
}

/* What is returned is what a search through all locks finds, each once, in order of release. */
static void check(const struct trace *trace, const struct holders *holders,
                  const struct lock_use *lock)
{
    bool returned[LOCKS] = {false};
    uint64_t before = lock->acquire, release = UINT64_MAX;
    const struct lock_use *found;
    struct excluders excluders;

    excluders_begin(&excluders, holders, lock);
    do {
        uint64_t last = 0;

        found = excluders_next(&excluders, before);
        for (size_t i = 0; i < trace->nlocks; i++)
            if (!returned[i] && excludes(&trace->lock[i], lock, before))
                last = u64_max(last, trace->lock[i].release);
        assert_int_equal(found ? found->release : 0, last);
        if (!found)
            break;
        assert_true(excludes(found, lock, before) && found->release <= release);
        assert_false(returned[found - trace->lock]);
        returned[found - trace->lock] = true;
        release = found->release;
        before -= pick(3) == 0 && before > 0;
    } while (found);
}

static void all_are_found(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct lock_use lock[LOCKS];
        struct trace trace = {.lock = lock, .nlocks = pick(LOCKS + 1)};
        struct holders holders;

        for (size_t i = 0; i < trace.nlocks; i++)
            lock[i] = random_lock();
        holders_begin(&holders, &trace);
        for (size_t i = 0; i < trace.nlocks; i++)
            check(&trace, &holders, &lock[i]);
        holders_end(&holders);
    }
}

/* A lock on all targets is held by rank 1 from begin to end, as by many programs, while the others
 * get shared locks of one target, and exclusive ones of another without a check. */
static void one_is_held_throughout(void **state)
{
    struct trace trace = {.lock = zalloc(MANY, sizeof *trace.lock), .nlocks = MANY};
    struct holders holders;
    size_t n = 0;

    (void)state;
    trace.lock[0] = (struct lock_use){
        .request = 1, .acquire = 2, .release = 9u * MANY, .rank = 1, .target = NONE};
    for (uint32_t i = 1; i < MANY; i++)
        trace.lock[i] = (struct lock_use){.request = 8u * i,
                                          .acquire = 8u * i + 1,
                                          .release = 8u * i + 2,
                                          .target = i % 2,
                                          .exclusive = i % 2,
                                          .nocheck = i % 2};
    const clock_t begin = clock();
    holders_begin(&holders, &trace);
    for (size_t i = 0; i < trace.nlocks; i++) {
        struct excluders excluders;

        excluders_begin(&excluders, &holders, &trace.lock[i]);
        while (excluders_next(&excluders, trace.lock[i].acquire))
            n++;
    }
    holders_end(&holders);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < CPU_SECONDS);
    assert_int_equal(n, MANY / 2); /* the exclusive ones would have waited for the first */
    free(trace.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_found),
        cmocka_unit_test(one_is_held_throughout),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
