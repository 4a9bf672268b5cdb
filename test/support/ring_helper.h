/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_helper.h - both ends of a ring in one process, for the tests of shm/ring.c.
 *
 * Records carry their number and a pattern made from it, so that a mixed-up or
 * torn one is seen.
 */
#ifndef MRMA_TEST_RING_HELPER_H
#define MRMA_TEST_RING_HELPER_H

#include "base_helper.h"
#include "ch3/channel.h"
#include "shm/ring.h"
#include "../sim/fabric.h"

/* Of the rings here, but for those that are made otherwise. */
#define RING_BYTES RING_LEAST

enum {
    WORD = 8,
    LINE = MRMA_CACHE_LINE,
    SKIP = RING_BYTES - 1,
    RING_LINES = RING_BYTES / LINE,
    RING_SHOWN = RING_BYTES / 16
};

/* Whole lines. */
static inline size_t record_bytes(size_t len)
{
    return (WORD + len + LINE - 1) / LINE * LINE;
}

struct ends {
    uint64_t bytes;
    struct ring *ring;
    struct ring_tx tx;
    struct ring_rx rx;
};

static inline uint64_t lap_of(uint64_t pos)
{
    return pos / RING_BYTES * RING_BYTES;
}

/* An empty ring, of memory that was something else before: in each line the word of a record at
 * that place, in one of the first laps. */
static inline void ring_empty(struct ends *e)
{
    memset(e->ring, 0xff, ring_size(e->bytes));
    for (uint64_t at = 0; at < e->bytes; at += LINE) {
        const uint64_t word = at / LINE % 4 * e->bytes + 8;
        memcpy(e->ring->bytes + at, &word, sizeof word);
    }
    ring_tx_init(&e->tx, e->ring, e->bytes);
    ring_rx_init(&e->rx, e->ring, e->bytes);
}

static inline int ring_setup_of(void **state, uint64_t bytes)
{
    struct ends *e = calloc(1, sizeof *e);
    e->bytes = bytes;
    e->ring = aligned_alloc(MRMA_CACHE_LINE, ring_size(bytes));
    ring_empty(e);
    *state = e;
    return 0;
}

static inline int ring_setup(void **state)
{
    return ring_setup_of(state, RING_BYTES);
}

static inline int ring_setup_most(void **state)
{
    return ring_setup_of(state, RING_MOST);
}

static inline int ring_teardown(void **state)
{
    struct ends *e = *state;
    free(e->ring);
    free(e);
    return 0;
}

static inline unsigned char ring_pattern(uint64_t number, size_t i)
{
    return (unsigned char)(number * 31 + i * 7 + (i >> 8));
}

static inline void ring_fill(unsigned char *at, uint64_t number, size_t len)
{
    for (size_t i = 0; i < len; i++)
        at[i] = ring_pattern(number, i);
}

static inline bool ring_filled(const unsigned char *at, uint64_t number, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (at[i] != ring_pattern(number, i))
            return false;
    return true;
}

static inline size_t random_len(uint64_t *seed)
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

static inline void ring_send(struct ends *e, uint64_t number, size_t len)
{
    void *at = ring_reserve(&e->tx, len);
    assert_non_null(at);
    assert_int_equal((uintptr_t)at % LINE, WORD);
    ring_fill(at, number, len);
    ring_commit(&e->tx, len);
}

static inline void ring_receive(struct ends *e, uint64_t number, size_t expected)
{
    size_t len = 0;
    bool bad = false;
    const void *at = ring_peek(&e->rx, &len, &bad);
    assert_non_null(at);
    assert_false(bad);
    assert_int_equal(len, expected);
    assert_true(ring_filled(at, number, len));
    ring_release(&e->rx, len);
}

static inline void expect_empty(struct ends *e)
{
    size_t len;
    bool bad = false;
    assert_null(ring_peek(&e->rx, &len, &bad));
    assert_false(bad);
    assert_false(ring_has_data(&e->rx));
}

static inline uint64_t read_position(const struct ends *e)
{
    return atomic_load(&e->rx.head);
}

/* Both ends go on from this position, as if they had come there. */
static inline void start_at(struct ends *e, uint64_t pos)
{
    ring_empty(e);
    e->tx.tail = e->tx.head = e->rx.shown = e->rx.looked = pos;
    atomic_store(&e->rx.head, pos);
    atomic_store(&e->ring->head, pos);
    memset(e->ring->bytes + pos % RING_BYTES, 0, WORD);
}

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, ring_setup, ring_teardown)
#define RING_TEST_MOST(name)                                               \
    {                                                                      \
#name ", largest ring", name, ring_setup_most, ring_teardown, NULL \
    }

#endif
