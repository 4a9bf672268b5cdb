/*
 * test_ring.c - the single-producer, single-consumer ring: every record arrives
 * once, whole and in order, whatever the lengths; a full ring refuses; a ring
 * that a peer has corrupted is refused and nothing outside it is read; what was written
 * in an earlier lap is never taken for a record of this one.
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
enum { WORD = 8, LINE = MRMA_CACHE_LINE, SKIP = RING_BYTES - 1 };

/* Whole lines. */
static size_t record_bytes(size_t len)
{
    return (WORD + len + LINE - 1) / LINE * LINE;
}

struct ends {
    struct ring *ring;
    struct ring_tx tx;
    struct ring_rx rx;
};

static uint64_t lap_of(uint64_t pos)
{
    return pos / RING_BYTES * RING_BYTES;
}

/* An empty ring, of memory that was something else before: in each line the word of a record at
 * that place, in one of the first laps. */
static void empty(struct ends *e)
{
    memset(e->ring, 0xff, sizeof *e->ring);
    for (uint64_t at = 0; at < RING_BYTES; at += LINE) {
        const uint64_t word = at / LINE % 4 * RING_BYTES + 8;
        memcpy(e->ring->bytes + at, &word, sizeof word);
    }
    ring_tx_init(&e->tx, e->ring);
    ring_rx_init(&e->rx, e->ring);
}

static uint64_t read_position(const struct ends *e)
{
    return atomic_load(&e->rx.head);
}

static int setup(void **state)
{
    struct ends *e = calloc(1, sizeof *e);
    e->ring = aligned_alloc(MRMA_CACHE_LINE, sizeof *e->ring);
    empty(e);
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
    assert_int_equal((uintptr_t)at % LINE, WORD);
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
    assert_false(ring_has_data(&e->rx));
}

static void test_empty_and_one(void **state)
{
    struct ends *e = *state;
    expect_empty(e);
    send(e, 1, 13);
    assert_true(ring_has_data(&e->rx));
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
                /* Worst case: the record, the skipped tail before it, a line, and what has not been shown. */
                assert_true(e->tx.tail - read_position(e) + 2 * record_bytes(want) + LINE + RING_SHOWN > RING_BYTES);
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
        send(e, n, 960 - 8);
        receive(e, n++, 960 - 8);
    }
    const uint64_t tail = e->tx.tail;
    for (int i = 0; i < 3; i++) {
        assert_non_null(ring_reserve(&e->tx, CH3_PACKET_MAX));
        ring_commit(&e->tx, 0);
        assert_int_equal(e->tx.tail, tail);
        expect_empty(e);
    }
    send(e, n, 24);
    assert_int_equal(e->tx.tail, tail + LINE);
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
    assert_int_equal(sent, RING_BYTES / record_bytes(CH3_PACKET_MAX));
    receive(e, got++, CH3_PACKET_MAX);
    receive(e, got++, CH3_PACKET_MAX);
    send(e, sent++, CH3_PACKET_MAX);
    while (got < sent)
        receive(e, got++, CH3_PACKET_MAX);
    expect_empty(e);
}

/* Both ends go on from this position, as if they had come there. */
static void start_at(struct ends *e, uint64_t pos)
{
    empty(e);
    e->tx.tail = e->tx.head = e->rx.shown = e->rx.looked = pos;
    atomic_store(&e->rx.head, pos);
    atomic_store(&e->ring->head, pos);
    memset(e->ring->bytes + pos % RING_BYTES, 0, WORD);
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
        send(e, n, len);
        receive(e, n, len);
        expect_empty(e);
    }
    assert_true(e->tx.tail < start); /* it did wrap */
}

/* ---- what earlier laps have left ---- */

/* Packets whose every word looks like that of a good record at its place, in the lap when it may
 * be looked at next or in the one now: whatever follows them, nothing is taken for a record. */
static void fill_with_words(struct ends *e, void *room, size_t len, uint64_t laps_ahead)
{
    unsigned char *at = room;
    for (size_t i = 0; i + WORD <= len; i += WORD) {
        const uint64_t place = (uint64_t)(at + i - e->ring->bytes);
        const uint64_t word = lap_of(e->tx.reserved) + laps_ahead * RING_BYTES + (place % (2 * LINE) ? 8 : SKIP);
        memcpy(at + i, &word, sizeof word);
    }
}

