/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attention.h - does anybody of a process look at what arrives for it, or must it be woken?
 *
 * Each process has one struct attention in memory that the processes of its node share. Its own
 * threads say there that they poll or sleep; who sends something to the process asks there, and
 * wakes whom it must:
 *
 * - Application threads in a wait of this library poll (attention_poll_begin, attention_poll_end),
 *   and then sleep on threads. A thread that sleeps is woken by the first packet.
 * - The agent sleeps on agent. It is woken only while no application thread polls.
 * - A call of the host may poll from within (attention_host_polls). Nobody says when that call
 *   ends, so a sender relies on it only while the agent has promised to look again soon
 *   (attention_agent_looks). After a nap in which nobody has polled the agent takes both words
 *   back: they are out of date for as long as it naps, at most. Who waits for longer than a wake-up
 *   takes need not wait for the end of the nap (attention_insist).
 *
 * What arrived after a thread's last poll, and before it said that it polls no more, must not lie
 * there until the next call. Two processes, one store and one load each:
 *
 *   sender                                   receiver
 *   A: publish the packet (release)          C: threads.sleepers += 1, or polling -= 1 (seq_cst)
 *      fence (seq_cst)                          fence (seq_cst)
 *   B: sleepers? polling? wake               D: is there a packet? stay awake, or wake the agent
 *
 * The fences are in one total order. If the sender's comes first, D finds what A has published;
 * otherwise B finds what C has stored, and wakes. For sleepers the sender's fence may be the light
 * one of event.h, whose other half is in event_enter. Who stops polling uses no membarrier, so the
 * look at polling is behind a full fence.
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
 * and does D once more at the end of the nap for which it has stored the 1.
 *
 * polling counts threads up and down, so that it is one word for all of them; whoever else polls at
 * that time does no harm, and finds the packet. attention_given is a guess from a relaxed load: it
 * decides which way an operation goes, never whether it arrives.
 *
 * No locks. Neighbours: event.h, below; shm/channel.c, which calls for packets in rings;
 * rma/progress, whose threads poll and sleep; rma/path/assisted.c, which asks whether the target
 * polls.
 */
#ifndef MRMA_SYS_ATTENTION_H
#define MRMA_SYS_ATTENTION_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys/event.h"

/* All zero: nobody looks, and there is no agent. What wakes takes the calling process's ringer
 * (doorbell.h). */
struct attention {
    alignas(MRMA_CACHE_LINE) struct event threads; /* where application threads sleep in a wait */
    _Atomic uint32_t has_agent;                    /* an agent runs, to the end of the process */
    _Atomic uint32_t ended; /* nobody looks any more: MPI_Finalize was called */
    alignas(MRMA_CACHE_LINE) struct event agent;       /* where the agent sleeps */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t polling; /* application threads that poll */
    _Atomic uint32_t host_polls;  /* 1: a call of the host polls, or did when last heard of */
    _Atomic uint32_t agent_looks; /* 1: the agent is up, or naps for a short time */
};

/* ---- by the process itself ---- */

/* This thread polls from now on: senders need not wake the agent. Nestable. */
static inline void attention_poll_begin(struct attention *a)
{
    atomic_fetch_add_explicit(&a->polling, 1, memory_order_seq_cst);
}

/* It polls no more (C). The caller then looks once more at what has arrived (D), and where that is
 * something wakes the agent. */
static inline void attention_poll_end(struct attention *a)
{
    atomic_fetch_sub_explicit(&a->polling, 1, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with attention_call */
}

/* Does an application thread poll? For the agent, which keeps away then. */
static inline bool attention_threads_poll(const struct attention *a)
{
    return atomic_load_explicit(&a->polling, memory_order_seq_cst) != 0;
}

/* A call of the host polls now. May be called millions of times a second. */
static inline void attention_host_polls(struct attention *a)
{
    if (!atomic_load_explicit(&a->host_polls, memory_order_relaxed))
        atomic_store_explicit(&a->host_polls, 1, memory_order_relaxed);
}

/* Has a call of the host polled since the agent slept without limit, or since attention_insist? */
static inline bool attention_host_polled(const struct attention *a)
{
    return atomic_load_explicit(&a->host_polls, memory_order_relaxed);
}

/* For the agent. soon: it is going to sleep for a short time only, and senders may leave what they
 * send to a call of the host that polls. Otherwise it may sleep for long: it then announces itself
 * as a sleeper (event_enter), and looks for packets once more before it does (C, D). */
static inline void attention_agent_looks(struct attention *a, bool soon)
{
    atomic_store_explicit(&a->agent_looks, soon, memory_order_relaxed);
    if (!soon)
        atomic_store_explicit(&a->host_polls, 0, memory_order_relaxed);
}

/* An agent runs, and will whatever the application does: others may rely on it from now on. */
static inline void attention_has_agent(struct attention *a)
{
    atomic_store_explicit(&a->has_agent, 1, memory_order_seq_cst);
}

/*
 * Nobody looks any more, and nothing is sent any more:
 *
 *   process that ends                         peer that waits for it
 *   its last packets, its last signals        B: ended (acquire)
 *   A: ended = 1 (release)                    looks for what is unread, and at its condition
 *
 * If B reads A, both looks find what was sent. Then nothing comes any more, and the wait fails.
 */
static inline void attention_end(struct attention *a)
{
    atomic_store_explicit(&a->has_agent, 0, memory_order_relaxed);
    atomic_store_explicit(&a->ended, 1, memory_order_release);
}

/* Something of this process waits that only its own polls move on, not those of a call of the host:
 * the agent is woken unless an application thread polls. */
static inline void attention_call_own(struct attention *a, int ringer)
{
    atomic_thread_fence(memory_order_seq_cst); /* pairs with attention_poll_end */
    if (!atomic_load_explicit(&a->polling, memory_order_relaxed))
        event_notify(&a->agent, ringer);
}

/* ---- by others, of the same node ---- */

/* Wake the threads that sleep in a wait; were there any? After what they wait for was published. */
static inline bool attention_call_threads(struct attention *a, int ringer)
{
    event_notify_fence(&a->threads);
    if (!atomic_load_explicit(&a->threads.sleepers, memory_order_relaxed))
        return false;
    event_wake(&a->threads, ringer);
    return true;
}

/* Make sure that somebody looks, after a packet was published (A): the threads that sleep in a wait
 * are woken, or where nobody polls the agent. True: it was the agent. */
bool attention_call(struct attention *a, int ringer);

/* Has the process called MPI_Finalize? Then all that it has sent can be seen (pairs with
 * attention_end). */
static inline bool attention_has_ended(const struct attention *a)
{
    return atomic_load_explicit(&a->ended, memory_order_acquire) != 0;
}

/* Is what arrives there served within the time of a wake-up, whatever its application does? */
static inline bool attention_is_assured(const struct attention *a)
{
    return atomic_load_explicit(&a->has_agent, memory_order_acquire);
}

/* Does somebody poll there now, and does an agent serve what comes when that has ended? Whether
 * somebody polls may change at any time. */
static inline bool attention_given(const struct attention *a)
{
    return (atomic_load_explicit(&a->polling, memory_order_relaxed) ||
            atomic_load_explicit(&a->host_polls, memory_order_relaxed)) &&
           attention_is_assured(a);
}

/* What was sent there has not been served within the time of a wake-up. If a call of the host was
 * taken to poll, that call may have ended: the agent is woken, before its nap ends. */
void attention_insist(struct attention *a, int ringer);

/* Wake everybody who sleeps there, for another condition than a packet. */
void attention_wake_all(struct attention *a, int ringer);

#endif
