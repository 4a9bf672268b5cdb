/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.c - see ring.h for the layout and the ordering argument.
 *
 * A word is the position at which its lap began, a multiple of the ring's bytes, and in the bits
 * below (place) the packet's length. If all these bits are set, which no length has, the word is a
 * skip: continue at the start of the buffer. The word 0 is no valid word in any lap.
 *
 * No locks: one thread at a time at each end, by the engine's lock of its process; ring_has_data
 * takes none. Neighbour: shm_channel.c, whose packets these are.
 */
#include "shm/ring.h"

#include "base/tsan_order.h"
#include "ch3/channel.h"

typedef _Atomic uint64_t ring_word;

enum { WORD = sizeof(ring_word), LINE = MRMA_CACHE_LINE };
#define RECORD_BYTES(len) ((WORD + (len) + LINE - 1) & ~(size_t)(LINE - 1))

static_assert(CH3_PACKET_MAX < RING_LEAST - 1, "a length fits below the lap, and is no skip");
/* See ring.h: with so little unread and not shown, there is room for every packet. */
static_assert(2 * RECORD_BYTES(CH3_PACKET_MAX) + LINE + RING_LEAST / 16 <= RING_LEAST,
              "a skip and a full record must fit");

static ring_word *word_at(struct ring *ring, uint64_t place, uint64_t pos)
{
    return (ring_word *)(void *)(ring->bytes + (pos & place));
}

static uint64_t lap_of(uint64_t place, uint64_t pos)
{
    return pos & ~place;
}

static size_t to_end(uint64_t place, uint64_t pos)
{
    return (size_t)(place + 1 - (pos & place));
}

/* ---- the producer ---- */

static size_t line_of(const struct ring_tx *tx, uint64_t pos)
{
    return (size_t)(pos & tx->place) / LINE;
}

/* set_dirty notes that a packet was, or may have been, written over the lines of [from, end), which
 * do not wrap. */
static void set_dirty(struct ring_tx *tx, uint64_t from, uint64_t end)
{
    size_t left = (size_t)(end - from) / LINE;
    for (size_t line = line_of(tx, from); left;) {
        const size_t bit = line % RING_DIRTY_BITS, room = RING_DIRTY_BITS - bit,
                     n = left < room ? left : room;
        tx->dirty[line / RING_DIRTY_BITS] |= UINT64_MAX >> (RING_DIRTY_BITS - n) << bit;
        line += n;
        left -= n;
    }
}

/* clear_word makes sure that the word at pos, where the consumer is or will be, is not one of this
 * lap. */
static void clear_word(struct ring_tx *tx, uint64_t pos)
{
    const size_t line = line_of(tx, pos);
    uint64_t *bits = &tx->dirty[line / RING_DIRTY_BITS];
    const uint64_t bit = UINT64_C(1) << line % RING_DIRTY_BITS;
    if (!(*bits & bit))
        return;
    *bits &= ~bit;
    atomic_store_explicit(word_at(tx->ring, tx->place, pos), 0, memory_order_relaxed);
}

void ring_tx_init(struct ring_tx *tx, struct ring *ring, uint64_t bytes)
{
    assert(ring_may_have(bytes));
    *tx = (struct ring_tx){.ring = ring, .place = bytes - 1};
    atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->starved, 0, memory_order_relaxed);
    set_dirty(tx, 0, bytes);
    clear_word(tx, 0);
}

static bool look_again(struct ring_tx *tx, uint64_t end)
{
    tx->head =
        atomic_load_explicit(&tx->ring->head, memory_order_acquire); /* pairs with ring_release */
    const uint64_t bytes = tx->place + 1;
    if (tx->bad || tx->tail - tx->head > bytes) {
        tx->bad = true;
        tx->head = tx->tail - bytes; /* full, so that each reserve comes here */
    }
    return end - tx->head <= bytes;
}

/* seek_room returns whether there is room up to end. If not, it tells the consumer
 * (ring_starved). */
