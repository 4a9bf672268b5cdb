/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * polling.h - tells whether a thread of a process looks for what arrives, or whether one must be
 * woken.
 *
 * Each process has one struct polling in memory that the processes of its node share. Its own
 * threads say there that they poll or sleep; a process that sends something to it looks there, and
 * wakes those that it must:
 *
 * - Application threads in a wait of this library poll (polling_poll_begin, polling_poll_end),
 *   and then sleep on threads. A thread that sleeps is woken by the first packet.
 * - The agent sleeps on agent. It is woken only while no application thread polls.
 * - A call of the host may poll from within (polling_note_host_poll). Nobody says when that call
 *   ends, so a sender relies on the call only while the agent has promised to look again soon
 *   (polling_agent_sleeps): it sleeps for a short time only. If nobody has polled during such a
 *   short sleep, the agent takes both words back at its end: they are wrong for the length of one
 *   short sleep at most. A sender that has waited for longer than a wake-up takes need not wait for
 *   the end of that sleep (polling_call_agent).
 *
 * A packet that arrives after a thread's last poll, and before the thread has said that it polls no
 * more, must not lie there until the next call. Each of the two processes makes one store and one
 * load:
 *
 *   sender                                   receiver
 *   A: publish the packet (release)          C: threads.sleepers += 1, or polling -= 1 (seq_cst)
 *      fence (seq_cst)                          fence (seq_cst)
 *   B: sleepers? polling? wake               D: is there a packet? stay awake, or wake the agent
 *
 * The fences are in one total order. If the sender's comes first, D finds what A has published;
 * otherwise B finds what C has stored, and wakes. For sleepers the sender's fence may be left out
 * (membarrier, futex_event.h): event_enter then makes both fences. A thread that stops polling uses
 * no membarrier, so the sender's look at polling stands behind a full fence.
 *
 * A packet that was left to a call of the host must not lie there when the agent sleeps without
 * limit:
 *
 *   sender                                   agent, before it sleeps without limit
 *   A: publish the packet (release)          C: agent_looks = 0; agent.sleepers += 1 (seq_cst)
 *      fence (seq_cst)                          fence (seq_cst)
 *   B: agent_looks and host_polls? done      D: is there a packet? serve it, and do not sleep
 *      agent.sleepers? wake
 *
 * If the sender's fence comes first, D finds what A has published. Otherwise B reads what C has
 * stored, and wakes, or a 1 that the agent has stored since: then the agent has woken up meanwhile
 * and does D once more at the end of the short sleep for which it has stored the 1.
 *
 * A call of the host makes millions of rounds a second, and its own messages wait meanwhile, so a
 * round looks at one word of its own process: senders say there that something has come
 * (POLLING_HOST_CALLED), and rounds look into the rings until a number of them have found nothing:
 *
 *   sender                                   round of the host's call
 *   A: publish the packet (release)          C: host_polls = POLLING_HOST_POLLS
 *      fence (seq_cst)                          fence (seq_cst)
 *   B: host_polls is POLLING_HOST_POLLS?     D: is there a packet? host_polls = POLLING_HOST_CALLED
 *      host_polls = POLLING_HOST_CALLED
 *
 * The fences are in one total order. If the sender's comes first, D finds what A has published;
 * otherwise B finds what C has stored, and calls. The word is lost if the agent takes it back
 * meanwhile: the agent then looks for packets itself.
 *
 * polling counts threads up and down, so that it is one word for all of them; another thread that
 * polls at that time does no harm, and finds the packet. polling_is_polled is a guess from a
 * relaxed load: it decides which way an operation goes, never whether it arrives.
 *
 * No locks. Neighbours: futex_event.h, below; shm/shm_channel.c, which calls for packets in rings;
 * rma/progress, whose threads poll and sleep; rma/path/assisted.c, which asks whether the target
 * polls.
 */
#ifndef MRMA_SYS_POLLING_H
#define MRMA_SYS_POLLING_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys/futex_event.h"

/* All zero: nobody looks, and there is no agent. In the functions below doorbell_fd is what the
 * calling process rings with (doorbell_ring_fd). */
