/*
 * ring.h - a single-producer, single-consumer ring of records in shared memory.
 *
 * The sender's end of one direction of a pair. Records are a 8-byte length word
 * and a packet of at most CH3_PACKET_MAX bytes, contiguous; a record that would cross
 * the end is preceded by a skip word. Positions count bytes for ever; position
 * modulo RING_BYTES is the place.
 *
 *   producer                              consumer
 *   write record                          t = tail (acquire, pairs with P)
 *   P: tail = end of record (release)     read records up to t
 *                                         C: head = t' (release)
 *   h = head (acquire, pairs with C): room is RING_BYTES - (tail - h)
 *
 * A producer that finds no room says so (starved) and looks again; a consumer that has
 * released looks for that, after a fence, when it stops reading (ring_starved).
 *
 *   producer without room                 consumer that stops reading
 *   S: starved = a new number             C: head = t' (release)
 *      fence (seq_cst)                       fence (seq_cst)
 *   h = head: room now?                   S's number new? tell the producer
 *
 * One of the two sees the other's store. A told producer that still finds too little room
 * says so again; the ring is not empty then, so that the consumer comes back to it.
 *
 * Each side keeps a private copy of the other's position and rereads the shared
 * one only when the copy says full or empty; each position has its own line.
 * What the other side wrote is not trusted: lengths are checked before use, and the
 * consumer's position when there seems to be no room.
 */
#ifndef MRMA_SHM_RING_H
#define MRMA_SHM_RING_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/atomic.h"

#define RING_BYTES (128u * 1024u)

struct ring {
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t tail; /* written by the producer */
    _Atomic uint32_t starved;                       /* by the producer, too */
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t head; /* written by the consumer */
    alignas(MRMA_CACHE_LINE) unsigned char bytes[RING_BYTES];
};
static_assert(offsetof(struct ring, head) - offsetof(struct ring, tail) >= MRMA_CACHE_LINE,
              "one writer a line");

struct ring_tx { /* private to the producer */
    struct ring *ring;
    uint64_t tail;     /* where the next record starts */
    uint64_t head;     /* last seen position of the consumer */
    uint64_t reserved; /* where the reserved record's length word is */
    uint32_t starved;  /* how often it has said so */
    bool bad;          /* the consumer's position was impossible; there is no room any more */
};

struct ring_rx { /* private to the consumer */
    struct ring *ring;
    uint64_t head; /* next record to read */
    uint64_t tail; /* last seen position of the producer */
    uint32_t told; /* ring->starved when the producer was last told */
};

void ring_tx_init(struct ring_tx *tx, struct ring *ring);
void ring_rx_init(struct ring_rx *rx, struct ring *ring);

/* Contiguous room for len bytes (at most CH3_PACKET_MAX), or NULL when full. */
void *ring_reserve(struct ring_tx *tx, size_t len);
/* Publish the reserved record shortened to len bytes; 0: drop it. */
void ring_commit(struct ring_tx *tx, size_t len);

/* The next record and its length, or NULL: empty. A malformed ring gives NULL
 * and sets *bad; it stays so. */
const void *ring_peek(struct ring_rx *rx, size_t *len, bool *bad);
/* Give the record that ring_peek returned back to the producer. */
void ring_release(struct ring_rx *rx, size_t len);

/* After releasing: does the producer wait for room, and must be told? True once for
 * each time that it says so. */
bool ring_starved(struct ring_rx *rx);

/* Has the producer published anything not yet read? May be called by any thread. */
static inline bool ring_has_data(const struct ring *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_acquire) !=
           atomic_load_explicit(&ring->head, memory_order_relaxed);
}

#endif
