/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - rounds of progress, by application threads inside the library's
 * calls and by the agent (agent.c).
 *
 * One thread at a time polls: it tries to take the engine's lock, and if that fails another thread
 * makes progress. The agent wakes application threads that sleep for something that it brings
 * about: it notifies this process's event whenever anything has moved.
 */
#include "rma/progress/progress.h"

#include "rma/progress/advance_host.h"
#include "rma/progress/hooks.h"
#include "rma/progress/unsent.h"
#include "rma/win/win.h"

enum { PAUSE_PART = 8, PAUSE_MIN_NS = 20000, PAUSE_MAX_NS = 1000000 };
enum { LOOK_PAUSE_MIN_NS = 1000, LOOK_PAUSE_MAX_NS = 50000, LOOK_SKIPS = 7 };

void progress_init(struct rma *r, const struct progress_hooks *hooks)
{
    r->progress = (struct progress_rma){.hooks = hooks};
    unsent_init(r);
}

static bool poll_locked(struct rma *r)
{
    bool moved = ch3_poll(r->ch3);
    if (unlikely(moved && ch3_must_poll(r->ch3)))
        atomic_store_explicit(&r->progress.served_at, r->clock(), memory_order_relaxed);
    if (unlikely(!list_empty(&r->lock_wins)))
        moved |= r->progress.hooks->grant_locks(r);
    unsent_look_locked(r);
    return moved;
}

