/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advance_host.c - see advance_host.h.
 *
 * Only one thread at a time is in the host's progress. One is enough: the host would let threads in
 * one after the other, and the request by which src/mpi enters may be used by one thread at a time.
 * The word `entered` holds that thread, so that a poll of this library from within the host's
 * progress knows whether it is called by a thread that waits here:
 *
 *   thread that enters                    the next one
 *   A: entered 0 -> itself (acquire)      A: reads what B has stored, and so comes behind it
 *      the host's progress
 *   B: entered = 0 (release)
 *
 * Such a poll must not look at the channels, for two reasons. A thread that sleeps on their
 * descriptors has been told that there is nothing to poll (rma_poll_surely), and relies on later
 * packets to make a descriptor readable. And the agent and the senders would take the poll for a
 * call of the host.
 *
 * No host says whether it has moved something. An entry in which nothing happens takes about as
 * long as the shortest entry so far, and one that copies a piece of a message takes longer; after
 * such an entry the next one comes soon. Nothing else depends on this guess, since any entry may be
 * long on a machine with other work. Only the thread that has entered writes the fields for the
 * guess; others may read one of them that is older than another, and enter a little early or late.
 *
 * No locks. Neighbours: wait.c, which calls; progress.c, whose polls ask; mpi/host/host_progress.c,
 * the entry.
 */
#include "rma/progress/advance_host.h"

#include <pthread.h>

#include "rma/win/win.h"

enum {
    PAUSE_NS = 50000,
    PAUSE_OFTEN_NS = 10000,
    BUSY_NS = 5000, /* an entry so much longer than twice the shortest has moved something */
    BUSY_SHARE = 4, /* the part of its time that passes before the next one */
    SLEEP_MIN_NS = 50000,
    SLEEP_MAX_NS = 1000000,
    SLEEP_GROWTH = 4,
    ROUNDS_OF_A_WAIT = 8 /* what a wait costs besides its rounds, in rounds */
};

static uintptr_t this_thread(void)
{
    return (uintptr_t)pthread_self();
}

static bool is_agent(const struct rma *r)
{
    return atomic_load_explicit(&r->progress.agent_thread, memory_order_relaxed) == this_thread();
}

bool rma_is_in_host(const struct rma *r)
{
    const uintptr_t thread =
        atomic_load_explicit(&r->progress.host_entered, memory_order_relaxed); /* or its own */
    return unlikely(thread != 0) && thread == this_thread();
}

/* note_entry notes an entry, and returns whether the host seems to have moved something. The thread
 * that is in the host's progress calls it. */
static bool note_entry(struct rma *r, uint64_t took, uint64_t left_at)
{
    struct progress_rma *p = &r->progress;
    const uint64_t known = atomic_load_explicit(&p->host_shortest, memory_order_relaxed);
    const uint64_t shortest = known && known < took ? known : took;
    const bool busy = took > 2 * shortest + BUSY_NS;
    const uint64_t share = took / BUSY_SHARE;
    const uint64_t pause = !busy ? PAUSE_NS : share < PAUSE_OFTEN_NS ? share : PAUSE_OFTEN_NS;
    atomic_store_explicit(&p->host_shortest, shortest, memory_order_relaxed);
    atomic_store_explicit(&p->host_pause, pause, memory_order_relaxed);
    atomic_store_explicit(&p->host_left_at, left_at, memory_order_relaxed);
    return busy;
}

/* Returns whether the host seems to have moved something. */
static bool enter_host(struct rma *r)
{
    uintptr_t nobody = 0;
    if (!r->env->host_progress || is_agent(r) ||
        !atomic_compare_exchange_strong_explicit(&r->progress.host_entered, &nobody, this_thread(),
                                                 memory_order_acquire, /* A */
                                                 memory_order_relaxed))
        return false;
    const uint64_t began = r->clock();
    r->env->host_progress(r->env->ctx);
    const uint64_t ended = r->clock();
    const bool busy = note_entry(r, ended - began, ended);
    atomic_store_explicit(&r->progress.host_entered, 0, memory_order_release); /* B */
    return busy;
}

static void enter_host_after(struct rma *r, uint64_t now, uint64_t most)
{
    const uint64_t left_at = atomic_load_explicit(&r->progress.host_left_at, memory_order_relaxed);
    const uint64_t pause = atomic_load_explicit(&r->progress.host_pause, memory_order_relaxed);
    if (now >= left_at + (pause < most ? pause : most))
        (void)enter_host(r);
}

void rma_advance_host(struct rma *r, uint64_t now)
{
    enter_host_after(r, now, PAUSE_NS);
}

void rma_advance_host_often(struct rma *r, uint64_t now)
{
    enter_host_after(r, now, PAUSE_OFTEN_NS);
}

/* Threads may lose each other's counts. */
void rma_count_wait(struct rma *r, unsigned rounds)
{
    const uint32_t sum = atomic_load_explicit(&r->progress.host_rounds, memory_order_relaxed) +
                         rounds + ROUNDS_OF_A_WAIT;
    const bool due = sum >= RMA_ROUNDS_PER_HOST;
    atomic_store_explicit(&r->progress.host_rounds, due ? 0 : sum, memory_order_relaxed);
    if (unlikely(due))
        rma_advance_host(r, r->clock());
}

/* sleep_part sleeps one part of a sleep. Returns whether a descriptor is readable. */
static bool sleep_part(struct rma *r, struct event *ev, uint32_t ticket, const int *fds, unsigned n,
                       uint64_t ns)
{
    if (n)
        return event_poll(r->env->bell, fds, n, ns);
    event_sleep(ev, ticket, ns);
    return false;
}

bool rma_sleep_beside_host(struct rma *r, struct event *ev, uint32_t ticket, const int *fds,
                           unsigned n, uint64_t ns)
{
    if (!r->env->host_progress)
        return sleep_part(r, ev, ticket, fds, n, ns);
    const uint64_t until = r->clock() + ns;
    uint64_t part = SLEEP_MIN_NS;
    for (;;) {
        if (sleep_part(r, ev, ticket, fds, n, part < ns ? part : ns))
            return true;
        const uint64_t now = r->clock();
        if (now >= until || event_was_woken(ev, ticket))
            return false;
        const uint64_t longer = part * SLEEP_GROWTH;
        part = enter_host(r) ? SLEEP_MIN_NS : longer < SLEEP_MAX_NS ? longer : SLEEP_MAX_NS;
        const uint64_t left_at = r->clock();
        if (left_at >= until)
            return false;
        ns = until - left_at;
    }
}
