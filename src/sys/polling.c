/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * polling.c - wakes the threads of a process that look for arrivals (polling.h, which has the
 * argument about order).
 *
 * No locks. Neighbours: futex_event.h, below.
 */
#include "sys/polling.h"

bool polling_call(struct polling *a, int doorbell_fd)
{
    if (polling_call_threads(a, doorbell_fd))
        return false;
    atomic_thread_fence(memory_order_seq_cst); /* pairs with polling_poll_end, event_enter */
    if (atomic_load_explicit(&a->polling, memory_order_relaxed) ||
        (atomic_load_explicit(&a->agent_looks, memory_order_relaxed) &&
         atomic_load_explicit(&a->host_polls, memory_order_relaxed)) ||
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
