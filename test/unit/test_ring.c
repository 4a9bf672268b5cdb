/*
 * test_ring.c - the single-producer, single-consumer ring: every record arrives
 * once, whole and in order, whatever the lengths; a full ring refuses; a ring
 * that a peer has corrupted is refused and nothing outside it is read.
 *
 * Records carry their number and a pattern made from it, so that a mixed-up or
 * torn one is seen.
 */
#include <pthread.h>

#include "base/event.h"
#include "base_helper.h"
#include "ch3/channel.h"
#include "shm/ring.h"
#include "../sim/fabric.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STEPS = 40000, MANY = 200000 };
#else
enum { STEPS = 300000, MANY = 2000000 };
#endif
enum { WORD = 8 };

struct ends {
    struct ring *ring;
    struct ring_tx tx;
    struct ring_rx rx;
};

static int setup(void **state)
{
    struct ends *e = calloc(1, sizeof *e);
    e->ring = aligned_alloc(MRMA_CACHE_LINE, sizeof *e->ring);
    memset(e->ring, 0, sizeof *e->ring);
    ring_tx_init(&e->tx, e->ring);
    ring_rx_init(&e->rx, e->ring);
    *state = e;
    return 0;
}

static int teardown(void **state)
{
    struct ends *e = *state;
    free(e->ring);
    free(e);
    return 0;
}

static unsigned char pattern(uint64_t number, size_t i)
{
    return (unsigned char)(number * 31 + i * 7 + (i >> 8));
}

static void fill(unsigned char *at, uint64_t number, size_t len)
{
    for (size_t i = 0; i < len; i++)
        at[i] = pattern(number, i);
}

static bool filled(const unsigned char *at, uint64_t number, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (at[i] != pattern(number, i))
            return false;
    return true;
}

static size_t random_len(uint64_t *seed)
{
    const uint64_t r = next_random(seed);
    switch (r % 8) {
    case 0:
        return 1 + (r >> 8) % 8;
    case 1:
        return CH3_PACKET_MAX - (r >> 8) % 9;
    case 2:
        return 1 + (r >> 8) % CH3_PACKET_MAX;
    default:
        return 1 + (r >> 8) % 200;
    }
}

static void send(struct ends *e, uint64_t number, size_t len)
{
    void *at = ring_reserve(&e->tx, len);
    assert_non_null(at);
    assert_int_equal((uintptr_t)at % 8, 0);
    fill(at, number, len);
    ring_commit(&e->tx, len);
}

static void receive(struct ends *e, uint64_t number, size_t expected)
{
    size_t len = 0;
    bool bad = false;
    const void *at = ring_peek(&e->rx, &len, &bad);
    assert_non_null(at);
    assert_false(bad);
    assert_int_equal(len, expected);
    assert_true(filled(at, number, len));
    ring_release(&e->rx, len);
}

static void expect_empty(struct ends *e)
{
    size_t len;
    bool bad = false;
    assert_null(ring_peek(&e->rx, &len, &bad));
    assert_false(bad);
    assert_false(ring_has_data(e->ring));
}

static void test_empty_and_one(void **state)
{
    struct ends *e = *state;
    expect_empty(e);
    send(e, 1, 13);
    assert_true(ring_has_data(e->ring));
    receive(e, 1, 13);
    expect_empty(e);
}

/* Against a model: a queue of numbers and lengths. Reserves are shortened, or
 * dropped by a commit of 0, at random; the room that a failed reserve saw must
 * really have been too small. */