static void test_packets_like_words(void **state)
{
    struct ends *e = *state;
    uint64_t seed = 11;
    for (int i = 0; i < STEPS; i++) {
        const size_t want = random_len(&seed);
        const uint64_t r = next_random(&seed);
        const size_t len = r % 8 == 0 ? 0 : r % 3 == 0 ? 1 + r / 16 % want : want;
        void *room = ring_reserve(&e->tx, want);
        assert_non_null(room); /* what was read and is not shown does not matter, for any length */
        fill_with_words(e, room, want, r >> 32 & 1);
        ring_commit(&e->tx, len);
        size_t got = 0;
        bool bad = false;
        const void *packet = ring_peek(&e->rx, &got, &bad);
        assert_false(bad);
        if (len) {
            assert_ptr_equal(packet, room);
            assert_int_equal(got, len);
            assert_true(ring_has_data(&e->rx));
            ring_release(&e->rx, len);
        }
        expect_empty(e);
    }
    assert_true(e->tx.tail / RING_BYTES > 100);
}

/* The word of the last record here, one lap ago, and of older ones: none of them is a record,
 * though nothing was cleared. */
static void test_last_lap(void **state)
{
    struct ends *e = *state;
    for (uint64_t n = 0; n < 3 * RING_LINES; n++) {
        if (n >= RING_LINES) {
            uint64_t word;
            memcpy(&word, e->ring->bytes + e->tx.tail % RING_BYTES, sizeof word);
            assert_int_equal(word, lap_of(e->tx.tail) - RING_BYTES + 24);
        }
        expect_empty(e);
        send(e, n, 24);
        receive(e, n, 24);
    }
    for (uint64_t lap = 0; lap < 4; lap++) {
        start_at(e, 3 * RING_BYTES + 5 * LINE);
        const uint64_t word = lap * RING_BYTES + 24;
        memcpy(e->ring->bytes + 5 * LINE, &word, sizeof word);
        size_t len;
        bool bad = false;
        assert_int_equal(ring_peek(&e->rx, &len, &bad) != NULL, lap == 3);
        assert_false(bad);
    }
}

/* A short record is one line, and neither end's position moves in shared memory for it. */
static void test_one_line(void **state)
{
    struct ends *e = *state;
    unsigned char *before = aligned_alloc(LINE, sizeof *e->ring), *now = (unsigned char *)e->ring;
    uint64_t shown = 0;
    for (uint64_t n = 0; n < 2 * RING_LINES; n++) {
        const uint64_t at = e->tx.tail % RING_BYTES;
        memcpy(before, now, sizeof *e->ring);
        send(e, n, LINE - WORD);
        receive(e, n, LINE - WORD);
        shown += atomic_load(&e->ring->head) == e->tx.tail;
        const size_t line = offsetof(struct ring, bytes) + at, next = line + LINE;
        if (e->tx.tail % RING_SHOWN) /* at a step the head moves, too */
            assert_memory_equal(before, now, line);
        if (e->tx.tail > RING_BYTES) /* in the first lap the next word is cleared */
            assert_memory_equal(before + next, now + next, sizeof *e->ring - next);
    }
    assert_int_equal(shown, 2 * RING_BYTES / RING_SHOWN);
    free(before);
}

/* ---- corrupt rings: what a hostile or dying producer could leave ---- */

static void expect_bad(struct ends *e)
{
    assert_true(ring_has_data(&e->rx)); /* so that somebody looks */
    for (int i = 0; i < 3; i++) { /* and it stays so */
        size_t len = 12345;
        bool bad = false;
        assert_null(ring_peek(&e->rx, &len, &bad));
        assert_true(bad);
    }
}

static void publish(struct ends *e, uint64_t at, uint64_t word)
{
    start_at(e, at);
    memcpy(e->ring->bytes + at % RING_BYTES, &word, sizeof word);
}

