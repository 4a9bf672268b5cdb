/*
 * event.h - sleeping and waking across processes: an event count on a futex.
 *
 * Lives in memory that the processes share. A waiter polls its condition, and
 * before it sleeps announces itself; a notifier publishes its state and wakes
 * only if somebody announced himself, so the usual notification is one fence
 * and one load of a line that nobody writes.
 *
 *   notifier                          sleeper
 *   A: state = new (release)          C: sleepers += 1 (seq_cst)
 *      fence (seq_cst)                   fence (seq_cst)
 *   B: if (sleepers) wake             D: ticket = seq; state still old? sleep(ticket)
 *
 * Either B sees C, and then seq is bumped and the futex woken, or (by the two
 * fences) D sees A. A wake between reading the ticket and the futex call changes
 * seq, so the call returns at once. Nothing is lost.
 */
#ifndef MRMA_BASE_EVENT_H
#define MRMA_BASE_EVENT_H

#include "base/atomic.h"

struct event {
    _Atomic uint32_t seq;
    _Atomic uint32_t sleepers;
};

static inline void event_init(struct event *ev)
{
    atomic_init(&ev->seq, 0);
    atomic_init(&ev->sleepers, 0);
}

/* Wake everybody who sleeps on ev. Costs a system call. */
void event_wake(struct event *ev);

/* Announce the intention to sleep; returns the ticket for event_sleep. The
 * caller then checks its condition again and calls event_sleep, and in any case
 * event_leave. */
static inline uint32_t event_enter(struct event *ev)
{
    atomic_fetch_add_explicit(&ev->sleepers, 1, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with event_notify */
    return atomic_load_explicit(&ev->seq, memory_order_acquire);
}

static inline void event_leave(struct event *ev)
{
    atomic_fetch_sub_explicit(&ev->sleepers, 1, memory_order_relaxed);
}

/* Sleep until woken or timeout_ns passed (0: no limit). May return early. */
void event_sleep(struct event *ev, uint32_t ticket, uint64_t timeout_ns);

/* To be called after the state that waiters look at was stored with release. */
static inline void event_notify(struct event *ev)
{
    atomic_thread_fence(memory_order_seq_cst); /* pairs with event_enter */
    if (unlikely(atomic_load_explicit(&ev->sleepers, memory_order_relaxed)))
        event_wake(ev);
}

#endif
