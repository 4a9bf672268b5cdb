/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.h - a single-producer, single-consumer ring of records in shared memory.
 *
 * A ring is one direction of a pair. A record begins on a cache line of its own, with its word; a
 * packet of at most CH3_PACKET_MAX contiguous bytes follows. In front of a record that would cross
 * the ring's end stands a skip, which is a word alone. Positions count bytes for ever; position
 * modulo the ring's bytes is the place, the rest is the lap. A word holds the lap in which it was
 * written and the packet's length. The word publishes its record: the consumer polls the word at
 * its position, so for a short record only one cache line travels.
 *
 *   producer                              consumer at position p
 *   write the packet                      B: word at p (acquire): of p's lap?
 *   Z: word behind it = 0, if need be     read the packet
 *   A: its word = lap, length (release)   p = behind it; again
 *                                         C: head = p (release), each 16th of the ring
 *   D: h = head (acquire), when the copy of it leaves no room: room is the ring's bytes - (tail -
 *      h), and never quite used up
 *
 * A pairs with B: the consumer reads complete records. C pairs with D: the producer writes only
 * over what has been read. Its copy of the head is too low at most, which is safe.
 *
 * What lies at p, where the next record is not yet, must not be taken for its word. It may be
 *
 * - the word of a record of an earlier lap, or of a skip: the lap tells;
 * - bytes of a packet, which the user chose and which may look like any word. The producer knows
 *   for each line whether the last thing written to its first word was a packet (dirty). If so it
 *   clears the word in Z, when the record before it is about to be published: Z comes before A, A
 *   before B, and B of that record before the consumer's look at the word behind it, which
 *   therefore sees the 0 or what came later. Room that was reserved and not used counts as written.
 *   A new ring is all dirty except for its first word, which is cleared before the ring is
 *   announced;
 * - the word that Z writes is never one that is yet to be read, since the ring is never full to the
 *   last line.
 *
 * Records of equal length lie on the same lines in every lap if they divide the ring; then nothing
 * is ever cleared. A record that does not fit before the end is written to the start, its word
 * first, then the skip (release): the consumer does not look at the start before it has read the
 * skip. A producer that is killed anywhere in this has published a whole record or none, or a skip
 * and nothing behind it, which is an empty ring.
 *
 * A producer that finds no room says so (starved) and looks again; a consumer that has moved
 * the head looks for that, after a fence, when it stops reading (ring_starved).
 *
 *   producer without room                 consumer that stops reading
 *   S: starved = a new number             C: head = p (release)
 *      fence (seq_cst)                       fence (seq_cst)
 *   D: head: room now?                    S's number new? wake the producer
 *
 * Because of the two fences one of the two sees the other's store. A producer that sleeps has tried
 * again after it announced itself as a sleeper, so it is woken (futex_event.h). Every look that
 * finds no room stores a new number in S, since the answer to the last one may have come before the
 * sleeper announced itself.
 *
 * The head moves by sixteenths of the ring, so less than a sixteenth has been read and not shown by
 * C when the consumer stops. The longest record with the longest skip before it and the line behind
 * it take less than the rest (a static assertion). So a producer that finds no room in D has more
 * than a sixteenth between the head that it saw and its tail: the consumer has yet to move the
 * head, and looks at S's number after that. The same holds for a producer that was woken, still
 * finds too little room, and has stored a new number.
 *
 * What the other side wrote is not trusted: lengths and laps are checked before use, and
 * the consumer's position when there seems to be no room.
 */
#ifndef MRMA_SHM_RING_H
#define MRMA_SHM_RING_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/atomic.h"

/* Bytes of a ring, a power of two that the producer chooses. Large copies are twice as fast through
 * a ring that the processors' own caches do not hold. */
#define RING_LEAST (128u * 1024u)
#define RING_MOST (1024u * 1024u)

enum { RING_LINES_MOST = RING_MOST / MRMA_CACHE_LINE, RING_DIRTY_BITS = 64 };

struct ring {
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t head;    /* written by the consumer */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t starved; /* written by the producer, as are the
                                                          bytes */
    alignas(MRMA_CACHE_LINE) unsigned char bytes[];
};
static_assert(offsetof(struct ring, starved) - offsetof(struct ring, head) >= MRMA_CACHE_LINE,
              "one writer a line");