/* It matters only whether polls changes, so threads may lose each other's counts. */
static void note_poll(struct rma *r)
{
    atomic_store_explicit(&r->progress.polls,
                          atomic_load_explicit(&r->progress.polls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static bool try_enter(struct rma *r)
{
    return !atomic_load_explicit(&r->concurrent, memory_order_relaxed) || elock_try(&r->lock);
}

static void leave(struct rma *r, bool moved)
{
    rma_leave(r);
    if (moved && r->threads)
        event_notify(&r->env->polling->threads, r->env->doorbell_fd);
}

bool rma_poll(struct rma *r)
{
    note_poll(r);
    if (!try_enter(r))
        return false;
    const bool moved = poll_locked(r);
    leave(r, moved);
    return moved;
}

bool rma_poll_surely(struct rma *r, bool *block)
{
    rma_enter(r);
    bool moved = poll_locked(r);
    if (block)
        *block = !moved && ch3_wait_begin(r->ch3);
    leave(r, moved);
    return moved;
}

bool rma_progress(struct rma *r)
{
    return (r->progress.packets || unsent_poll_due(r)) && rma_poll(r);
}

/* The pause is an eighth of the time in which nothing has come, so a packet is seen at most so much
 * later. */
uint64_t rma_pause(const struct rma *r)
{
    if (!ch3_must_poll(r->ch3))
        return 0;
    const uint64_t now = r->clock(),
                   served = atomic_load_explicit(&r->progress.served_at, memory_order_relaxed),
                   pause = (now - served) / PAUSE_PART;
    return pause < PAUSE_MIN_NS ? PAUSE_MIN_NS : pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
}

bool rma_pending(struct rma *r)
{
    return ch3_pending(r->ch3);
}

bool rma_uses_packets(const struct rma *r)
{
    return r->progress.packets;
}

/* With some providers a look at the network is a system call, so the next look comes after an
 * eighth of the time in which nothing has come. take_due_look takes a look that is due now, and
 * sets when the next one is due; false: none is due. Two threads may both take it, or both put it
 * off. */
static bool take_due_look(struct rma *r, uint64_t now)
{
    const uint64_t looks_at = atomic_load_explicit(&r->progress.look_due_at, memory_order_relaxed);
    pace_next(&r->progress.look_pace, now, looks_at, 0, LOOK_SKIPS);
    if (now < looks_at)
        return false;
    const uint64_t idle =
        now - atomic_load_explicit(&r->progress.look_served_at, memory_order_relaxed);
    const uint64_t pause = idle / PAUSE_PART;
    atomic_store_explicit(&r->progress.look_due_at,
                          now + (pause < LOOK_PAUSE_MIN_NS   ? LOOK_PAUSE_MIN_NS
                                 : pause > LOOK_PAUSE_MAX_NS ? LOOK_PAUSE_MAX_NS
                                                             : pause),
                          memory_order_relaxed);
    return true;
}

/* look_at_network must not slow down calls in a loop, of the host or of the program, and even a
 * look at the clock costs more than many of their rounds. Some hosts make a system call in each
 * round, so their rounds are slow, and none of them may be left out.
 *
 * A look that finds nothing is not noted, since it must not keep the agent from the descriptor,
 * which tells it of the next packet at once. A look that serves something is noted, and the agent
 * stays away for a while. */
static bool look_at_network(struct rma *r)
{
    if (!pace_due(&r->progress.look_pace))
        return false;
    const uint64_t now = r->clock();
    if (!take_due_look(r, now) || !try_enter(r))
        return false;
    const bool moved = poll_locked(r);
    leave(r, moved);
    if (moved) {
        note_poll(r);
        atomic_store_explicit(&r->progress.look_served_at, now, memory_order_relaxed);
        atomic_store_explicit(&r->progress.look_due_at, now, memory_order_relaxed);
    }
    return moved;
}

static bool locks_wait(const struct rma *r)
{
    return atomic_load_explicit(&r->nlock_wins, memory_order_relaxed) != 0;
}

static bool look(struct rma *r)
{
    /* Packets that wait for a lock of this process are not in a channel any more, so they need a
     * look of their own. */
    if (ch3_pending_silent(r->ch3) || unsent_poll_due(r) || locks_wait(r))
        return rma_poll(r);
    return ch3_looks_by_calls(r->ch3) && look_at_network(r);
}

bool rma_look(struct rma *r)
{
    return ch3_unsent(r->ch3) ? rma_poll(r) : look(r);
}

void rma_grant_released(struct rma *r)
{
    if (unlikely(locks_wait(r)) && !rma_has_agent(r))
        (void)rma_poll(r);
}

static bool count_served(struct rma *r, bool moved)
{
    if (moved)
        atomic_fetch_add_explicit(&r->stats.host_served, 1, memory_order_relaxed);
    return moved;
}

/* HOST_VAIN is how many rounds of the host look into the rings in vain until they rest. */
enum { HOST_VAIN = 256 };

/* look_when_called looks into the rings if a sender has called the host, and for packets that wait
 * for a lock. Threads may lose each other's counts. */
static bool look_when_called(struct rma *r)
{
    struct polling *own = r->env->polling;
    if (locks_wait(r))
        return rma_poll(r);
    if (!polling_host_is_called(own))
        return false;
    if (ch3_pending_silent(r->ch3)) {
        atomic_store_explicit(&r->progress.host_vain, 0, memory_order_relaxed);
        return rma_poll(r);
    }
    const uint32_t vain = atomic_load_explicit(&r->progress.host_vain, memory_order_relaxed) + 1;
    atomic_store_explicit(&r->progress.host_vain, vain % HOST_VAIN, memory_order_relaxed);
    if (vain < HOST_VAIN)
        return false;
    polling_host_rests(own); /* C of polling.h */
    if (ch3_pending_silent(r->ch3))
        polling_call_host(own); /* D */
    return false;
}

static __attribute__((noinline)) bool host_round(struct rma *r)
{
    if (rma_is_in_host(r))
        return false;
    polling_note_host_poll(r->env->polling);
    if (!rma_has_agent(r))
        return count_served(r, rma_look(r));
    const bool served = look_when_called(r);
    return count_served(r, (ch3_looks_by_calls(r->ch3) && look_at_network(r)) || served);
}

static bool somebody_is_in_host(const struct rma *r)
{
    return atomic_load_explicit(&r->progress.host_entered, memory_order_relaxed) != 0;
}

/* The host's own messages wait for what this takes. */
bool rma_host_poll(struct rma *r)
{
    if (unlikely(!rma_has_agent(r) || somebody_is_in_host(r) || locks_wait(r) ||
                 polling_host_is_called(r->env->polling) || ch3_looks_by_calls(r->ch3)))
        return host_round(r);
    polling_note_host_poll(r->env->polling);
    return false;
}

void rma_learn_node(struct rma *r, int procs, unsigned cpus)
{
    if (procs <= r->progress.node_procs)
        return;
    r->progress.node_procs = procs;
    r->progress.oversubscribed = (unsigned)procs > cpus;
}

int rma_node_procs(const struct rma *r)
{
    return r->progress.node_procs;
}

bool rma_is_oversubscribed(const struct rma *r)
{
    return r->progress.oversubscribed;
}

void rma_use_packets(struct rma *r, bool packets)
{
    if (packets)
        r->progress.packets = true;
    atomic_store_explicit(&r->progress.spin_inline,
                          !r->progress.packets && !r->progress.oversubscribed,
                          memory_order_relaxed);
}

void rma_polling_begin(struct rma *r)
{
    polling_poll_begin(r->env->polling);
}

void rma_polling_end(struct rma *r)
{
    polling_poll_end(r->env->polling);
    if (r->progress.agent) {
        /* The agent finds by itself what has come through a descriptor since the last poll, at the
         * end of its short sleep at the latest (agent.c). To ring for it would cost more than a
         * round trip, and descriptors are often readable without need. */
        if (ch3_pending_silent(r->ch3))
            (void)rma_poll(r); /* costs less than the agent, which later packets wake */
        if (ch3_pending_silent(r->ch3) || ch3_unsent(r->ch3) || locks_wait(r))
            event_wake(&r->env->polling->agent, r->env->doorbell_fd);
    }
}

/*
 * A thread that polls now pushes what is queued, or wakes the agent when it stops
 * (rma_polling_end):
 *
 *   thread that queues                    thread that stops polling
 *   A: unsent += 1; fence                 C: polling -= 1; fence
 *   B: polling is 0? wake the agent       D: unsent is not 0? wake the agent
 *
 * The fences are in one order: B sees C, or D sees A.
 */
void rma_queued(void *rma)
{
    struct rma *r = rma;
    if (r->progress.agent)
        polling_call_own(r->env->polling, r->env->doorbell_fd);
}
