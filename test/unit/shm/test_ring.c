/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ring.c - the single-producer, single-consumer ring: every record arrives
 * once, whole and in order, whatever the lengths and positions; a full ring refuses;
 * who looks is a thread of its own, or a third.
 */
#include <pthread.h>

#include "test/support/ring_helper.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STEPS = 40000, MANY = 200000 };
#else
enum { STEPS = 300000, MANY = 2000000 };
#endif

static void test_empty_and_one(void **state)
{
    struct ends *e = *state;
    expect_empty(e);
    ring_send(e, 1, 13);
    assert_true(ring_has_data(&e->rx));
    ring_receive(e, 1, 13);
    expect_empty(e);
}

/* Against a model: a queue of numbers and lengths. Reserves are shortened, or
 * dropped by a commit of 0, at random; the room that a failed reserve saw must
 * really have been too small. */
static void test_random_steps(void **state)
{
    struct ends *e = *state;
    static size_t lens[RING_MOST / WORD];
    uint64_t seed = 42, sent = 0, got = 0, wraps = 0, full = 0, dropped = 0;
    for (int i = 0; i < STEPS; i++) {
        if (next_random(&seed) % 100 < 52) {
            const size_t want = random_len(&seed);
            void *at = ring_reserve(&e->tx, want);
            if (!at) {
                full++;
                /* Worst case: the record, the skipped tail before it, a line, and what has not been
                 * shown. */
                assert_true(e->tx.tail - read_position(e) + 2 * record_bytes(want) + LINE +
                                ring_step(e->bytes) >
                            e->bytes);
                continue;
            }
            assert_true((unsigned char *)at >= e->ring->bytes &&
                        (unsigned char *)at + want <= e->ring->bytes + e->bytes);
            const uint64_t r = next_random(&seed);
            const size_t len = r % 10 == 0 ? 0 : r % 3 == 0 ? 1 + r / 16 % want : want;
            ring_fill(at, sent, len);
            ring_commit(&e->tx, len);
            dropped += len == 0;
            if (len)
                lens[sent++ % (RING_MOST / WORD)] = len;
        } else if (got < sent) {
            ring_receive(e, got, lens[got % (RING_MOST / WORD)]);
            got++;
        } else {
            expect_empty(e);
        }
        wraps = e->tx.tail / e->bytes;
    }
    while (got < sent) {
        ring_receive(e, got, lens[got % (RING_MOST / WORD)]);
        got++;
    }
    expect_empty(e);
    assert_true(wraps > 20 && full > (e->bytes == RING_LEAST ? 20 : 2) && dropped > 100);
}

/* A dropped reserve leaves no trace even if it would have skipped the tail. */
static void test_zero_commit_at_the_end(void **state)
{
    struct ends *e = *state;
    uint64_t n = 0;
    while (RING_BYTES - e->tx.tail % RING_BYTES > 1024) {
        ring_send(e, n, 960 - 8);
        ring_receive(e, n++, 960 - 8);
    }
    const uint64_t tail = e->tx.tail;
    for (int i = 0; i < 3; i++) {
        assert_non_null(ring_reserve(&e->tx, CH3_PACKET_MAX));
        ring_commit(&e->tx, 0);
        assert_int_equal(e->tx.tail, tail);
        expect_empty(e);
    }
    ring_send(e, n, 24);
    assert_int_equal(e->tx.tail, tail + LINE);
    ring_receive(e, n, 24);
    expect_empty(e);
}

static void test_full(void **state)
{
    struct ends *e = *state;
    uint64_t sent = 0, got = 0;
    while (ring_reserve(&e->tx, CH3_PACKET_MAX)) {
        ring_commit(&e->tx, 0);
        ring_send(e, sent++, CH3_PACKET_MAX);
    }
    assert_int_equal(sent, e->bytes / record_bytes(CH3_PACKET_MAX));
    ring_receive(e, got++, CH3_PACKET_MAX);
    ring_receive(e, got++, CH3_PACKET_MAX);
    ring_send(e, sent++, CH3_PACKET_MAX);
    while (got < sent)
        ring_receive(e, got++, CH3_PACKET_MAX);
    expect_empty(e);
}

/* Positions start anywhere, also just below 2^64. */
static void test_position_wrap(void **state)
{
    struct ends *e = *state;
    const uint64_t start = UINT64_MAX - LINE + 1 - 5 * RING_BYTES / 2;
    uint64_t seed = 7;
    start_at(e, start);
    for (uint64_t n = 0; n < 2000; n++) {
        const size_t len = random_len(&seed);
        ring_send(e, n, len);
        ring_receive(e, n, len);
        expect_empty(e);
    }
    assert_true(e->tx.tail < start); /* it did wrap */
}

