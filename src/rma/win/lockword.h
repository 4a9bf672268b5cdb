/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lockword.h - the one lock word of a window's target: a ticket reader-writer lock in 64 bits. It
 * serves requests in the order in which they came, and consecutive shared requests together.
 *
 * Fields of 20 bits: next ticket; rserv, the ticket up to which shared requests may enter; wserv,
 * how many requests have released. A shared request enters when rserv is its ticket and moves rserv
 * on for the next; an exclusive one when wserv is its ticket, i.e. everybody before it has
 * released. Behind each field stands a bit that takes the field's carry and is cleared again, so
 * that one addition raises several fields. Bit 63 (yielded): the exclusive request at the head
 * waits for holders of MPI_Win_lock_all, see target_lock.h. Every change is one compare-and-swap
 * (sequentially consistent: it doubles as the fence before the check for sleepers); a request takes
 * a ticket without waiting, so the target can take a ticket on behalf of a packet that asks for the
 * lock.
 *
 * Order of stores and loads:
 *
 *   holder                                next
 *   stores under the lock                 B: its turn has come (load or exchange)
 *   A: release a ticket (exchange)           loads see the stores
 *      sleepers? wake
 *
 * All of these are sequentially consistent. A pairs with B; a chain of releases by shared holders
 * is a release sequence, because each is a read-modify-write of the same word. Waiters sleep on the
 * target's lock_event. A shared request that enters moves the word on for the next shared one, and
 * so wakes sleepers, too. The load that looks for sleepers needs no fence: this load, the exchange
 * before it, the sleeper's announcement and the sleeper's second look at the word are all in the
 * single order of sequentially consistent operations.
 *
 * A lock that is free is taken and given back in the entry points (rma/layer/fast.h) by the same
 * exchanges. If an exclusive request there finds holders of MPI_Win_lock_all after its ticket is in
 * the word (C before D of target_lock.h), it releases the word, as after an epoch without
 * operations, and asks again in the general way. target/lock_queue.c has what a target does for
 * packets that wait for its lock.
 */
#ifndef MRMA_RMA_WIN_LOCKWORD_H
#define MRMA_RMA_WIN_LOCKWORD_H

#include <stdbool.h>

#include "base/atomic.h"
#include "base/tsan_order.h"

#define LOCKWORD_MASK UINT64_C(0xfffff)
#define LOCKWORD_RSERV 21
#define LOCKWORD_WSERV 42
#define LOCKWORD_YIELDED (UINT64_C(1) << 63)
#define LOCKWORD_CARRIES (UINT64_C(1) << 20 | UINT64_C(1) << 41 | UINT64_C(1) << 62)

/* lockword_next returns the ticket that the next request will get. */
static inline uint32_t lockword_next(uint64_t w)
{
    return (uint32_t)(w & LOCKWORD_MASK);
}

/* lockword_rserv returns the ticket up to which shared requests have entered. A shared request
 * enters when this is its ticket. */
static inline uint32_t lockword_rserv(uint64_t w)
{
    return (uint32_t)((w >> LOCKWORD_RSERV) & LOCKWORD_MASK);
}

/* lockword_wserv returns how many requests have released, and so the ticket of the exclusive
 * request whose turn it may be. */
static inline uint32_t lockword_wserv(uint64_t w)
{
    return (uint32_t)((w >> LOCKWORD_WSERV) & LOCKWORD_MASK);
}

/* lockword_free returns the word of a lock that nobody holds. Its next ticket is first, modulo the
 * tickets that a word can tell apart. */
static inline uint64_t lockword_free(uint32_t first)
{
    const uint64_t ticket = first & LOCKWORD_MASK;
    return ticket | ticket << LOCKWORD_RSERV | ticket << LOCKWORD_WSERV;
}

/* lockword_users returns how many hold the lock, or wait for it, with a ticket. */
static inline uint32_t lockword_users(uint64_t w)
{
    return (lockword_next(w) - lockword_wserv(w)) & (uint32_t)LOCKWORD_MASK;
}