struct ring_tx { /* private to the producer */
    struct ring *ring;
    uint64_t place;        /* the ring's bytes - 1 */
    uint64_t tail;         /* where the next record starts; the word there is not dirty */
    uint64_t head;         /* last seen position of the consumer */
    uint64_t reserved;     /* where the reserved record's word is */
    uint64_t reserved_end; /* and where the record ends if it is not shortened */
    uint32_t starved;      /* how often it has said that it has no room */
    bool bad;              /* the consumer's position was impossible; there is no room any more */
    uint64_t dirty[RING_LINES_MOST /
                   RING_DIRTY_BITS]; /* a bit for each line: a packet may have been there last */
};

struct ring_rx { /* private to the consumer */
    struct ring *ring;
    uint64_t place;        /* the ring's bytes - 1 */
    _Atomic uint64_t head; /* next word to read; others of its threads look at it, too */
    uint64_t shown;        /* ring->head */
    uint64_t looked;       /* ring->head when the consumer last looked for a starved producer */
    uint32_t woken_for;    /* ring->starved when the producer was last woken */
};

/* ring_may_have returns whether a ring may have so many bytes. */
static inline bool ring_may_have(uint64_t bytes)
{
    return bytes >= RING_LEAST && bytes <= RING_MOST && !(bytes & (bytes - 1));
}

/* ring_size returns how much memory a ring of so many bytes takes. */
static inline size_t ring_size(uint64_t bytes)
{
    return sizeof(struct ring) + (size_t)bytes;
}

/* ring_step returns how many bytes the consumer of a ring of so many bytes reads before it shows
 * its position to the producer again (C). */
static inline uint64_t ring_step(uint64_t bytes)
{
    return bytes / 16;
}

/* ring_tx_init makes an empty ring from any memory of ring_size(bytes) and sets up *tx, the
 * producer's end of it. The memory stays the caller's. */
void ring_tx_init(struct ring_tx *tx, struct ring *ring, uint64_t bytes);

/* ring_rx_init sets up *rx, the consumer's end of a ring that ring_tx_init has made; not before. */
void ring_rx_init(struct ring_rx *rx, struct ring *ring, uint64_t bytes);

/* ring_reserve returns contiguous room for a packet of len bytes (at most CH3_PACKET_MAX), aligned
 * to 8 bytes; NULL: there is no room now. Never waits. Room that was reserved before and not
 * committed is given up. */
void *ring_reserve(struct ring_tx *tx, size_t len);

/* ring_commit publishes the packet in the room of the last ring_reserve, shortened to len bytes. 0:
 * there is no packet. */
void ring_commit(struct ring_tx *tx, size_t len);

/* ring_peek returns the next packet, which stays where it is, and its length; a producer that
 * misbehaves may change the packet's bytes. NULL: there is no packet yet; or, if *bad is set to
 * true, the ring is malformed, and stays so. *bad is not written otherwise. */
const void *ring_peek(struct ring_rx *rx, size_t *len, bool *bad);

/* ring_release moves behind the packet of len bytes that ring_peek has returned, whose place the
 * producer may then use again. */
void ring_release(struct ring_rx *rx, size_t len);

/* ring_starved is called after ring_release, when the consumer stops reading: returns whether the
 * producer waits for room and must be woken. It returns true once for each number that the producer
 * has stored. */
bool ring_starved(struct ring_rx *rx);

/*
 * ring_has_data returns whether the producer has published anything that is not read yet. Any
 * thread of the consumer's process may call it while another one reads: the result may be true for
 * a record that was just read, but is never false while a record is unread.
 *
 *   onlooker                              consumer                    producer
 *   F: h = rx.head                        read; rx.head = p
 *   G: word at h: of its lap?             C: head = p (release)       D: head (acquire)
 *   H: rx.head (G before H) still h?                                  writes over h
 *
 * If G reads something that was written over h, H comes behind the consumer's store and sees that
 * the head has moved, which counts as data. Otherwise G reads the word of the record at h, if there
 * is one. So a record that was published before F is found, or has been read.
 */
bool ring_has_data(const struct ring_rx *rx);

#endif