static bool seek_room(struct ring_tx *tx, uint64_t end)
{
    if (end - tx->head <= tx->place + 1 || look_again(tx, end))
        return true;
    /* Each time anew: the last word may have been answered before this look. */
    atomic_store_explicit(&tx->ring->starved, ++tx->starved, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with ring_starved */
    return look_again(tx, end);
}

void *ring_reserve(struct ring_tx *tx, size_t len)
{
    const size_t need = RECORD_BYTES(len), left = to_end(tx->place, tx->tail);
    const uint64_t start = need > left ? tx->tail + left : tx->tail;
    if (!seek_room(tx, start + need + LINE))
        return NULL;
    tx->reserved = start;
    tx->reserved_end = start + need;
    return word_at(tx->ring, tx->place, start) + 1;
}

void ring_commit(struct ring_tx *tx, size_t len)
{
    const uint64_t start = tx->reserved, end = start + RECORD_BYTES(len), place = tx->place;
    set_dirty(tx, start + LINE, tx->reserved_end);
    if (len == 0)
        return;
    clear_word(tx, end);
    order_before(&order_others);
    /* Both pair with ring_peek. The consumer does not look at the start before it has read the
     * skip. */
    atomic_store_explicit(word_at(tx->ring, place, start), lap_of(place, start) | len,
                          memory_order_release);
    if (start != tx->tail)
        atomic_store_explicit(word_at(tx->ring, place, tx->tail), lap_of(place, tx->tail) | place,
                              memory_order_release);
    tx->tail = end;
}

/* ---- the consumer ---- */

void ring_rx_init(struct ring_rx *rx, struct ring *ring, uint64_t bytes)
{
    assert(ring_may_have(bytes));
    *rx = (struct ring_rx){.ring = ring, .place = bytes - 1};
}

/* is_none returns whether the word at pos is not (yet) one of this lap. A word of a later lap
 * cannot be there. */
static bool is_none(uint64_t place, uint64_t word, uint64_t pos)
{
    return word == 0 || (int64_t)(lap_of(place, pos) - lap_of(place, word)) > 0;
}

const void *ring_peek(struct ring_rx *rx, size_t *len, bool *bad)
{
    const uint64_t place = rx->place;
    uint64_t pos = atomic_load_explicit(&rx->head, memory_order_relaxed);
    for (;;) {
        ring_word *at = word_at(rx->ring, place, pos);
        const uint64_t word =
            atomic_load_explicit(at, memory_order_acquire); /* pairs with ring_commit */
        const size_t length = (size_t)(word & place);
        if (is_none(place, word, pos)) {
            /* The second line of a record of two lines is fetched together with the first. */
            __builtin_prefetch(rx->ring->bytes + ((pos + LINE) & place));
            return NULL;
        }
        if (lap_of(place, word) == lap_of(place, pos) && length == place && (pos & place) != 0) {
            pos += to_end(place, pos);
            atomic_store_explicit(&rx->head, pos, memory_order_relaxed);
            continue;
        }
        if (lap_of(place, word) != lap_of(place, pos) || length == 0 || length > CH3_PACKET_MAX ||
            RECORD_BYTES(length) > to_end(place, pos)) {
            *bad = true;
            return NULL;
        }
        *len = length;
        order_after(&order_others);
        return at + 1;
    }
}

void ring_release(struct ring_rx *rx, size_t len)
{
    const uint64_t pos = atomic_load_explicit(&rx->head, memory_order_relaxed) + RECORD_BYTES(len);
    atomic_store_explicit(&rx->head, pos, memory_order_relaxed);
    if (pos - rx->shown < ring_step(rx->place + 1))
        return;
    rx->shown = pos;
    atomic_store_explicit(&rx->ring->head, pos, memory_order_release); /* pairs with look_again */
}

bool ring_starved(struct ring_rx *rx)
{
    if (rx->shown == rx->looked)
        return false;
    rx->looked = rx->shown;
    atomic_thread_fence(memory_order_seq_cst); /* pairs with seek_room */
    const uint32_t starved = atomic_load_explicit(&rx->ring->starved, memory_order_relaxed);
    if (starved == rx->woken_for)
        return false;
    rx->woken_for = starved;
    return true;
}

/* The record may have been read meanwhile, and the word may be anything: the producer writes there
 * when the head has been shown. That comes after rx->head has moved, which this function then sees.
 * The thread sanitizer would take the read of such a word for a race. */
__attribute__((no_sanitize("thread"))) bool ring_has_data(const struct ring_rx *rx)
{
    const uint64_t pos = atomic_load_explicit(&rx->head, memory_order_acquire);
    const uint64_t word =
        atomic_load_explicit(word_at(rx->ring, rx->place, pos), memory_order_acquire);
    return !is_none(rx->place, word, pos) ||
           atomic_load_explicit(&rx->head, memory_order_relaxed) != pos;
}
