/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.c - the agent thread: serves packets while the application is elsewhere.
 *
 * It never calls MPI. Where all channels wake sleepers through events it sleeps on its event.
 * Senders do not wake it while a call of the host polls (sys/polling.h), and nobody tells when that
 * call ends: so as long as such calls serve packets the agent sleeps for a short time only, and
 * serves what it finds then. Otherwise it sleeps without limit.
 *
 * The agent sends what calls have left unsent (unsent.h). While a look at that is due it sleeps
 * only for the rest of the period, whoever polls.
 *
 * Where a channel wakes nobody at all the agent polls it, and sleeps in between for a time that
 * grows while nothing comes (rma_pause).
 *
 * Where a channel has a descriptor the agent blocks in poll(2) on that and on its event's doorbell.
 * But while the application polls the agent stays away from the descriptor, since a second thread
 * that wakes up for each packet would slow the application down:
 *
 *   watch   on descriptor and doorbell, without limit: nobody else polls
 *   short   on the doorbell for a short time: application threads, or a call of the
 *           host, poll now and then
 *   off     on the doorbell, without limit: an application thread sleeps on the
 *           descriptor itself (the watcher, wait.c) and tells when it stops
 *
 *   agent                           watcher                         another that sleeps
 *   A: agent_off = 1                C: watcher = 0; fence           E: sleepers += 1; fence
 *   B: watcher is 0? do not sleep   D: agent_off? wake the agent    F: watcher is 0? do not sleep
 *                                      sleepers? wake them
 *
 * All are sequentially consistent: B sees C or D sees A, and F sees C or D sees E. The watcher
 * finds packets that come before it blocks, since it polls before that; later packets make the
 * descriptor readable for the agent, whose wait_begin says whether any are there already. After a
 * short sleep in which nobody has polled the agent watches again; a packet waits for the agent no
 * longer than that. While the agent is off, senders in shared memory wake the watcher, and a
 * watcher that stops wakes the agent.
 *
 * Locks: the engine's, for each round. Neighbours: progress.c, wait.c.
 */
#include "rma/progress/progress.h"

#include <pthread.h>

#include "rma/progress/unsent.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced_path.h"
#include "rma/win/win.h"

enum {
    UNSENT_SLEEP_NS = 200000, /* used where a channel does not tell when there is room for what is
                                 queued */
    CHECK_SLEEP_NS = 500000000,
    SHORT_SLEEP_NS = 250000,
    SHORT_SLEEP_MAX_NS = 1000000
};

static bool others_poll(const struct rma *r)
{
    return polling_threads_poll(r->env->polling);
}

/* agent_round does one round of progress, and wakes the application's threads if anything moved,
 * since they may sleep for that. */
static bool agent_round(struct rma *r, bool *block)
{
    rma_check_waiting(r);
    bool moved = rma_poll_surely(r, block);
    if (moved)
        event_notify(&r->env->polling->threads, r->env->doorbell_fd);
    return moved;
}

/* shorter returns the shorter of two limits of time, of which 0 means no limit. */
static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a && (!b || a < b) ? a : b;
}

uint64_t rma_agent_limit(const struct rma *r)
{
    const bool waits = atomic_load_explicit(&r->nlock_wins, memory_order_relaxed);
    const uint64_t check = waits ? CHECK_SLEEP_NS : 0;
    return shorter(unsent_pause(r), ch3_unsent_must_poll(r->ch3) ? UNSENT_SLEEP_NS : check);
}

static bool stopped(const _Atomic bool *stop)
{
    return atomic_load_explicit(stop, memory_order_acquire);
}

struct short_sleep {
    uint32_t polls; /* rma->progress.polls when the agent looked last */
    uint64_t ns;    /* length of the last short sleep; 0: the agent has slept without limit since */
    bool looked;    /* the agent has woken up for a look at what is unsent, not for a packet */
};

/* longer returns the length of the next short sleep: each is longer than the one before, up to a
 * limit. */
static uint64_t longer(struct short_sleep *s)
{
    if (s->ns == 0)
        s->ns = SHORT_SLEEP_NS;
    else
        s->ns = s->ns * 2 > SHORT_SLEEP_MAX_NS ? SHORT_SLEEP_MAX_NS : s->ns * 2;
    return s->ns;
}

/* others_have_polled returns whether others have served packets since the agent looked last. */
static bool others_have_polled(const struct rma *r, struct short_sleep *s)
{
    const uint32_t polls = atomic_load_explicit(&r->progress.polls, memory_order_relaxed);
    const bool changed = polls != s->polls;
    s->polls = polls;
    return changed;
}

