/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lockword.c - the ticket reader-writer lock word: who may enter when, first
 * come first served, shared requests together, tickets that wrap at 20 bits.
 *
 * The threaded tests start a little below the wrap, so that it happens in the
 * middle of contention.
 */
#include <pthread.h>
#include <sched.h>

#include "base/clock.h"
#include "test/support/base_helper.h"
#include "rma/win/lockword.h"
#include "test/sim/fabric.h"

/* Of each thread: as many as it does in a second. Each gives its processor away again and again,
 * and other programs may keep it for long. */
enum { ROUNDS_LEAST = 100, ROUNDS_MOST = 20000 };
enum { THREADS = 6, WRAP = 1 << 20 };

static uint64_t word_of(uint64_t next, uint64_t rserv, uint64_t wserv)
{
    return next | rserv << LOCKWORD_RSERV | wserv << LOCKWORD_WSERV;
}

static uint64_t word_at(uint32_t ticket)
{
    ticket &= WRAP - 1;
    return word_of(ticket, ticket, ticket);
}

static void test_fields(void **state)
{
    (void)state;
    const uint64_t w = LOCKWORD_YIELDED | word_of(0xabcde, 0x12345, 0xfffff);
    assert_int_equal(lockword_next(w), 0xabcde);
    assert_int_equal(lockword_rserv(w), 0x12345);
    assert_int_equal(lockword_wserv(w), 0xfffff);
    assert_true(w & LOCKWORD_YIELDED);
    /* Fields wrap, neighbours stay. */
    assert_true(lockword_count(word_of(WRAP - 1, 5, WRAP - 1), true, false, true) ==
                word_of(0, 5, 0));
    assert_true(lockword_count(word_of(7, WRAP - 1, 8), false, true, true) == word_of(7, 0, 9));
}

static uint32_t take(_Atomic uint64_t *w, bool exclusive, bool expected)
{
    bool granted = !expected;
    uint32_t ticket = lockword_take(w, exclusive, &granted);
    assert_int_equal(granted, expected);
    return ticket;
}

/* S S X S X in that order; entered in that order, the first two together. */
static void sequence(uint32_t start)
{
    _Atomic uint64_t w = word_at(start);
    uint32_t s1 = take(&w, false, true), s2 = take(&w, false, true);
    assert_true(lockword_open_to_all(&w));
    uint32_t x1 = take(&w, true, false);
    assert_true(lockword_open_to_all(&w)); /* shared holders are before it */
    uint32_t s3 = take(&w, false, false), x2 = take(&w, true, false);
    assert_int_equal(s1, start & (WRAP - 1));
    assert_int_equal(s2, (start + 1) & (WRAP - 1));
    assert_int_equal(x2, (start + 4) & (WRAP - 1));
    assert_false(lockword_enter(&w, x1, true));
    lockword_release(&w, false);
    assert_false(lockword_enter(&w, x1, true));
    assert_false(lockword_enter(&w, s3, false));
    lockword_release(&w, false);
    assert_false(lockword_open_to_all(&w)); /* its turn, whether it knows or not */
    assert_false(lockword_enter(&w, x2, true));
    assert_false(lockword_enter(&w, s3, false));
    assert_true(lockword_enter(&w, x1, true));
    assert_false(lockword_open_to_all(&w));
    lockword_release(&w, true);
    assert_false(lockword_open_to_all(&w)); /* until the next shared one has come in */
    assert_false(lockword_enter(&w, x2, true));
    assert_true(lockword_enter(&w, s3, false));
    assert_true(lockword_open_to_all(&w));
    assert_false(lockword_enter(&w, x2, true));
    lockword_release(&w, false);
    assert_false(lockword_open_to_all(&w));
    assert_true(lockword_enter(&w, x2, true));
    assert_false(lockword_open_to_all(&w));
    lockword_release(&w, true);
    assert_true(lockword_open_to_all(&w));
    assert_true(atomic_load(&w) == word_at((start + 5) & (WRAP - 1)));
}

static void test_sequence(void **state)
{
    (void)state;
    sequence(0);
    for (uint32_t start = WRAP - 7; start < WRAP; start++)
        sequence(start);
}

/* Shared requests that queued behind an exclusive one enter in a chain, each
 * letting the next in. */
static void test_shared_batch(void **state)
{
    _Atomic uint64_t w = word_at(WRAP - 3);
    uint32_t tickets[6];
    (void)state;
    take(&w, true, true);
    for (int i = 0; i < 6; i++)
        tickets[i] = take(&w, false, false);
    lockword_release(&w, true);
    assert_false(lockword_enter(&w, tickets[1], false)); /* not before its turn */
    for (int i = 0; i < 6; i++)
        assert_true(lockword_enter(&w, tickets[i], false));
    uint32_t x = take(&w, true, false);
    for (int i = 0; i < 6; i++) {
        assert_false(lockword_enter(&w, x, true));
        lockword_release(&w, false);
    }
    assert_true(lockword_enter(&w, x, true));
}

