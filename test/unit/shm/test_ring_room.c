/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ring_room.c - a producer without room: the consumer knows that it waits, and tells
 * it in time, neither too often nor never.
 */
#include <pthread.h>

#include "test/support/ring_helper.h"
#include "sys/futex_event.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STEPS = 5000, MANY = 20000 };
#else
enum { STEPS = 37500, MANY = 200000 };
#endif

static void test_starved(void **state)
{
    struct ends *e = *state;
    const size_t len = CH3_PACKET_MAX;
    uint64_t sent = 0, received = 0;
    while (received < 10) {
        ring_send(e, sent++, len);
        ring_receive(e, received++, len);
        assert_false(ring_starved(&e->rx)); /* the head has moved, but nobody waits */
    }
    for (int round = 0; round < 100; round++) {
        while (ring_reserve(&e->tx, len))
            ring_send(e, sent++, len);
        assert_false(ring_starved(&e->rx)); /* nothing new to tell */
        ring_receive(e, received++, len); /* room again, or just not where the next record begins */
        assert_true(ring_starved(&e->rx));
        assert_false(ring_starved(&e->rx));
    }
}

/* The consumer's position moves for the producer in steps, which then must be told. */
static void test_starved_by_steps(void **state)
{
    struct ends *e = *state;
    uint64_t sent = 0, received = 0;
    while (ring_reserve(&e->tx, 8))
        ring_send(e, sent++, 8);
    assert_int_equal(sent, RING_LINES - 1);
    for (int round = 0; round < 20; round++) {
        for (unsigned i = 1; i <= RING_SHOWN / LINE; i++) {
            assert_null(ring_reserve(&e->tx, 8));
            ring_receive(e, received++, 8);
            assert_int_equal(ring_starved(&e->rx), i == RING_SHOWN / LINE);
        }
        for (unsigned i = 1; i <= RING_SHOWN / LINE; i++)
            ring_send(e, sent++, 8);
    }
}

/* Whatever the lengths: who waits for room has been told before all is read. */
static void test_told_in_time(void **state)
{
    struct ends *e = *state;
    static size_t lens[RING_LINES_MOST];
    uint64_t seed = 3, sent = 0, got = 0, waits = 0;
    size_t want = random_len(&seed);
    bool waiting = false;
    for (int i = 0; i < STEPS; i++) {
        while (!waiting) {
            waiting = !ring_reserve(&e->tx, want);
            waits += waiting;
            if (waiting)
                break;
            ring_send(e, sent, want);
            lens[sent++ % RING_LINES_MOST] = want;
            want = random_len(&seed);
            if (next_random(&seed) % 16 == 0)
                break;
        }
        for (uint64_t burst = 1 + next_random(&seed) % 64; burst && got < sent; burst--, got++)
            ring_receive(e, got, lens[got % RING_LINES_MOST]);
        if (ring_starved(&e->rx))
            waiting = false;
        assert_false(waiting && got == sent);
    }
    assert_true(waits > (e->bytes == RING_LEAST ? 100 : 2));
}

/* Both sleep without a limit and rely on each other alone: a wake that is lost, of data or
 * of room, ends in the watchdog. */
struct sleepers {
    struct ends *e;
    uint64_t many, waits;
    struct event room, data;
};

static void *produce_and_sleep(void *arg)
{
    struct sleepers *s = arg;
    uint64_t seed = 7;
    for (uint64_t n = 0; n < s->many; n++) {
        const size_t len = 8 + next_random(&seed) % (CH3_PACKET_MAX - 8);
        unsigned char *at = ring_reserve(&s->e->tx, len);
        while (!at) {
            const uint32_t ticket = event_enter(&s->room);
            at = ring_reserve(&s->e->tx, len);
            if (!at) {
                s->waits++;
                event_sleep(&s->room, ticket, 0);
            }
            event_leave(&s->room);
        }
        memcpy(at, &n, 8);
        ring_commit(&s->e->tx, len);
        event_notify(&s->data, EVENT_NO_POLL);
    }
    return NULL;
}

/* Up to a burst, as the channel does; true: something was there. */
static bool take_burst(struct sleepers *s, uint64_t *n)
{
    const uint64_t before = *n;
    for (int i = 0; i < 64 && *n < s->many; i++) {
        size_t len;
        bool bad = false;
        const unsigned char *at = ring_peek(&s->e->rx, &len, &bad);
        assert_false(bad);
        if (!at)
            break;
        uint64_t number;
        memcpy(&number, at, 8);
        assert_int_equal(number, *n);
        ring_release(&s->e->rx, len);
        ++*n;
    }
    if (*n != before && ring_starved(&s->e->rx))
        event_notify(&s->room, EVENT_NO_POLL);
    return *n != before;
}

static void test_sleepers(void **state)
{
    struct sleepers s = {.e = *state, .many = MANY};
    pthread_t thread;
    event_init(&s.room);
    event_init(&s.data);
    assert_int_equal(pthread_create(&thread, NULL, produce_and_sleep, &s), 0);
    for (uint64_t n = 0; n < s.many;) {
        if (take_burst(&s, &n))
            continue;
        const uint32_t ticket = event_enter(&s.data);
        if (!take_burst(&s, &n))
            event_sleep(&s.data, ticket, 0);
        event_leave(&s.data);
    }
    pthread_join(thread, NULL);
    assert_true(s.waits > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING_TEST(test_starved),      RING_TEST(test_starved_by_steps),
        RING_TEST(test_told_in_time), RING_TEST_MOST(test_told_in_time),
        RING_TEST(test_sleepers),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("ring room", tests, NULL, NULL);
}
