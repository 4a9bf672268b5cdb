/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ring_words.c - the words that publish the records of a ring: what was written in
 * an earlier lap is never taken for a record of this one, and a ring that a peer has
 * corrupted is refused and nothing outside it is read.
 */
#include "test/support/ring_helper.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STEPS = 40000 };
#else
enum { STEPS = 300000 };
#endif

/* ---- what earlier laps have left ---- */

/* Packets whose every word looks like that of a good record at its place, in the lap when it may
 * be looked at next or in the one now: whatever follows them, nothing is taken for a record. */
static void fill_with_words(struct ends *e, void *room, size_t len, uint64_t laps_ahead)
{
    unsigned char *at = room;
    for (size_t i = 0; i + WORD <= len; i += WORD) {
        const uint64_t place = (uint64_t)(at + i - e->ring->bytes);
        const uint64_t word =
            lap_of(e->tx.reserved) + laps_ahead * RING_BYTES + (place % (2 * LINE) ? 8 : SKIP);
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
        ring_send(e, n, 24);
        ring_receive(e, n, 24);
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
    unsigned char *before = aligned_alloc(LINE, ring_size(RING_BYTES)),
                  *now = (unsigned char *)e->ring;
    uint64_t shown = 0;
    for (uint64_t n = 0; n < 2 * RING_LINES; n++) {
        const uint64_t at = e->tx.tail % RING_BYTES;
        memcpy(before, now, ring_size(RING_BYTES));
        ring_send(e, n, LINE - WORD);
        ring_receive(e, n, LINE - WORD);
        shown += atomic_load(&e->ring->head) == e->tx.tail;
        const size_t line = offsetof(struct ring, bytes) + at, next = line + LINE;
        if (e->tx.tail % RING_SHOWN) /* at a step the head moves, too */
            assert_memory_equal(before, now, line);
        if (e->tx.tail > RING_BYTES) /* in the first lap the next word is cleared */
            assert_memory_equal(before + next, now + next, ring_size(RING_BYTES) - next);
    }
    assert_int_equal(shown, 2 * RING_BYTES / RING_SHOWN);
    free(before);
}

/* ---- corrupt rings: what a hostile or dying producer could leave ---- */

static void expect_bad(struct ends *e)
{
    assert_true(ring_has_data(&e->rx)); /* so that somebody looks */
    for (int i = 0; i < 3; i++) {       /* and it stays so */
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
        {lap, lap + SKIP},            /* a skip of the whole ring */
        {lap, lap + RING_BYTES + 64}, /* of a lap that is not yet */
        {lap + LINE, lap + 9 * RING_BYTES + SKIP},
        {lap, lap + (UINT64_C(1) << 63) - 1},
        {0, RING_BYTES + 8},
        {0, SKIP},
        {UINT64_MAX - LINE + 1, 8},                       /* the lap behind the last number */
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
        ring_send(e, n++, 1024);
    }
    const uint64_t heads[] = {e->tx.tail + 8, e->tx.tail + RING_BYTES, UINT64_MAX,
                              UINT64_MAX - RING_BYTES};
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
        ring_empty(e);
        for (uint64_t n = 0; ring_reserve(&e->tx, 1024); n++) {
            ring_commit(&e->tx, 0);
            ring_send(e, n, 1024);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING_TEST(test_packets_like_words), RING_TEST(test_last_lap),
        RING_TEST(test_one_line),           RING_TEST(test_corrupt),
        RING_TEST(test_lone_skip),          RING_TEST(test_corrupt_head),
        RING_TEST(test_impossible_head),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("ring words", tests, NULL, NULL);
}