static void test_random_steps(void **state)
{
    struct ends *e = *state;
    static size_t lens[RING_BYTES / WORD];
    uint64_t seed = 42, sent = 0, got = 0, wraps = 0, full = 0, dropped = 0;
    for (int i = 0; i < STEPS; i++) {
        if (next_random(&seed) % 100 < 52) {
            const size_t want = random_len(&seed);
            void *at = ring_reserve(&e->tx, want);
            if (!at) {
                full++;
                /* Worst case: the record and the skipped tail before it. */
                assert_true(e->tx.tail - e->rx.head + 2 * (WORD + want + 7) > RING_BYTES);
                continue;
            }
            assert_true((unsigned char *)at >= e->ring->bytes &&
                        (unsigned char *)at + want <= e->ring->bytes + RING_BYTES);
            const uint64_t r = next_random(&seed);
            const size_t len = r % 10 == 0 ? 0 : r % 3 == 0 ? 1 + r / 16 % want : want;
            fill(at, sent, len);
            ring_commit(&e->tx, len);
            dropped += len == 0;
            if (len)
                lens[sent++ % (RING_BYTES / WORD)] = len;
        } else if (got < sent) {
            receive(e, got, lens[got % (RING_BYTES / WORD)]);
            got++;
        } else {
            expect_empty(e);
        }
        wraps = e->tx.tail / RING_BYTES;
    }
    while (got < sent) {
        receive(e, got, lens[got % (RING_BYTES / WORD)]);
        got++;
    }
    expect_empty(e);
    assert_true(wraps > 20 && full > 20 && dropped > 100);
}

/* A dropped reserve leaves no trace even if it would have skipped the tail. */
static void test_zero_commit_at_the_end(void **state)
{
    struct ends *e = *state;
    uint64_t n = 0;
    while (RING_BYTES - e->tx.tail % RING_BYTES > 1024) {
        send(e, n, 1016 - 8);
        receive(e, n++, 1016 - 8);
    }
    const uint64_t tail = e->tx.tail;
    for (int i = 0; i < 3; i++) {
        assert_non_null(ring_reserve(&e->tx, CH3_PACKET_MAX));
        ring_commit(&e->tx, 0);
        assert_int_equal(e->tx.tail, tail);
        expect_empty(e);
    }
    send(e, n, 24);
    assert_int_equal(e->tx.tail, tail + 32);
    receive(e, n, 24);
    expect_empty(e);
}

static void test_full(void **state)
{
    struct ends *e = *state;
    uint64_t sent = 0, got = 0;
    while (ring_reserve(&e->tx, CH3_PACKET_MAX)) {
        ring_commit(&e->tx, 0);
        send(e, sent++, CH3_PACKET_MAX);
    }
    assert_int_equal(sent, RING_BYTES / (CH3_PACKET_MAX + WORD));
    receive(e, got++, CH3_PACKET_MAX);
    receive(e, got++, CH3_PACKET_MAX);
    send(e, sent++, CH3_PACKET_MAX);
    while (got < sent)
        receive(e, got++, CH3_PACKET_MAX);
    expect_empty(e);
}

/* Positions start anywhere, also just below 2^64. */
static void test_position_wrap(void **state)
{
    struct ends *e = *state;
    const uint64_t start = UINT64_MAX - 7 - 5 * RING_BYTES / 2 / WORD * WORD;
    uint64_t seed = 7;
    e->tx.tail = e->tx.head = e->rx.head = e->rx.tail = start;
    atomic_store(&e->ring->tail, start);
    atomic_store(&e->ring->head, start);
    for (uint64_t n = 0; n < 2000; n++) {
        const size_t len = random_len(&seed);
        send(e, n, len);
        receive(e, n, len);
    }
    expect_empty(e);
    assert_true(e->tx.tail < start); /* it did wrap */
}

/* ---- corrupt rings: what a hostile or dying producer could leave ---- */

static void expect_bad(struct ends *e)
{
    for (int i = 0; i < 3; i++) { /* and it stays so */
        size_t len = 12345;
        bool bad = false;
        assert_null(ring_peek(&e->rx, &len, &bad));
        assert_true(bad);
    }
}

static void publish(struct ends *e, uint64_t at, uint64_t word, uint64_t tail)
{
    memcpy(e->ring->bytes + at % RING_BYTES, &word, sizeof word);
    e->rx.head = e->rx.tail = at;
    atomic_store(&e->ring->head, at);
    atomic_store(&e->ring->tail, tail);
}

