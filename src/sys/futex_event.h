/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * futex_event.h - sleeping and waking across processes: an event count on a futex.
 *
 * It lies in memory that the processes share. A waiter polls its condition, and before it sleeps
 * announces itself; a notifier publishes its state and wakes only if somebody announced himself, so
 * the usual notification is one fence and one load of a line that nobody writes.
 *
 *   notifier                          sleeper
 *   A: state = new (release)          C: sleepers += 1 (seq_cst)
 *      fence (seq_cst)                   fence (seq_cst)
 *   B: if (sleepers) wake             D: ticket = seq; state still old? sleep(ticket)
 *
 * The form with membarrier leaves out the notifier's fence, which would wait, once for each signal,
 * until the store has reached the line that the peer polls. Instead the sleeper does both fences:
 * between C and D it calls membarrier(2), which makes every processor that runs a registered
 * process execute a full fence. That fence falls somewhere between the notifier's steps: if it
 * falls before A, B comes after C and sees it; if it falls after A, D comes after A and sees it.
 * All notifiers must be registered (event_membarrier_register), and the owner sets membarrier only
 * while it knows that they are, and that it may call membarrier itself.
 *
 * Either B sees C, and then seq is bumped and the futex woken, or (by the two
 * fences) D sees A. A wake between reading the ticket and the futex call changes
 * seq, so the call returns at once. Nothing is lost.
 *
 * One sleeper at a time may block in poll(2) instead, on descriptors of its own and on the event's
 * doorbell (doorbell.h). It says so in polled before it announces itself, so the argument above
 * holds for polled as it does for sleepers. A wake then also rings the doorbell, but only once
 * until the sleeper has taken notice:
 *
 *   notifier                          sleeper, awake again
 *   E: state = new (release)          G: empty the doorbell
 *   F: rung was 0? then ring          H: rung = 0, then look at the state
 *
 * F and H exchange the value. F before H: H reads what F (or a later one) wrote and
 * sees the state; the ring, if it comes after G, is an early wake next time. H before
 * F: F reads 0 and rings into a doorbell that nobody empties before the next sleep.
 */
#ifndef MRMA_SYS_FUTEX_EVENT_H
#define MRMA_SYS_FUTEX_EVENT_H

#include <stdbool.h>

#include "base/atomic.h"
#include "sys/doorbell.h"

struct event {
    _Atomic uint32_t seq;
    _Atomic uint32_t sleepers;   /* how many sleep, the one in poll(2) included */
    _Atomic uint32_t membarrier; /* its sleepers call membarrier(2): notifiers need no fence */
    _Atomic uint32_t polled;     /* one sleeper blocks in poll(2) */
    _Atomic uint32_t rung;       /* the doorbell of that sleeper has been rung */
    uint32_t unused;
    uint64_t bell; /* doorbell id; set before polled is first set */
};

/* event_init makes *ev an event without sleepers. Only while nobody else uses it; memory that is
 * all zero needs no event_init. */
static inline void event_init(struct event *ev)
{
    atomic_init(&ev->seq, 0);
    atomic_init(&ev->sleepers, 0);
    atomic_init(&ev->membarrier, 0);
    atomic_init(&ev->polled, 0);
    atomic_init(&ev->rung, 0);
    ev->bell = 0;
}

/* event_membarrier_register registers this process with the kernel for membarrier(2). Returns false
 * if the process is not registered, because it has several threads already (the kernel would make
 * the call wait until every processor has passed through it), or because the system does not have
 * or does not allow membarrier. Then the member membarrier may not be set in the events of
 * processes that this one notifies. */
bool event_membarrier_register(void);

/* event_membarrier calls membarrier(2): a full fence on every processor that runs a registered
 * process. It is the sleeper's side of the form with membarrier, and the rare side of other
 * protocols that have a frequent and a rare side. Returns false if the system does not have or does
 * not allow membarrier; then the member membarrier may not be set in any event. */
bool event_membarrier(void);

/* Stands in the place of a descriptor to ring with, for an event on which nobody ever blocks in
 * poll(2). */
enum { EVENT_NO_POLL = -1 };

/* event_wake wakes everybody who sleeps on ev. It makes a system call even if nobody sleeps, and
 * more of them if somebody blocks in poll(2). Here and below doorbell_fd is a socket of
 * doorbell_ring_fd, or EVENT_NO_POLL for an event on which nobody ever blocks in poll(2). */
void event_wake(struct event *ev, int doorbell_fd);

/* event_enter announces that the calling thread is about to sleep on ev (C), and returns the ticket
 * for event_sleep. The caller then looks at its condition again (D), calls event_sleep if that has
 * not come true, and in any case event_leave. */
uint32_t event_enter(struct event *ev);

/* event_leave ends what event_enter began. */
static inline void event_leave(struct event *ev)
{
    atomic_fetch_sub_explicit(&ev->sleepers, 1, memory_order_relaxed);
}

/* event_sleep sleeps until ev is woken, or timeout_ns nanoseconds have passed (0: no limit).
 * Returns at once if ev was woken since the ticket was taken, and may return early. */
void event_sleep(struct event *ev, uint32_t ticket, uint64_t timeout_ns);

/* event_was_woken returns whether ev was woken since the ticket was taken. A thread that sleeps in
 * several parts asks after each of them; it looks by itself at what it waits for. */
static inline bool event_was_woken(const struct event *ev, uint32_t ticket)
{
    return atomic_load_explicit(&ev->seq, memory_order_relaxed) != ticket;
}

/* event_enter_polled is event_enter for the one sleeper of ev that blocks in poll(2): a look at the
 * condition follows, then event_poll, and in any case event_leave_polled. Returns the ticket, for
 * event_was_woken. */
uint32_t event_enter_polled(struct event *ev);

/* event_poll blocks until the event's doorbell bell is rung, one of the n descriptors fds is
 * readable, or timeout_ns nanoseconds have passed (0: no limit). It looks at no more than 8
 * descriptors. Rings that have come are taken. Returns whether one of fds is readable. */
bool event_poll(const struct doorbell *bell, const int *fds, unsigned n, uint64_t timeout_ns);

/* event_leave_polled ends what event_enter_polled began; the caller then looks at its condition
 * (H). */
void event_leave_polled(struct event *ev);

/* event_notify_fence stands between the notifier's store and its look at sleepers. It is a full
 * fence, or only a fence for the compiler where the sleepers of ev call membarrier(2). */
static inline void event_notify_fence(const struct event *ev)
{
    if (likely(atomic_load_explicit(&ev->membarrier, memory_order_relaxed)))
        atomic_signal_fence(memory_order_seq_cst); /* pairs with membarrier in event_enter */
    else
        atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in event_enter */
}

/* event_notify wakes those who sleep on ev, if there are any. Called after the state that they look
 * at was stored with release. */
static inline void event_notify(struct event *ev, int doorbell_fd)
{
    event_notify_fence(ev);
    if (unlikely(atomic_load_explicit(&ev->sleepers, memory_order_relaxed)))
        event_wake(ev, doorbell_fd);
}

/* event_notify_exchanged is event_notify where the state was changed by a sequentially consistent
 * exchange, which serves as the fence: in the single order of sequentially consistent operations
 * the exchange comes before the look at sleepers, and the sleeper's steps are in that order, too:
 * C, which is sequentially consistent, and D, which is so or stands behind the fence. */
static inline void event_notify_exchanged(struct event *ev, int doorbell_fd)
{
    if (unlikely(atomic_load_explicit(&ev->sleepers, memory_order_seq_cst)))
        event_wake(ev, doorbell_fd);
}

#endif
