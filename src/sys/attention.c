/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attention.c - waking those of a process who look for what arrives (attention.h, which has the
 * argument about order).
 *
 * No locks. Neighbours: event.h, below.
 */
#include "sys/attention.h"

bool attention_call(struct attention *a, int ring_fd)
{
    if (attention_call_threads(a, ring_fd))
        return false;
    atomic_thread_fence(memory_order_seq_cst); /* pairs with attention_poll_end, event_enter */
    if (atomic_load_explicit(&a->polling, memory_order_relaxed) ||
        (atomic_load_explicit(&a->agent_looks, memory_order_relaxed) &&
         atomic_load_explicit(&a->host_polls, memory_order_relaxed)) ||
        !atomic_load_explicit(&a->agent.sleepers, memory_order_relaxed))
        return false;
    event_wake(&a->agent, ring_fd);
    return true;
}

void attention_call_agent(struct attention *a, int ring_fd)
{
    if (!attention_host_polled(a))
        return;
    atomic_store_explicit(&a->host_polls, 0, memory_order_relaxed);
    event_wake(&a->agent, ring_fd);
}

void attention_wake_all(struct attention *a, int ring_fd)
{
    event_wake(&a->threads, ring_fd);
    event_wake(&a->agent, ring_fd);
}