/* lockword_count returns w with those of the three fields raised by one whose argument is true. */
static inline uint64_t lockword_count(uint64_t w, bool next, bool rserv, bool wserv)
{
    const uint64_t by =
        (uint64_t)next | (uint64_t)rserv << LOCKWORD_RSERV | (uint64_t)wserv << LOCKWORD_WSERV;
    return (w + by) & ~LOCKWORD_CARRIES;
}

/* lockword_cas stores new_word if the word holds *old. False: the word holds something else, or the
 * processor gave up; *old is then what the word holds. */
static inline bool lockword_cas(_Atomic uint64_t *word, uint64_t *old, uint64_t new_word)
{
    const bool changed = atomic_compare_exchange_weak_explicit(
        word, old, new_word, memory_order_seq_cst, memory_order_acquire);
    order_after(&order_others);
    return changed;
}

/* lockword_take takes a ticket and returns it. *granted says whether the caller holds the lock at
 * once; if not, lockword_enter says when it does. Sleepers need not be woken. Never waits. */
static inline uint32_t lockword_take(_Atomic uint64_t *word, bool exclusive, bool *granted)
{
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);
    do {
        const uint32_t serves = exclusive ? lockword_wserv(old) : lockword_rserv(old);
        *granted = serves == lockword_next(old);
    } while (!lockword_cas(word, &old, lockword_count(old, true, !exclusive && *granted, false)));
    return lockword_next(old);
}

/* lockword_try takes the lock if that can be done at once and nobody else changes the word
 * meanwhile. True: the lock is held; false: nothing has changed. Never waits. */
static inline bool lockword_try(_Atomic uint64_t *word, bool exclusive)
{
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);
    const uint64_t serves = exclusive ? old >> LOCKWORD_WSERV : old >> LOCKWORD_RSERV;
    return likely(((serves ^ old) & LOCKWORD_MASK) == 0) &&
           likely(lockword_cas(word, &old, lockword_count(old, true, !exclusive, false)));
}

/* lockword_enter returns whether the turn of a ticket from lockword_take has come. True: the lock
 * is held with that ticket, and the function must not be called for the ticket again; after a
 * shared ticket has entered the caller wakes those who sleep for the word. */
static inline bool lockword_enter(_Atomic uint64_t *word, uint32_t ticket, bool exclusive)
{
    uint64_t old = atomic_load_explicit(word, memory_order_seq_cst);
    order_after(&order_others);
    if (exclusive)
        return lockword_wserv(old) == ticket;
    while (lockword_rserv(old) == ticket)
        if (lockword_cas(word, &old, lockword_count(old, false, true, false)))
            return true;
    return false;
}

/* lockword_release gives back the lock that is held with a ticket; the caller then wakes those who
 * sleep for the word. It is a full fence too: stores under the lock come before loads of the next
 * epoch, of another target's memory, say. */
static inline void lockword_release(_Atomic uint64_t *word, bool exclusive)
{
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);
    order_before(&order_others);
    while (!lockword_cas(word, &old, lockword_count(old, false, exclusive, true)))
        ;
    atomic_rmw_fence();
}

/* lockword_open_to_all returns whether no exclusive request has its turn: no exclusive request is
 * queued, or shared holders are still before it (it looks for holders of lock_all when they are
 * gone), or it has stepped back for lock_all. */
static inline bool lockword_open_to_all(_Atomic uint64_t *word)
{
    uint64_t w = atomic_load_explicit(word, memory_order_seq_cst);
    return lockword_next(w) == lockword_rserv(w) || lockword_rserv(w) != lockword_wserv(w) ||
           (w & LOCKWORD_YIELDED);
}

/* lockword_set_yielded sets or clears the mark which says that the exclusive request at the head
 * has stepped back (target_lock.h). */
static inline void lockword_set_yielded(_Atomic uint64_t *word, bool yielded)
{
    if (yielded)
        atomic_fetch_or_explicit(word, LOCKWORD_YIELDED, memory_order_seq_cst);
    else
        atomic_fetch_and_explicit(word, ~LOCKWORD_YIELDED, memory_order_seq_cst);
}

#endif
