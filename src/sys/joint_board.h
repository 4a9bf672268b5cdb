/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * joint_board.h - large copies that the process which asks for them and the process whose memory
 * they concern make together, a chunk at a time.
 *
 * Each process has a board in memory that the processes of its node share. A process that wants to
 * copy to or from the memory of the board's owner (the origin) takes a free place on the board,
 * describes the copy there and publishes it. From then on both take chunks: the owner in its waits,
 * and the origin in the call that completes the copy. Whoever has taken a chunk copies it without
 * waiting for anybody, and then counts it as done. A process that leaves its wait finishes the
 * chunk that it has, and takes no more.
 *
 *   origin                                 owner of the board, and the origin itself
 *   writes the buffer and the description  B: left > 0: left -= 1 (acquire)
 *   done = 0                               reads the description, copies the chunk
 *   A: left = chunks (release)             C: done += 1 (release)
 *   D: done == chunks (acquire)
 *   the buffer is its own again
 *   E: origin = 0 (release)                F: origin 0 -> self (acquire), the next one
 *
 * A pairs with B: who takes a chunk reads the description that belongs to it, and the bytes that
 * the origin has stored before. All changes of left between A and B are read-modify-writes, which
 * hand on what A has released. C pairs with D likewise: when all chunks are done, the origin sees
 * all that was copied, and nobody reads the description or the buffer any more. E pairs with F.
 *
 * A chunk is taken by the change of left alone, so nobody needs to know which copy it belongs to
 * beforehand: between B and C the copy cannot end, and so neither the description nor left's
 * meaning can change. Everybody counts left down to 0 and not below.
 *
 * An origin that gives up a copy (joint_abandon) takes all chunks that are left; so does an owner
 * that has heard that the origin is dead. If the other process holds a chunk then, or is dead with
 * one, the place stays taken for ever, since somebody may still count that chunk: the board is
 * smaller from then on, and nobody waits for it.
 *
 * The word open has a bit for each place with a published copy, so that an owner in a wait reads
 * one line. It is a hint, without order: a bit that is seen too early or too late costs a look.
 * helpers says how many threads of the owner are in a wait now, and whether a copy is worth to be
 * published. It is a hint, too: where nobody comes, the origin copies everything.
 *
 * The owner takes the description as it stands, and does not look for the window that it belongs
 * to. Only processes of this job and user write here, and these store into the owner's windows by
 * themselves wherever it does not wait.
 *
 * One process writes each cache line, but for left, done, open and the word by which a place is
 * taken. No locks. Neighbours: polling.h, beside which a board lies in the process's segment;
 * rma/path/joint.c, which decides what is published and copies the chunks; rma/progress/wait.c.
 */
#ifndef MRMA_SYS_JOINT_BOARD_H
#define MRMA_SYS_JOINT_BOARD_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"

enum { JOINT_PLACES = 32, JOINT_WHERE_WORDS = 6 };
enum { JOINT_FAILED = 1 << 16 }; /* in done: what a chunk that could not be copied adds besides */

/* Where the origin's buffer is, and the owner's memory. Written by the origin before A. */
struct joint_copy {
    uint64_t owner_addr;               /* the owner's own address of its side */
    uint64_t origin_addr;              /* the origin's own address of its side, for the kernel */
    uint64_t len;                      /* bytes, more than 0 */
    uint64_t published;                /* when, in nanoseconds of the machine's clock */
    uint32_t chunk;                    /* bytes of all chunks but the last */
    int32_t pid;                       /* of the origin, for the kernel; */
    uint32_t started;                  /* it began then (procstart.h) */
    uint32_t to_owner;                 /* 1: the owner's memory is written; 0: it is read */
    uint64_t where[JOINT_WHERE_WORDS]; /* where the buffer is in shared memory (struct rma_mem_loc);
                                          all 0: it is not in shared memory */
};

/* All zero: a free place. */
struct joint_place {
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t origin; /* uid of the process that has taken the
                                                         place; 0: it is free */
    alignas(MRMA_CACHE_LINE) struct joint_copy copy;
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t left; /* chunks that nobody has taken */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t done; /* chunks that are done, and how many of these
                                                       have failed, times JOINT_FAILED */
};
static_assert(offsetof(struct joint_place, left) % MRMA_CACHE_LINE == 0 &&
                  offsetof(struct joint_place, done) % MRMA_CACHE_LINE == 0,
              "a line for each counter");

/* All zero: nothing is published, and nobody waits. */
struct joint_board {
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t helpers; /* threads of the owner that are in a wait */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t open;    /* a bit for each place */
    struct joint_place places[JOINT_PLACES];
};

/* joint_chunks returns the number of chunks of a copy. */
static inline uint32_t joint_chunks(const struct joint_copy *copy)
{
    return (uint32_t)((copy->len + copy->chunk - 1) / copy->chunk);
}

/* ---- both ---- */

/* joint_take takes a chunk of the copy that is published at the place. *left gets how many chunks
 * there were before. False: no chunk is left. The caller copies the chunk and calls joint_done. */
static inline bool joint_take(struct joint_place *place, uint32_t *left)
{
    uint32_t seen = atomic_load_explicit(&place->left, memory_order_relaxed);
    while (seen)
        if (atomic_compare_exchange_weak_explicit(&place->left, &seen, seen - 1,
                                                  memory_order_acquire, /* B */
                                                  memory_order_relaxed)) {
            *left = seen;
            return true;
        }
    return false;
}

