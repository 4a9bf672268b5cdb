/*
 * ring.c - see ring.h for the layout and the ordering argument.
 *
 * A word is the position at which its lap began, a multiple of RING_BYTES, and in the bits
 * below the packet's length. The length RING_SKIP says: continue at the start of the
 * buffer. The word 0 is none in any lap.
 */
#include "shm/ring.h"

#include "ch3/channel.h"

typedef _Atomic uint64_t ring_word;

enum { WORD = sizeof(ring_word), LINE = MRMA_CACHE_LINE, PLACE = RING_BYTES - 1, RING_SKIP = PLACE };
#define RECORD_BYTES(len) ((WORD + (len) + LINE - 1) & ~(size_t)(LINE - 1))

static_assert(RING_BYTES % LINE == 0 && (RING_BYTES & PLACE) == 0, "positions wrap by masking");
static_assert(CH3_PACKET_MAX < RING_SKIP, "a length fits below the lap");
/* See ring.h: with so little unread and not shown, none is refused. */
static_assert(2 * RECORD_BYTES(CH3_PACKET_MAX) + LINE + RING_SHOWN <= RING_BYTES, "a skip and a full record must fit");

static ring_word *word_at(struct ring *ring, uint64_t pos)
{
    return (ring_word *)(void *)(ring->bytes + (pos & PLACE));
}

static uint64_t lap_of(uint64_t pos)
{
    return pos & ~(uint64_t)PLACE;
}

static size_t to_end(uint64_t pos)
{
    return RING_BYTES - (size_t)(pos & PLACE);
}

/* ---- the producer ---- */

static size_t line_of(uint64_t pos)
{
    return (size_t)(pos & PLACE) / LINE;
}

/* A packet was, or may have been, written over the lines of [from, end), which do not wrap. */
static void set_dirty(struct ring_tx *tx, uint64_t from, uint64_t end)
{
    size_t left = (size_t)(end - from) / LINE;
    for (size_t line = line_of(from); left;) {
        const size_t bit = line % RING_DIRTY_BITS, room = RING_DIRTY_BITS - bit, n = left < room ? left : room;
        tx->dirty[line / RING_DIRTY_BITS] |= UINT64_MAX >> (RING_DIRTY_BITS - n) << bit;
        line += n;
        left -= n;
    }
}

/* The word at pos, where the consumer is or will be, is not of this lap. */
static void clear_word(struct ring_tx *tx, uint64_t pos)
{
    uint64_t *bits = &tx->dirty[line_of(pos) / RING_DIRTY_BITS];
    const uint64_t bit = UINT64_C(1) << line_of(pos) % RING_DIRTY_BITS;
    if (!(*bits & bit))
        return;
    *bits &= ~bit;
    atomic_store_explicit(word_at(tx->ring, pos), 0, memory_order_relaxed);
}

void ring_tx_init(struct ring_tx *tx, struct ring *ring)
{
    *tx = (struct ring_tx){.ring = ring};
    atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->starved, 0, memory_order_relaxed);
    set_dirty(tx, 0, RING_BYTES);
    clear_word(tx, 0);
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
    const size_t need = RECORD_BYTES(len), left = to_end(tx->tail);
    const uint64_t start = tx->tail + (need > left ? left : 0);
    if (!has_room(tx, start + need + LINE))
        return NULL;
    tx->reserved = start;
    tx->reserved_end = start + need;
    return word_at(tx->ring, start) + 1;
}

void ring_commit(struct ring_tx *tx, size_t len)
{
    const uint64_t start = tx->reserved, end = start + RECORD_BYTES(len);
    set_dirty(tx, start + LINE, tx->reserved_end);
    if (len == 0)
        return;
    clear_word(tx, end);
    /* Both pair with ring_peek. The consumer does not look at the start before it has read the skip. */
    atomic_store_explicit(word_at(tx->ring, start), lap_of(start) | len, memory_order_release);
    if (start != tx->tail)
        atomic_store_explicit(word_at(tx->ring, tx->tail), lap_of(tx->tail) | RING_SKIP, memory_order_release);
    tx->tail = end;
}

/* ---- the consumer ---- */

void ring_rx_init(struct ring_rx *rx, struct ring *ring)
{
    *rx = (struct ring_rx){.ring = ring};
}

/* Is the word at pos no word of this lap (yet)? One of a later lap is none that may be there. */
static bool is_none(uint64_t word, uint64_t pos)
{
    return word == 0 || (int64_t)(lap_of(pos) - lap_of(word)) > 0;
}

const void *ring_peek(struct ring_rx *rx, size_t *len, bool *bad)
{
    uint64_t pos = atomic_load_explicit(&rx->head, memory_order_relaxed);
    for (;;) {
        ring_word *at = word_at(rx->ring, pos);
        const uint64_t word = atomic_load_explicit(at, memory_order_acquire); /* pairs with ring_commit */
        const size_t length = (size_t)(word & PLACE);
        if (is_none(word, pos)) {
            /* Of a record of two lines the second one comes with the first, not behind it. */
            __builtin_prefetch(rx->ring->bytes + ((pos + LINE) & PLACE));
            return NULL;
        }
        if (lap_of(word) == lap_of(pos) && length == RING_SKIP && to_end(pos) < RING_BYTES) {
            pos += to_end(pos);
            atomic_store_explicit(&rx->head, pos, memory_order_relaxed);
            continue;
        }
        if (lap_of(word) != lap_of(pos) || length == 0 || length > CH3_PACKET_MAX ||
            RECORD_BYTES(length) > to_end(pos)) {
            *bad = true;
            return NULL;
        }
        *len = length;
        return at + 1;
    }
}

void ring_release(struct ring_rx *rx, size_t len)
{
    const uint64_t pos = atomic_load_explicit(&rx->head, memory_order_relaxed) + RECORD_BYTES(len);
    atomic_store_explicit(&rx->head, pos, memory_order_relaxed);
    if (pos - rx->shown < RING_SHOWN)
        return;
    rx->shown = pos;
    atomic_store_explicit(&rx->ring->head, pos, memory_order_release); /* pairs with look_again */
}

bool ring_starved(struct ring_rx *rx)
{
    if (rx->shown == rx->looked)
        return false;
    rx->looked = rx->shown;
    atomic_thread_fence(memory_order_seq_cst); /* pairs with has_room */
    const uint32_t starved = atomic_load_explicit(&rx->ring->starved, memory_order_relaxed);
    if (starved == rx->told)
        return false;
    rx->told = starved;
    return true;
}

/* The word may have been read meanwhile, and be anything: the producer writes there when the head has been
 * shown, which comes after rx->head has moved, and that is seen here. For the thread sanitizer such a
 * word would be a race. */
__attribute__((no_sanitize("thread"))) bool ring_has_data(const struct ring_rx *rx)
{
    const uint64_t pos = atomic_load_explicit(&rx->head, memory_order_acquire);
    const uint64_t word = atomic_load_explicit(word_at(rx->ring, pos), memory_order_acquire);
    return !is_none(word, pos) || atomic_load_explicit(&rx->head, memory_order_relaxed) != pos;
}