struct polling {
    alignas(MRMA_CACHE_LINE) struct event threads; /* where application threads sleep in a wait */
    _Atomic uint32_t has_agent;                    /* an agent runs, to the end of the process */
    _Atomic uint32_t ended; /* nobody looks any more: MPI_Finalize was called */
    alignas(MRMA_CACHE_LINE) struct event agent;       /* where the agent sleeps */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t polling; /* application threads that poll */
    _Atomic uint32_t host_polls;                       /* enum polling_host */
    _Atomic uint32_t agent_looks; /* 1: the agent is awake, or sleeps for a short time only */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t host_beats; /* changes with each round of the host */
};

enum polling_host {
    POLLING_HOST_NOT,   /* no call of the host has polled since the agent slept without limit */
    POLLING_HOST_POLLS, /* a call of the host polls, or did so when it was last seen */
    POLLING_HOST_CALLED /* the same, and a packet has come that the call is to serve */
};

/* What this process knows of the rounds of another process's host. All zero: nothing. */
struct polling_seen {
    _Atomic uint32_t beats; /* the other's host_beats when it was last looked at */
    _Atomic uint64_t at;    /* nanoseconds: when host_beats was last seen to change; 0: it was found
                               not to change */
};

/* ---- by the process itself ---- */

/* polling_poll_begin notes that the calling thread polls from now on, so that senders need not
 * wake the agent. May be nested. */
static inline void polling_poll_begin(struct polling *a)
{
    atomic_fetch_add_explicit(&a->polling, 1, memory_order_seq_cst);
}

/* polling_poll_end ends what one polling_poll_begin has begun (C of the diagram above). The caller
 * then looks once more at what has arrived (D), and wakes the agent if something has. */