/* A chunk: bytes from the beginning of the copy, and how many. */
struct joint_chunk {
    uint64_t at, len;
};

/* joint_chunk_of returns the chunk that joint_take has given with this value of left. */
static inline struct joint_chunk joint_chunk_of(const struct joint_copy *copy, uint32_t left)
{
    const uint64_t at = (uint64_t)(joint_chunks(copy) - left) * copy->chunk;
    const uint64_t rest = copy->len - at;
    return (struct joint_chunk){at, rest < copy->chunk ? rest : copy->chunk};
}

/* joint_done counts a chunk that the caller has taken. If it could not be copied (failed), the
 * origin copies everything once more. */
static inline void joint_done(struct joint_place *place, bool failed)
{
    atomic_fetch_add_explicit(&place->done, failed ? 1 + JOINT_FAILED : 1,
                              memory_order_release); /* C */
}

/* ---- the origin ---- */

/* joint_find_place takes a free place for the process whose uid is origin, and returns its index;
 * -1: there is none. */
static inline int joint_find_place(struct joint_board *board, uint64_t origin)
{
    for (int i = 0; i < JOINT_PLACES; i++) {
        uint64_t nobody = 0;
        if (!atomic_load_explicit(&board->places[i].origin, memory_order_relaxed) &&
            atomic_compare_exchange_strong_explicit(&board->places[i].origin, &nobody, origin,
                                                    memory_order_acquire, /* F */
                                                    memory_order_relaxed))
            return i;
    }
    return -1;
}

/* joint_publish lets the owner take chunks of the copy that the origin has described at place i,
 * which it has taken. */
static inline void joint_publish(struct joint_board *board, int i)
{
    struct joint_place *place = &board->places[i];
    atomic_store_explicit(&place->done, 0, memory_order_relaxed);
    atomic_store_explicit(&place->left, joint_chunks(&place->copy), memory_order_release); /* A */
    atomic_fetch_or_explicit(&board->open, 1u << i, memory_order_relaxed);
}

/* joint_is_done returns whether all chunks of the copy are done. *failed says whether some of them
 * have failed. */
static inline bool joint_is_done(const struct joint_place *place, bool *failed)
{
    const uint32_t done = atomic_load_explicit(&place->done, memory_order_acquire); /* D */
    *failed = done >= JOINT_FAILED;
    return done % JOINT_FAILED == joint_chunks(&place->copy);
}

/* joint_give_place gives place i back, whose copy is done. */
static inline void joint_give_place(struct joint_board *board, int i)
{
    atomic_fetch_and_explicit(&board->open, ~(1u << i), memory_order_relaxed);
    atomic_store_explicit(&board->places[i].origin, 0, memory_order_release); /* E */
}

/* joint_void takes all chunks that are left at the place, and returns how many: nobody begins
 * another one. */
static inline uint32_t joint_void(struct joint_place *place)
{
    return atomic_exchange_explicit(&place->left, 0, memory_order_acquire);
}

/* joint_abandon ends a copy that the origin gives up. The place is free again if nobody has a chunk
 * of it; else it stays taken. */
static inline void joint_abandon(struct joint_board *board, int i)
{
    struct joint_place *place = &board->places[i];
    const uint32_t taken = joint_chunks(&place->copy) - joint_void(place);
    if (atomic_load_explicit(&place->done, memory_order_acquire) % JOINT_FAILED == taken) /* D */
        joint_give_place(board, i);
    else
        atomic_fetch_and_explicit(&board->open, ~(1u << i), memory_order_relaxed);
}

/* joint_helped returns whether a thread of the owner is in a wait now. */
static inline bool joint_helped(const struct joint_board *board)
{
    return atomic_load_explicit(&board->helpers, memory_order_relaxed) != 0;
}

/* ---- the owner ---- */

/* joint_help_begin notes that the calling thread of the owner is in a wait, in which it takes
 * chunks. alone says that no other thread of the owner does this at the same time. */
static inline void joint_help_begin(struct joint_board *board, bool alone)
{
    if (alone)
        atomic_store_explicit(&board->helpers,
                              atomic_load_explicit(&board->helpers, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&board->helpers, 1, memory_order_relaxed);
}

/* joint_help_end ends what one joint_help_begin has begun. */
static inline void joint_help_end(struct joint_board *board, bool alone)
{
    if (alone)
        atomic_store_explicit(&board->helpers,
                              atomic_load_explicit(&board->helpers, memory_order_relaxed) - 1,
                              memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&board->helpers, 1, memory_order_relaxed);
}

/* joint_open returns the places of the board where copies are published, a bit for each. */
static inline uint32_t joint_open(const struct joint_board *board)
{
    return atomic_load_explicit(&board->open, memory_order_relaxed);
}

/* joint_lose takes what is left of the copies of a process that is dead. */
static inline void joint_lose(struct joint_board *board, uint64_t origin)
{
    for (int i = 0; i < JOINT_PLACES; i++)
        if (atomic_load_explicit(&board->places[i].origin, memory_order_relaxed) == origin)
            (void)joint_void(&board->places[i]);
}

#endif