/* sleep_beside_host sets s->ns, the length of the next sleep. Senders do not wake the agent while a
 * call of the host polls. As long as that is so, and packets come (the agent was woken for one, or
 * one was served during the last short sleep), the sleep is short. */
static void sleep_beside_host(struct rma *r, struct short_sleep *s)
{
    const bool served = others_have_polled(r, s) || (s->ns == 0 && !s->looked);
    if (served && polling_host_polled(r->env->polling))
        (void)longer(s);
    else
        s->ns = 0;
    /* C of polling.h, with event_enter */
    polling_agent_sleeps(r->env->polling, s->ns != 0);
}

/* pause_of returns the time until the agent polls again, where nobody wakes it. Other threads that
 * poll do not tell when they stop. */
static uint64_t pause_of(const struct rma *r)
{
    const uint64_t pause = rma_pause(r);
    return pause && others_poll(r) ? SHORT_SLEEP_MAX_NS : pause;
}

/* sleep_on_event sleeps until an event comes. */
static void sleep_on_event(struct rma *r, const _Atomic bool *stop, struct short_sleep *s)
{
    struct event *ev = &r->env->polling->agent;
    sleep_beside_host(r, s);
    uint32_t ticket = event_enter(ev);
    if (!stopped(stop) && (others_poll(r) || (!agent_round(r, NULL) && !rma_pending(r)))) {
        rma_event(r, (struct trace_record){.kind = TRACE_SLEEP});
        event_sleep(ev, ticket, shorter(shorter(rma_agent_limit(r), s->ns), pause_of(r)));
        rma_event(r, (struct trace_record){.kind = TRACE_AWAKE});
        r->stats.agent_wakeups++;
    }
    event_leave(ev);
}

/* stay_away keeps away from the descriptor, since the application polls or sleeps on it. */
static void stay_away(struct rma *r, struct short_sleep *s)
{
    atomic_store_explicit(&r->progress.agent_off, true, memory_order_seq_cst); /* A */
    const bool off = atomic_load_explicit(&r->progress.watcher, memory_order_seq_cst);
    if (off)
        s->ns = 0;
    else
        atomic_store_explicit(&r->progress.agent_off, false, memory_order_relaxed);
    event_poll(r->env->agent_bell, NULL, 0, shorter(unsent_pause(r), off ? 0 : longer(s)));
    atomic_store_explicit(&r->progress.agent_off, false, memory_order_relaxed);
}

/* sleep_on_descriptors sleeps until the descriptors or the event have something. */
static void sleep_on_descriptors(struct rma *r, const int *fds, unsigned n,
                                 const _Atomic bool *stop, struct short_sleep *s)
{
    struct event *ev = &r->env->polling->agent;
    const bool away = others_have_polled(r, s) || others_poll(r);
    bool block;
    polling_agent_sleeps(r->env->polling, away); /* C of polling.h, with event_enter_polled */
    (void)event_enter_polled(ev);
    if (stopped(stop)) {
        event_leave_polled(ev);
        return;
    }
    if (away) {
        stay_away(r, s);
        r->stats.agent_wakeups++;
    } else if (!agent_round(r, &block) && block && !rma_pending(r)) {
        s->ns = 0;
        rma_event(r, (struct trace_record){.kind = TRACE_SLEEP});
        event_poll(r->env->agent_bell, fds, n, rma_agent_limit(r));
        rma_event(r, (struct trace_record){.kind = TRACE_AWAKE});
        r->stats.agent_wakeups++;
    }
    event_leave_polled(ev);
}

void rma_agent_begins(struct rma *r)
{
    atomic_store_explicit(&r->concurrent, true, memory_order_relaxed);
    r->progress.agent = true;
}

void rma_agent_ended(struct rma *r)
{
    r->progress.agent = false;
}

/* agent_is stores the agent's thread. advance_host.c compares it with the calling thread, so only
 * the agent finds itself there. */
static void agent_is(struct rma *r, uintptr_t thread)
{
    atomic_store_explicit(&r->progress.agent_thread, thread, memory_order_relaxed);
}

void rma_agent_loop(struct rma *r, const _Atomic bool *stop)
{
    struct short_sleep s = {0, 0, false};
    agent_is(r, (uintptr_t)pthread_self());
    if (r->env->trace)
        trace_thread_is(r->env->trace, SPOOL_AGENT);
    while (!stopped(stop)) {
        int fds[CH3_MAX_CHANNELS];
        s.looked = unsent_look(r);
        if (!others_poll(r) && agent_round(r, NULL))
            continue;
        const unsigned n = ch3_wait_fds(r->ch3, fds);
        if (n)
            sleep_on_descriptors(r, fds, n, stop, &s);
        else
            sleep_on_event(r, stop, &s);
    }
    agent_is(r, 0);
}