static void test_corrupt(void **state)
{
    struct ends *e = *state;
    const uint64_t lap = 7 * RING_BYTES;
    const struct {
        uint64_t at, word;
    } cases[] = {
        {lap, lap},                      /* no length */
        {lap, lap + CH3_PACKET_MAX + 1}, /* longer than any packet */
        {lap, lap + SKIP - 1},
        {lap, lap + SKIP}, /* a skip of the whole ring */
        {lap, lap + RING_BYTES + 64}, /* of a lap that is not yet */
        {lap + LINE, lap + 9 * RING_BYTES + SKIP},
        {lap, lap + (UINT64_C(1) << 63) - 1},
        {0, RING_BYTES + 8},
        {0, SKIP},
        {UINT64_MAX - LINE + 1, 8}, /* the lap behind the last number */
        {lap + RING_BYTES - LINE, lap + LINE - WORD + 1}, /* crosses the end */
        {lap + RING_BYTES - LINE, lap + CH3_PACKET_MAX},
        {lap + RING_BYTES - 4 * LINE, lap + 4 * LINE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        publish(e, cases[i].at, cases[i].word);
        expect_bad(e);
    }
    publish(e, 64, SKIP); /* nothing but skips: ends */
    for (uint64_t at = 0; at < RING_BYTES; at += LINE) {
        const uint64_t word = at ? SKIP : RING_BYTES + SKIP;
        memcpy(e->ring->bytes + at, &word, sizeof word);
    }
    expect_bad(e);
}

/* A skip and nothing behind it: the producer was stopped by force, or has not come to it. */
static void test_lone_skip(void **state)
{
    struct ends *e = *state;
    publish(e, 3 * RING_BYTES - LINE, 2 * RING_BYTES + SKIP);
    memset(e->ring->bytes, 0, WORD);
    assert_true(ring_has_data(&e->rx));
    expect_empty(e);
    assert_int_equal(read_position(e), 3 * RING_BYTES);
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
        empty(e);
        for (uint64_t n = 0; ring_reserve(&e->tx, 1024); n++) {
            ring_commit(&e->tx, 0);
            send(e, n, 1024);
        }
        assert_false(e->tx.bad); /* full is not bad */
        atomic_store(&e->ring->head, e->tx.tail + (uint64_t)off[i]);
        for (int k = 0; k < 3; k++) {
            assert_null(ring_reserve(&e->tx, 1024));
            assert_true(e->tx.bad);
        }
        atomic_store(&e->ring->head, e->tx.tail);
        assert_null(ring_reserve(&e->tx, 1024));
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

/* ---- a producer without room ---- */

static void test_starved(void **state)
{
    struct ends *e = *state;
    const size_t len = CH3_PACKET_MAX;
    uint64_t sent = 0, received = 0;
    while (received < 10) {
        send(e, sent++, len);
        receive(e, received++, len);
        assert_false(ring_starved(&e->rx)); /* the head has moved, but nobody waits */
    }
    for (int round = 0; round < 100; round++) {
        while (ring_reserve(&e->tx, len))
            send(e, sent++, len);
        assert_false(ring_starved(&e->rx)); /* nothing new to tell */
        receive(e, received++, len); /* room again, or just not where the next record begins */
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
        send(e, sent++, 8);
    assert_int_equal(sent, RING_LINES - 1);
    for (int round = 0; round < 20; round++) {
        for (unsigned i = 1; i <= RING_SHOWN / LINE; i++) {
            assert_null(ring_reserve(&e->tx, 8));
            receive(e, received++, 8);
            assert_int_equal(ring_starved(&e->rx), i == RING_SHOWN / LINE);
        }
        for (unsigned i = 1; i <= RING_SHOWN / LINE; i++)
            send(e, sent++, 8);
    }
}

/* Whatever the lengths: who waits for room has been told before all is read. */
static void test_told_in_time(void **state)
{
    struct ends *e = *state;
    static size_t lens[RING_LINES];
    uint64_t seed = 3, sent = 0, got = 0, waits = 0;
    size_t want = random_len(&seed);
    bool waiting = false;
    for (int i = 0; i < STEPS / 8; i++) {
        while (!waiting) {
            waiting = !ring_reserve(&e->tx, want);
            waits += waiting;
            if (waiting)
                break;
            send(e, sent, want);
            lens[sent++ % RING_LINES] = want;
            want = random_len(&seed);
            if (next_random(&seed) % 16 == 0)
                break;
        }
        for (uint64_t burst = 1 + next_random(&seed) % 64; burst && got < sent; burst--, got++)
            receive(e, got, lens[got % RING_LINES]);
        if (ring_starved(&e->rx))
            waiting = false;
        assert_false(waiting && got == sent);
    }
    assert_true(waits > 100);
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
        RING_TEST(test_empty_and_one),  RING_TEST(test_random_steps),        RING_TEST(test_zero_commit_at_the_end),
        RING_TEST(test_full),           RING_TEST(test_position_wrap),       RING_TEST(test_packets_like_words),
        RING_TEST(test_last_lap),       RING_TEST(test_one_line),            RING_TEST(test_corrupt),
        RING_TEST(test_lone_skip),      RING_TEST(test_corrupt_head),        RING_TEST(test_impossible_head),
        RING_TEST(test_two_threads),    RING_TEST(test_onlooker),            RING_TEST(test_starved),
        RING_TEST(test_starved_by_steps), RING_TEST(test_told_in_time),   RING_TEST(test_sleepers),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