/* ---- two threads ---- */

struct stress {
    struct ends *e;
    uint64_t many;
};

static void *produce(void *arg)
{
    struct stress *s = arg;
    uint64_t seed = 99;
    for (uint64_t n = 0; n < s->many;) {
        const uint64_t r = next_random(&seed);
        const size_t want = r % 64 ? 8 + r / 64 % 64 : 8 + r / 64 % (CH3_PACKET_MAX - 8);
        unsigned char *at = ring_reserve(&s->e->tx, want);
        if (!at) {
            sched_yield();
            continue;
        }
        const size_t len = r % 50 == 7 ? 0 : r % 5 ? want : 8 + want / 2 % (want - 7);
        if (len) {
            memcpy(at, &n, 8);
            memset(at + 8, (int)(n & 0xff), len - 8);
            n++;
        }
        ring_commit(&s->e->tx, len);
    }
    return NULL;
}

static void test_two_threads(void **state)
{
    struct stress s = {*state, MANY};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &s), 0);
    for (uint64_t n = 0; n < s.many;) {
        size_t len;
        bool bad = false;
        const unsigned char *at = ring_peek(&s.e->rx, &len, &bad);
        assert_false(bad);
        if (!at) {
            sched_yield();
            continue;
        }
        uint64_t number;
        memcpy(&number, at, 8);
        assert_int_equal(number, n);
        for (size_t i = 8; i < len; i++)
            if (at[i] != (n & 0xff))
                fail_msg("record %llu torn at %zu of %zu", (unsigned long long)n, i, len);
        ring_release(&s.e->rx, len);
        n++;
    }
    pthread_join(thread, NULL);
    expect_empty(s.e);
}

/* ---- a thread that looks on ---- */

struct onlooker {
    struct stress stress;
    _Atomic uint64_t committed, taken;
    uint64_t nothing, something;
};

static void *produce_and_count(void *arg)
{
    struct onlooker *o = arg;
    uint64_t seed = 5;
    for (uint64_t n = 0; n < o->stress.many;) {
        const size_t len = n % 3000 < 1500 ? 8 : 8 + next_random(&seed) % 2000;
        unsigned char *at = ring_reserve(&o->stress.e->tx, len);
        if (!at) {
            sched_yield();
            continue;
        }
        memset(at, n & 1 ? 0 : 0xff, len); /* what is read where a word was has every appearance */
        ring_commit(&o->stress.e->tx, len);
        atomic_store_explicit(&o->committed, ++n, memory_order_release);
    }
    return NULL;
}

static void *take_and_count(void *arg)
{
    struct onlooker *o = arg;
    for (uint64_t n = 0; n < o->stress.many;) {
        size_t len;
        bool bad = false;
        if (!ring_peek(&o->stress.e->rx, &len, &bad)) {
            assert_false(bad);
            sched_yield();
            continue;
        }
        atomic_store_explicit(&o->taken, ++n, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        ring_release(&o->stress.e->rx, len);
    }
    return NULL;
}

/* Who finds nothing may rely on it: what was committed before has been taken. */
static void test_onlooker(void **state)
{
    struct onlooker o = {.stress = {*state, MANY / 4}};
    pthread_t producer, consumer;
    assert_int_equal(pthread_create(&producer, NULL, produce_and_count, &o), 0);
    assert_int_equal(pthread_create(&consumer, NULL, take_and_count, &o), 0);
    while (atomic_load(&o.taken) < o.stress.many) {
        const uint64_t committed = atomic_load_explicit(&o.committed, memory_order_acquire);
        const bool data = ring_has_data(&o.stress.e->rx);
        const uint64_t taken = atomic_load_explicit(&o.taken, memory_order_acquire);
        o.nothing += !data;
        o.something += data;
        if (!data && taken < committed)
            fail_msg("%llu committed, %llu taken, and nothing seen", (unsigned long long)committed,
                     (unsigned long long)taken);
    }
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    expect_empty(*state);
    assert_true(o.nothing + o.something > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING_TEST(test_empty_and_one),
        RING_TEST(test_random_steps),
        RING_TEST_MOST(test_random_steps),
        RING_TEST(test_zero_commit_at_the_end),
        RING_TEST(test_full),
        RING_TEST_MOST(test_full),
        RING_TEST(test_position_wrap),
        RING_TEST(test_two_threads),
        RING_TEST(test_onlooker),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
