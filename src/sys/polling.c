/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * polling.c - wakes the threads of a process that look for arrivals (polling.h, which has the
 * argument about order).
 *
 * No locks. Neighbours: futex_event.h, below.
 */
#include "sys/polling.h"

/* BEAT_NS is how long a round of the host is taken as one of now; BEAT_WAIT_NS and BEAT_LOOKS limit
 * the wait for the next round. */
enum { BEAT_NS = 20000, BEAT_WAIT_NS = 2000, BEAT_LOOKS = 4096 };

static uint32_t beats_of(const struct polling *a)
{
    return atomic_load_explicit(&a->host_beats, memory_order_relaxed);
}

bool polling_host_beats(const struct polling *a, struct polling_seen *seen, uint64_t (*clock)(void))
{
    const uint64_t at = atomic_load_explicit(&seen->at, memory_order_relaxed);
    if (at && clock() - at < BEAT_NS)
        return true;
    const uint32_t first = beats_of(a);
    uint32_t now = first;
    if (first != atomic_load_explicit(&seen->beats, memory_order_relaxed)) {
        const uint64_t since = clock();
        for (int i = 0; now == first && i < BEAT_LOOKS && clock() - since < BEAT_WAIT_NS; i++)
            now = beats_of(a);
    }
    atomic_store_explicit(&seen->beats, now, memory_order_relaxed);
    atomic_store_explicit(&seen->at, now != first ? clock() : 0, memory_order_relaxed);
    return now != first;
}

bool polling_call(struct polling *a, int doorbell_fd)
{
    if (polling_call_threads(a, doorbell_fd))
        return false;
    atomic_thread_fence(memory_order_seq_cst); /* pairs with polling_poll_end, event_enter */
    if (atomic_load_explicit(&a->polling, memory_order_relaxed))
        return false;
    polling_call_host(a); /* B */
    if ((atomic_load_explicit(&a->agent_looks, memory_order_relaxed) && polling_host_polled(a)) ||
        !atomic_load_explicit(&a->agent.sleepers, memory_order_relaxed))
        return false;
    event_wake(&a->agent, doorbell_fd);
    return true;
}

void polling_call_agent(struct polling *a, int doorbell_fd)
{
    if (!polling_host_polled(a))
        return;
    atomic_store_explicit(&a->host_polls, 0, memory_order_relaxed);
    event_wake(&a->agent, doorbell_fd);
}

void polling_wake_all(struct polling *a, int doorbell_fd)
{
    event_wake(&a->threads, doorbell_fd);
    event_wake(&a->agent, doorbell_fd);
}
