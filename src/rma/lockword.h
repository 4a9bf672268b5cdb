/*
 * lockword.h - the one lock word of a window's target: a ticket reader-writer
 * lock in 64 bits, first come first served, consecutive shared requests together.
 *
 * Fields of 20 bits: next ticket; rserv, the ticket up to which shared requests
 * may enter; wserv, how many requests have released. A shared request enters
 * when rserv is its ticket and moves rserv on for the next; an exclusive one when
 * wserv is its ticket, i.e. everybody before it has released. Bit 63 (yielded):
 * the exclusive request at the head waits for MPI_Win_lock_all holders, see
 * lock_all.c. Every change is one compare-and-swap (sequentially consistent:
 * it doubles as the fence before the check for sleepers); a request takes a
 * ticket without waiting, so the target can take one for a packet that asks.
 */
#ifndef MRMA_RMA_LOCKWORD_H
#define MRMA_RMA_LOCKWORD_H

#include <stdbool.h>

#include "base/atomic.h"

#define LOCKWORD_MASK UINT64_C(0xfffff)
#define LOCKWORD_YIELDED (UINT64_C(1) << 63)

static inline uint32_t lockword_next(uint64_t w) { return (uint32_t)(w & LOCKWORD_MASK); }
static inline uint32_t lockword_rserv(uint64_t w) { return (uint32_t)((w >> 20) & LOCKWORD_MASK); }
static inline uint32_t lockword_wserv(uint64_t w) { return (uint32_t)((w >> 40) & LOCKWORD_MASK); }

static inline uint64_t lockword_make(uint64_t flags, uint32_t next, uint32_t rserv, uint32_t wserv)
{
    return (flags & LOCKWORD_YIELDED) | (next & LOCKWORD_MASK) | ((rserv & LOCKWORD_MASK) << 20) |
           ((wserv & LOCKWORD_MASK) << 40);
}

static inline bool lockword_cas(_Atomic uint64_t *word, uint64_t *old, uint64_t new_word)
{
    return atomic_compare_exchange_weak_explicit(word, old, new_word, memory_order_seq_cst,
                                                 memory_order_acquire);
}

/* Take a ticket; *granted tells whether the lock is held with it at once. */
static inline uint32_t lockword_take(_Atomic uint64_t *word, bool exclusive, bool *granted)
{
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed), want;
    uint32_t ticket;
    do {
        ticket = lockword_next(old);
        uint32_t rserv = lockword_rserv(old), wserv = lockword_wserv(old);
        *granted = exclusive ? wserv == ticket : rserv == ticket;
        if (!exclusive && *granted)
            rserv++;
        want = lockword_make(old, ticket + 1, rserv, wserv);
    } while (!lockword_cas(word, &old, want));
    return ticket;
}

/* Has the turn of a ticket come? True: the lock is held with it. */
static inline bool lockword_enter(_Atomic uint64_t *word, uint32_t ticket, bool exclusive)
{
    uint64_t old = atomic_load_explicit(word, memory_order_seq_cst);
    if (exclusive)
        return lockword_wserv(old) == ticket;
    while (lockword_rserv(old) == ticket)
        if (lockword_cas(word, &old, lockword_make(old, lockword_next(old), ticket + 1, lockword_wserv(old))))
            return true;
    return false;
}

static inline void lockword_release(_Atomic uint64_t *word, bool exclusive)
{
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed), want;
    do {
        want = lockword_make(old, lockword_next(old), lockword_rserv(old) + (exclusive ? 1 : 0),
                             lockword_wserv(old) + 1);
    } while (!lockword_cas(word, &old, want));
}

/* No exclusive request has its turn: none is queued, or shared holders are still
 * before it (it will look at lock_all's holders after them), or it has stepped
 * back for lock_all. */
static inline bool lockword_open_to_all(_Atomic uint64_t *word)
{
    uint64_t w = atomic_load_explicit(word, memory_order_seq_cst);
    return lockword_next(w) == lockword_rserv(w) || lockword_rserv(w) != lockword_wserv(w) ||
           (w & LOCKWORD_YIELDED);
}

static inline void lockword_set_yielded(_Atomic uint64_t *word, bool yielded)
{
    if (yielded)
        atomic_fetch_or_explicit(word, LOCKWORD_YIELDED, memory_order_seq_cst);
    else
        atomic_fetch_and_explicit(word, ~LOCKWORD_YIELDED, memory_order_seq_cst);
}

#endif
