/*
 * ring.c - see ring.h for the layout and the ordering argument.
 *
 * Record: a 64-bit word holding the packet's length, then the packet, padded to
 * 8 bytes. The word RING_SKIP says: continue at the start of the buffer.
 */
#include "shm/ring.h"

#include "ch3/channel.h"

#define RING_SKIP UINT64_MAX

enum { WORD = sizeof(uint64_t) };

static_assert(RING_BYTES % WORD == 0 && (RING_BYTES & (RING_BYTES - 1)) == 0, "positions wrap by masking");
static_assert(2 * (CH3_PACKET_MAX + WORD) <= RING_BYTES, "a skipped tail and a full record must fit");

/* A record's packet, padded to whole words. */
static size_t padded(size_t len)
{
    return (len + WORD - 1) & ~(size_t)(WORD - 1);
}

static uint64_t *word_at(struct ring *ring, uint64_t pos)
{
    return (uint64_t *)(void *)(ring->bytes + (pos & (RING_BYTES - 1)));
}

void ring_tx_init(struct ring_tx *tx, struct ring *ring)
{
    *tx = (struct ring_tx){.ring = ring};
}

void ring_rx_init(struct ring_rx *rx, struct ring *ring)
{
    *rx = (struct ring_rx){.ring = ring};
}

static bool look_again(struct ring_tx *tx, uint64_t end)
{
    tx->head = atomic_load_explicit(&tx->ring->head, memory_order_acquire); /* pairs with ring_release */
    if (tx->bad || tx->tail - tx->head > RING_BYTES) {
        tx->bad = true;
        tx->head = tx->tail - RING_BYTES; /* full, so that each reserve comes here */
    }
    return end - tx->head <= RING_BYTES;
}

static bool has_room(struct ring_tx *tx, uint64_t end)
{
    if (end - tx->head <= RING_BYTES || look_again(tx, end))
        return true;
    /* Each time anew: the last word may have been answered before this look. */
    atomic_store_explicit(&tx->ring->starved, ++tx->starved, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with ring_starved */
    return look_again(tx, end);
}

void *ring_reserve(struct ring_tx *tx, size_t len)
{
    size_t need = WORD + padded(len);
    uint64_t start = tx->tail;
    size_t to_end = RING_BYTES - (size_t)(start & (RING_BYTES - 1));
    uint64_t skip = need > to_end ? to_end : 0;
    if (!has_room(tx, start + skip + need))
        return NULL;
    if (skip)
        *word_at(tx->ring, start) = RING_SKIP;
    tx->reserved = start + skip;
    return word_at(tx->ring, tx->reserved) + 1;
}

void ring_commit(struct ring_tx *tx, size_t len)
{
    if (len == 0)
        return;
    *word_at(tx->ring, tx->reserved) = len;
    tx->tail = tx->reserved + WORD + padded(len);
    atomic_store_explicit(&tx->ring->tail, tx->tail, memory_order_release); /* pairs with ring_peek */
}

const void *ring_peek(struct ring_rx *rx, size_t *len, bool *bad)
{
    for (;;) {
        if (rx->head == rx->tail) {
            /* Pairs with ring_commit. */
            rx->tail = atomic_load_explicit(&rx->ring->tail, memory_order_acquire);
            if (rx->head == rx->tail)
                return NULL;
        }
        size_t to_end = RING_BYTES - (size_t)(rx->head & (RING_BYTES - 1));
        uint64_t filled = rx->tail - rx->head;
        uint64_t word = *word_at(rx->ring, rx->head);
        if (word == RING_SKIP && filled > to_end && filled <= RING_BYTES) {
            rx->head += to_end;
            continue;
        }
        if (filled > RING_BYTES || word == 0 || word > CH3_PACKET_MAX || WORD + padded(word) > to_end ||
            WORD + padded(word) > filled) {
            *bad = true;
            return NULL;
        }
        *len = (size_t)word;
        return word_at(rx->ring, rx->head) + 1;
    }
}

void ring_release(struct ring_rx *rx, size_t len)
{
    rx->head += WORD + padded(len);
    atomic_store_explicit(&rx->ring->head, rx->head, memory_order_release); /* pairs with has_room */
}

bool ring_starved(struct ring_rx *rx)
{
    atomic_thread_fence(memory_order_seq_cst); /* pairs with has_room */
    const uint32_t starved = atomic_load_explicit(&rx->ring->starved, memory_order_relaxed);
    if (starved == rx->told)
        return false;
    rx->told = starved;
    return true;
}
