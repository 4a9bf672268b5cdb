/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unsent.h - what calls have left unsent, so that it leaves with later operations: open packets
 * (origin/open_packet.c), and small copies that wait for others to share a system call
 * (path/assisted.c); and operations by packet whose target may not be accessed yet
 * (path/deferred.c). The program may synchronize late, or only after another process has seen these
 * operations: so each of them leaves by itself, within a bounded time.
 *
 * The code that leaves something unsent enters it (unsent_add), and the code that sends it takes it
 * out (unsent_gone). The agent looks at the entries every UNSENT_LOOK_NS, which is the period. An
 * entry that it finds for the second time leaves. That is between one and two periods after it was
 * entered, so that a put which is flushed soon leaves together with its flush. Without an agent
 * every round of progress looks, if the period is over: in calls of this library, whose sleeping
 * threads are woken in the agent's place, and in calls of a host that polls for this library.
 *
 * While nothing is entered nobody looks. A thread that enters something when no look is due wakes
 * the agent, which then goes on looking until nothing was entered for a whole period.
 *
 *   thread that enters                    agent
 *   A: due = true (engine's lock)         C: announces itself as a sleeper; fence (event_enter)
 *      fence                              D: due? sleep for the rest of the period only
 *   B: a sleeper? wake it
 *
 * The fences are in one order: B sees C, or D sees A. due becomes false only under the engine's
 * lock, when the list is empty or has only entries without room; so a thread that enters something
 * afterwards finds due false, and wakes the agent. Only the thread that looks needs to know that
 * nothing has room.
 *
 * Entries that cannot leave for want of room in a send queue, and deferred operations, stay. While
 * nothing else is entered the looks at them become rarer: the time between looks doubles, up to 16
 * periods. So when there is room again, such an entry leaves within the time for which it has
 * waited already; or it leaves soon after the target's word (unsent_retry). While all entries wait
 * so no look is due, and a thread that enters something more wakes the agent.
 *
 * An entry that cannot leave because its target has not begun its part of the epoch is taken out by
 * leave(), and leaves when the target's word comes (origin_answer_came, open_packet.c). Nobody
 * looks at it meanwhile.
 *
 * Locks: the engine's is held by the caller of unsent_add, unsent_await and unsent_gone, and of
 * leave(). The others are called without it.
 */
#ifndef MRMA_RMA_PROGRESS_UNSENT_H
#define MRMA_RMA_PROGRESS_UNSENT_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/win/win.h"

enum { UNSENT_LOOK_NS = 500000 };

/* unsent_init makes the list of r empty, at the layer's start. */
void unsent_init(struct rma *r);

/* unsent_wake is the part of unsent_add for the case that no look is due, out of line. */
void unsent_wake(struct rma *r);

/* unsent_add enters u, whose leave is set and which is not entered. */
static inline void unsent_add(struct rma *r, struct unsent *u)
{
    struct unsent_list *all = &r->progress.unsent;
    u->seen = false;
    all->added++;
    list_push_back(&all->entries, &u->link);
    if (unlikely(!atomic_load_explicit(&all->due, memory_order_relaxed)))
        unsent_wake(r);
}

/* unsent_gone takes u out, which has been sent. Nothing happens if it is not entered. */
static inline void unsent_gone(struct rma *r, struct unsent *u)
{
    if (list_node_queued(&u->link))
        list_remove(&u->link);
    if (unlikely(u->awaited)) {
        u->awaited = false;
        atomic_fetch_sub_explicit(&r->progress.unsent.awaited, 1, memory_order_relaxed);
    }
}

/* unsent_retry notes that entries that had no room, or waited for another process, may leave now,
 * so that the next look comes soon. Under the engine's lock. */
static inline void unsent_retry(struct rma *r)
{
    struct unsent_list *all = &r->progress.unsent;
    if (likely(!atomic_load_explicit(&all->no_room, memory_order_relaxed)))
        return;
    atomic_store_explicit(&all->no_room, false, memory_order_relaxed);
    unsent_wake(r);
}

/* unsent_await notes that u, which is entered, has an operation with a request: u leaves at the
 * latest when the program asks for any request. */
static inline void unsent_await(struct rma *r, struct unsent *u)
{
    if (likely(u->awaited))
        return;
    u->awaited = true;
    atomic_fetch_add_explicit(&r->progress.unsent.awaited, 1, memory_order_relaxed);
}

/* unsent_awaited returns whether anything entered has an operation with a request. Any thread may
 * call; a thread sees what it has entered itself. */
static inline bool unsent_awaited(const struct rma *r)
{
    return atomic_load_explicit(&r->progress.unsent.awaited, memory_order_relaxed) != 0;
}

/* unsent_send_awaited lets all entries that have operations with requests leave now, if they may.
 * Does not wait for other processes. */
void unsent_send_awaited(struct rma *r);

/* unsent_look looks, if a look is due: what was entered before the last look leaves. Returns
 * whether a look was due. For the agent. */
bool unsent_look(struct rma *r);

/* unsent_look_locked does the same with the engine's lock held, for rounds of progress of a process
 * without an agent. */
void unsent_look_locked(struct rma *r);

/* unsent_poll_due returns whether a process without an agent has to make a round of progress now
 * because a look is due. Any thread. */
bool unsent_poll_due(const struct rma *r);

/* unsent_pause returns the nanoseconds until a look is due, at least 1; 0: none will be. Any
 * thread. */
uint64_t unsent_pause(const struct rma *r);

#endif