static inline void polling_poll_end(struct polling *a)
{
    atomic_fetch_sub_explicit(&a->polling, 1, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with polling_call */
}

/* polling_threads_poll returns whether an application thread of the process polls. The agent asks
 * this, and does not poll at the same time. */
static inline bool polling_threads_poll(const struct polling *a)
{
    return atomic_load_explicit(&a->polling, memory_order_seq_cst) != 0;
}

/* polling_note_host_poll notes that a call of the host polls now. May be called millions of times
 * a second. Of two threads that call it at once one may lose its count. */
static inline void polling_note_host_poll(struct polling *a)
{
    const uint32_t beats = atomic_load_explicit(&a->host_beats, memory_order_relaxed);
    atomic_store_explicit(&a->host_beats, beats + 1, memory_order_relaxed);
    if (!atomic_load_explicit(&a->host_polls, memory_order_relaxed))
        atomic_store_explicit(&a->host_polls, POLLING_HOST_POLLS, memory_order_relaxed);
}

/* polling_host_is_called returns whether something was left to the call of the host that polls. */
static inline bool polling_host_is_called(const struct polling *a)
{
    return atomic_load_explicit(&a->host_polls, memory_order_relaxed) == POLLING_HOST_CALLED;
}

/* polling_host_rests notes that rounds of the host need not look into the rings until a sender
 * calls (C of the third diagram). The caller then looks for packets once more, and calls
 * polling_call_host if there are any (D). */
static inline void polling_host_rests(struct polling *a)
{
    atomic_store_explicit(&a->host_polls, POLLING_HOST_POLLS, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* before D; pairs with polling_call */
}

/* polling_call_host leaves what has come to the call of the host that polls, if there is one. The
 * agent may take the word back at the same time (polling_agent_sleeps): then it looks itself. */
static inline void polling_call_host(struct polling *a)
{
    if (atomic_load_explicit(&a->host_polls, memory_order_relaxed) == POLLING_HOST_POLLS)
        atomic_store_explicit(&a->host_polls, POLLING_HOST_CALLED, memory_order_relaxed);
}

/* polling_host_polled returns whether a call of the host has polled since the agent last slept
 * without limit, and since the last polling_call_agent. */
static inline bool polling_host_polled(const struct polling *a)
{
    return atomic_load_explicit(&a->host_polls, memory_order_relaxed);
}

/* polling_agent_sleeps notes how long the agent is going to sleep. If soon is true it sleeps for a
 * short time only, so that senders may leave what they send to a call of the host that polls.
 * Otherwise it may sleep for long: the agent then announces itself as a sleeper (event_enter), and
 * looks for packets once more before it sleeps (C and D of the second diagram). Only for the
 * agent. */
static inline void polling_agent_sleeps(struct polling *a, bool soon)
{
    atomic_store_explicit(&a->agent_looks, soon, memory_order_relaxed);
    if (!soon)
        atomic_store_explicit(&a->host_polls, 0, memory_order_relaxed);
}

/* polling_agent_begins notes that an agent runs, and will go on running whatever the application
 * does: others may rely on the agent from now on. */
static inline void polling_agent_begins(struct polling *a)
{
    atomic_store_explicit(&a->has_agent, 1, memory_order_seq_cst);
}

/*
 * polling_end notes that nobody of this process looks any more, and that it sends nothing any
 * more:
 *
 *   process that ends                         peer that waits for it
 *   its last packets, its last signals        B: ended (acquire)
 *   A: ended = 1 (release)                    looks for what is unread, and at its condition
 *
 * If B reads A, both looks find what was sent. Then nothing comes any more, and the wait fails.
 */
static inline void polling_end(struct polling *a)
{
    atomic_store_explicit(&a->has_agent, 0, memory_order_relaxed);
    atomic_store_explicit(&a->ended, 1, memory_order_release);
}

/* polling_call_own wakes this process's own agent unless one of its application threads polls:
 * something waits that only polls of this library move on, not polls of a call of the host. */
static inline void polling_call_own(struct polling *a, int doorbell_fd)
{
    atomic_thread_fence(memory_order_seq_cst); /* pairs with polling_poll_end */
    if (!atomic_load_explicit(&a->polling, memory_order_relaxed))
        event_notify(&a->agent, doorbell_fd);
}

/* ---- by others, of the same node ---- */

/* polling_call_threads wakes the threads of the process that sleep in a wait, and returns whether
 * there were any. It is called after the state for which they wait was published. */
static inline bool polling_call_threads(struct polling *a, int doorbell_fd)
{
    event_notify_fence(&a->threads);
    if (!atomic_load_explicit(&a->threads.sleepers, memory_order_relaxed))
        return false;
    event_wake(&a->threads, doorbell_fd);
    return true;
}

/* polling_call makes sure that somebody of the process looks, after a packet was published for it
 * (A): the threads that sleep in a wait are woken, or, where nobody polls, the agent. Returns
 * whether it was the agent. */
bool polling_call(struct polling *a, int doorbell_fd);

/* polling_has_ended returns whether the process has called MPI_Finalize. If so, all that it has
 * sent can be seen (pairs with polling_end). */
static inline bool polling_has_ended(const struct polling *a)
{
    return atomic_load_explicit(&a->ended, memory_order_acquire) != 0;
}

/* polling_has_agent returns whether the process has an agent: then what arrives is served within
 * the time of a wake-up, whatever its application does. */
static inline bool polling_has_agent(const struct polling *a)
{
    return atomic_load_explicit(&a->has_agent, memory_order_acquire);
}

/* polling_host_beats returns whether a call of the host of the process polls now: its rounds are
 * counted, and the count has changed within the last microseconds. Where it has changed, but at an
 * unknown time, polling_host_beats waits for the next round, for two microseconds at most. clock is
 * in nanoseconds, never 0. Any thread. */
bool polling_host_beats(const struct polling *a, struct polling_seen *seen,
                        uint64_t (*clock)(void));

/* polling_is_polled returns whether somebody of the process polls now, and an agent serves what
 * comes later. The answer is a guess, since the threads that poll may stop at any time. seen and
 * clock are polling_host_beats's. */
static inline bool polling_is_polled(const struct polling *a, struct polling_seen *seen,
                                     uint64_t (*clock)(void))
{
    if (!polling_has_agent(a))
        return false;
    return atomic_load_explicit(&a->polling, memory_order_relaxed) ||
           (atomic_load_explicit(&a->host_polls, memory_order_relaxed) &&
            polling_host_beats(a, seen, clock));
}

/* polling_call_agent is called by a sender whose packet has not been served within the time of a
 * wake-up. If the sender relied on a call of the host that polls, that call may have ended: the
 * agent is woken before its short sleep ends. Otherwise nothing is done. */
void polling_call_agent(struct polling *a, int doorbell_fd);

/* polling_wake_all wakes all threads of the process that sleep, the agent included, for another
 * reason than a packet. */
void polling_wake_all(struct polling *a, int doorbell_fd);

#endif
