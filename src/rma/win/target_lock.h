/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_lock.h - the lock of a target, in its control block: what a process does to a lock word
 * that it can reach, on its own behalf (lock.c, lock_all.c) or, if it is the target, on behalf of
 * packets (lock_queue.c). Nothing here waits.
 *
 * The word is that of lockword.h. A process that changes the word by an exchange wakes those who
 * sleep for it.
 *
 * Tickets are served in order: a shared request waits behind an exclusive one that waits. A process
 * that holds another lock already, or is in an epoch of lock_all, asks without a ticket instead. It
 * counts itself in `ticketless` of the target's block, then looks at the word, and waits only while
 * an exclusive lock is held there. An exclusive request whose turn has come looks at the count. If
 * anybody is ticketless there it steps back: it marks the word as yielded and waits until nobody
 * is.
 *
 *   first access to t                     exclusive lock on t
 *   A: ticketless += 1                    C: ticket into t's word
 *   B: has t's word an exclusive ticket?  D: its turn has come: ticketless == 0?
 *
 * All four are sequentially consistent. If A comes before D, the exclusive request sees that a
 * process is ticketless and steps back. Otherwise D comes before A, so C comes before B, and B sees
 * the ticket and waits until it is released or marked. Both may see each other; then only the
 * exclusive request steps back. To try again it first clears the mark and then looks at the count,
 * which is the same pair of accesses. So that it is not starved, a new MPI_Win_lock_all waits while
 * an exclusive request has stepped back on the node, if its process holds no lock.
 *
 *   last ticketless one goes              stepped-back request
 *   E: ticketless -= 1 (seq_cst)          G: the mark (seq_cst)
 *   F: is t's word marked? wake           H: ticketless == 0 before it sleeps?
 *
 * Either F sees G and wakes, or H sees E. It sleeps on the event count of the target's lock_event.
 * Holders' stores are visible to the exclusive request since E pairs with the load of 0: every
 * decrement is a read-modify-write of that word.
 *
 * lock_all counts itself at a target before its first access there, so it stops nobody at other
 * targets; the call MPI_Win_lock_all counts the process at its own memory only. In windows from
 * MPI_Win_allocate_shared loads and stores to all targets may follow at once: there it is counted
 * in one word for the node, `all` in the control block of the lowest of the memory peers, and only
 * while no exclusive lock is held at any of them. In such windows A is one addition to `all`, which
 * D looks at, too, and B looks at the words of all targets. If one of them has an exclusive ticket,
 * the process takes A back, waits until that word is open, and tries again: it holds all locks or
 * none. While it waits it holds none, but it counts itself in the upper half of `all`, and
 * meanwhile processes that hold no lock do not begin to ask for an exclusive one.
 *
 * Why no requests wait for each other in a circle, unless locks that are held do
 *   In this list a request at target t waits for:
 *     exclusive: holders at t, requests at t with earlier tickets, the ticketless at t
 *     shared:    requests at t with earlier tickets; its process holds no lock
 *     ticketless: the one that holds t exclusively
 *     lock_all of a shared window that waits: one that holds some target exclusively
 *     outside (a lock_all or exclusive request that lets others go first): such others; its
 *                process holds no lock, and it is in no queue
 *   Among the requests at t the waits go one way: to earlier tickets, from tickets to those
 *   without one, and from these to a holder. So a request that waits for another at t waits, in
 *   the end, for a holder at t. If it is exclusive, that holder excludes it in any case. If it is
 *   ticketless, it waits for an exclusive holder, which does too. If it is shared, with a ticket,
 *   or outside, its process holds nothing: nobody waits for it but later tickets at t, of whom the
 *   same has been said. Each circle of waits is therefore one of processes that hold a lock and
 *   wait for one that excludes it.
 */
#ifndef MRMA_RMA_WIN_TARGET_LOCK_H
#define MRMA_RMA_WIN_TARGET_LOCK_H

#include "rma/win/lockword.h"
#include "rma/win/win.h"

/* Addends of win_ctl.all: one process that waits, in the upper half; one that holds, in the lower
 * half. */
#define LOCK_ALL_WAITER (UINT64_C(1) << 32)
#define LOCK_ALL_HOLDERS (LOCK_ALL_WAITER - 1)

/* lock_wake_owner wakes the process whose lock it is, so that it looks at the lock requests of
 * packets. */
void lock_wake_owner(struct rma_target *t);

/* lock_notify wakes the processes that sleep for the lock of t, a memory peer, after an exchange
 * has changed the lock's word; and the target itself if packets wait for the lock there. */
static inline __attribute__((always_inline)) void lock_notify(struct rma_target *t)
{
    event_notify_exchanged(&t->ctl->lock_event, EVENT_NO_POLL);
    if (unlikely(atomic_load_explicit(&t->ctl->packets_wait, memory_order_seq_cst)))
        lock_wake_owner(t);
}

/* lock_try_pass lets an exclusive ticket whose turn has come hold t's lock, if nobody holds it
 * without a ticket. True: the lock is held. False: the request has stepped back, which *yielded
 * says (false before the first call), and must try again when lock_event is notified. */
bool lock_try_pass(struct win *w, struct rma_target *t, bool *yielded);

/* lock_count counts this process, or the sender of a packet, among those who hold t's lock without
 * a ticket or wait to do so. The lock is held once lockword_open_to_all says so. */
void lock_count(struct rma_target *t);

/* lock_uncount takes one lock_count back, and wakes an exclusive request that has stepped back. It
 * is a full fence, as lockword_release is. */
void lock_uncount(struct rma_target *t);

/* lock_all_try takes the locks of all memory peers, for lock_all of a window from
 * MPI_Win_allocate_shared. NULL: all are held, and lock_all_leave gives them back. Else none is
 * held, and the function returns a target whose lock somebody holds exclusively. */
struct rma_target *lock_all_try(struct win *w);

/* lock_all_leave gives back what lock_all_try has taken, and wakes exclusive requests that have
 * stepped back. A full fence. */
void lock_all_leave(struct win *w);

/* lock_is_nested returns whether this process holds another lock than the one that it asks for in
 * w. Under the engine's lock, when the epoch has begun. */
bool lock_is_nested(const struct win *w);

#endif