static void test_corrupt(void **state)
{
    struct ends *e = *state;
    const struct {
        uint64_t at, word, tail;
    } cases[] = {
        {0, 0, 64},                          /* no length */
        {0, CH3_PACKET_MAX + 1, RING_BYTES}, /* longer than any packet */
        {0, UINT64_MAX - 1, RING_BYTES},
        {0, UINT64_MAX - 7, RING_BYTES}, /* would overflow when padded */
        {0, UINT64_C(1) << 63, RING_BYTES},
        {0, 64, 64}, /* ends behind the tail */
        {0, 57, 64},
        {0, 8, 8},
        {0, 1, 1},                                /* less than a word published */
        {RING_BYTES - 64, 64, RING_BYTES + 4096}, /* crosses the end */
        {RING_BYTES - 8, 1, RING_BYTES + 4096},
        {0, 64, RING_BYTES + 8},                   /* more published than fits */
        {4096, 64, 0},                             /* tail behind head */
        {RING_BYTES - 64, UINT64_MAX, RING_BYTES}, /* a skip and nothing behind it */
        {RING_BYTES - 64, UINT64_MAX, RING_BYTES - 56},
        {0, UINT64_MAX, RING_BYTES}, /* a skip of the whole ring */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(e->ring->bytes, 0, RING_BYTES);
        publish(e, cases[i].at, cases[i].word, cases[i].tail);
        expect_bad(e);
    }
    memset(e->ring->bytes, 0xff, RING_BYTES); /* nothing but skips: ends */
    publish(e, 64, UINT64_MAX, UINT64_MAX / 2);
    expect_bad(e);
}

/* The consumer's position is not trusted either: never more room than the ring. */
static void test_corrupt_head(void **state)
{
    struct ends *e = *state;
    uint64_t n = 0;
    while (ring_reserve(&e->tx, 1024)) {
        ring_commit(&e->tx, 0);
        send(e, n++, 1024);
    }
    const uint64_t heads[] = {e->tx.tail + 8, e->tx.tail + RING_BYTES, UINT64_MAX, UINT64_MAX - RING_BYTES};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        atomic_store(&e->ring->head, heads[i]);
        unsigned char *at = ring_reserve(&e->tx, 1024);
        assert_true(!at || (at >= e->ring->bytes && at + 1024 <= e->ring->bytes + RING_BYTES));
    }
}

/* An impossible one is noticed, and there is no room from then on. */
static void test_impossible_head(void **state)
{
    struct ends *e = *state;
    const int64_t off[] = {1, 8, RING_BYTES, INT64_MAX, -(int64_t)RING_BYTES - 8, INT64_MIN};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        memset(e->ring, 0, sizeof *e->ring);
        ring_tx_init(&e->tx, e->ring);
        for (uint64_t n = 0; ring_reserve(&e->tx, 1024); n++) {
            ring_commit(&e->tx, 0);
            send(e, n, 1024);
        }
        assert_false(e->tx.bad); /* full is not bad */
        atomic_store(&e->ring->head, e->tx.tail + (uint64_t)off[i]);
        for (int k = 0; k < 3; k++) {
            assert_null(ring_reserve(&e->tx, 8));
            assert_true(e->tx.bad);
        }
        atomic_store(&e->ring->head, e->tx.tail);
        assert_null(ring_reserve(&e->tx, 8));
    }
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

/* ---- a producer without room ---- */

static void test_starved(void **state)
{
    struct ends *e = *state;
    const size_t len = CH3_PACKET_MAX;
    uint64_t sent = 0, received = 0;
    assert_false(ring_starved(&e->rx));
    for (int round = 0; round < 100; round++) {
        while (ring_reserve(&e->tx, len))
            send(e, sent++, len);
        assert_null(ring_reserve(&e->tx, len));
        assert_true(ring_starved(&e->rx));
        assert_false(ring_starved(&e->rx));
        receive(e, received++, len); /* room again, or just not where the next record begins */
        if (!ring_reserve(&e->tx, len))
            assert_true(ring_starved(&e->rx));
        else
            assert_false(ring_starved(&e->rx));
    }
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
        event_notify(&s->data);
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
        event_notify(&s->room);
    return *n != before;
}

static void test_sleepers(void **state)
{
    struct sleepers s = {.e = *state, .many = MANY / 10};
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

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING_TEST(test_empty_and_one), RING_TEST(test_random_steps),  RING_TEST(test_zero_commit_at_the_end),
        RING_TEST(test_full),          RING_TEST(test_position_wrap), RING_TEST(test_corrupt),
        RING_TEST(test_corrupt_head),  RING_TEST(test_impossible_head), RING_TEST(test_two_threads),
        RING_TEST(test_starved),       RING_TEST(test_sleepers),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