static void test_yielded_survives(void **state)
{
    _Atomic uint64_t w = word_at(WRAP - 1);
    (void)state;
    uint32_t x = take(&w, true, true);
    lockword_set_yielded(&w, true);
    assert_true(lockword_open_to_all(&w));
    uint32_t s = take(&w, false, false);
    assert_true(lockword_open_to_all(&w));
    lockword_set_yielded(&w, false);
    assert_false(lockword_open_to_all(&w));
    assert_true(lockword_enter(&w, x, true));
    lockword_set_yielded(&w, true);
    lockword_release(&w, true);
    assert_true(lockword_enter(&w, s, false));
    assert_true(atomic_load(&w) & LOCKWORD_YIELDED);
    lockword_set_yielded(&w, false);
    lockword_release(&w, false);
    assert_true(atomic_load(&w) == word_at(1));
}

/* ---- many threads ---- */

struct contest {
    _Atomic uint64_t word;
    unsigned exclusive_percent;
    _Atomic int readers, writers;
    _Atomic uint32_t most_readers;
    uint64_t a, b;   /* plain: only under the exclusive lock */
    uint32_t served; /* releases before the present exclusive holder, plain likewise */
    _Atomic uint32_t shared_served;
    uint64_t until;
    _Atomic uint32_t rounds; /* of all threads that have ended */
};

struct contestant {
    struct contest *c;
    uint64_t seed;
};

static void acquire(struct contest *c, bool exclusive, uint32_t *ticket)
{
    bool granted;
    *ticket = lockword_take(&c->word, exclusive, &granted);
    while (!granted) {
        granted = lockword_enter(&c->word, *ticket, exclusive);
        if (!granted)
            sched_yield();
    }
}

static void write_something(struct contest *c, uint32_t ticket)
{
    FABRIC_CHECK(atomic_fetch_add_explicit(&c->writers, 1, memory_order_relaxed) == 0);
    FABRIC_CHECK(atomic_load_explicit(&c->readers, memory_order_relaxed) == 0);
    FABRIC_CHECK(c->a == c->b);
    /* First come, first served: everybody with an earlier ticket has gone. */
    const uint32_t gone = c->served + atomic_load_explicit(&c->shared_served, memory_order_relaxed);
    FABRIC_CHECK((gone & (WRAP - 1)) == ticket);
    c->a++;
    sched_yield();
    c->b++;
    c->served++;
    atomic_fetch_sub_explicit(&c->writers, 1, memory_order_relaxed);
}

static void read_something(struct contest *c)
{
    const uint32_t now =
        (uint32_t)atomic_fetch_add_explicit(&c->readers, 1, memory_order_relaxed) + 1;
    uint32_t most = atomic_load_explicit(&c->most_readers, memory_order_relaxed);
    while (most < now &&
           !atomic_compare_exchange_weak_explicit(&c->most_readers, &most, now,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    FABRIC_CHECK(atomic_load_explicit(&c->writers, memory_order_relaxed) == 0);
    FABRIC_CHECK(c->a == c->b);
    sched_yield();
    FABRIC_CHECK(c->a == c->b);
    atomic_fetch_sub_explicit(&c->readers, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->shared_served, 1, memory_order_relaxed);
}

static void *contend(void *arg)
{
    struct contestant *me = arg;
    struct contest *c = me->c;
    uint32_t i = 0;
    for (; i < ROUNDS_LEAST || (i < ROUNDS_MOST && clock_monotonic_ns() < c->until); i++) {
        const bool exclusive = next_random(&me->seed) % 100 < c->exclusive_percent;
        uint32_t ticket;
        acquire(c, exclusive, &ticket);
        if (exclusive)
            write_something(c, ticket);
        else
            read_something(c);
        lockword_release(&c->word, exclusive);
    }
    atomic_fetch_add_explicit(&c->rounds, i, memory_order_relaxed);
    return NULL;
}

static void contest(unsigned exclusive_percent)
{
    const uint32_t start = WRAP - THREADS * ROUNDS_LEAST / 2;
    struct contest c = {.word = word_at(start),
                        .exclusive_percent = exclusive_percent,
                        .served = start,
                        .until = clock_monotonic_ns() + UINT64_C(1000000000)};
    struct contestant who[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        who[i] = (struct contestant){.c = &c, .seed = (uint64_t)i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, contend, &who[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(atomic_load(&c.word) == word_at(start + atomic_load(&c.rounds)));
    assert_int_equal(c.a, c.b);
    if (exclusive_percent < 100)
        assert_true(atomic_load(&c.most_readers) > 1); /* shared means shared */
}

static void test_exclusive_threads(void **state)
{
    (void)state;
    contest(100);
}

static void test_mixed_threads(void **state)
{
    (void)state;
    contest(30);
}

static void test_mostly_shared_threads(void **state)
{
    (void)state;
    contest(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_shared_batch),
        cmocka_unit_test(test_yielded_survives),
        cmocka_unit_test(test_exclusive_threads),
        cmocka_unit_test(test_mixed_threads),
        cmocka_unit_test(test_mostly_shared_threads),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("lockword", tests, NULL, NULL);
}
