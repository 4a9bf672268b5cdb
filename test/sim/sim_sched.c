/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_sched.c - the clock, the events and the fibers of a simulation.
 *
 * Events of the same time come in an order drawn from the seed. A process has one
 * event at most that will run it: its turn number tells that from stale ones. After
 * each turn of a process or an agent its whole node is looked over, since it may have
 * rung any event there: sleepers whose event has moved on are woken, agents get a turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/progress/progress.h"
#include "rma/progress/unsent.h"
#include "rma/progress/wait.h"
#include "sim_core.h"

enum {
    YIELD_NS = 20000, /* at most, mostly */
    LONG_YIELD_NS = 3000000,
    WAKE_NS = 5000,
    AGENT_NS = 8000,
    LONG_SLEEP_NS = 500000000, /* of a wait that is sure to be woken (wait.c) */
    UNSENT_NS = 200000         /* an agent looks again whether there is room */
};
#define STUCK_NS UINT64_C(60000000000)

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t sim_below(struct sim *s, uint64_t n)
{
    s->random += UINT64_C(0x9e3779b97f4a7c15);
    return mix(s->random) % n;
}

bool sim_hits(struct sim *s, unsigned percent)
{
    return percent && sim_below(s, 100) < percent;
}

/* ---- the events: a heap ---- */

static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
    return a->when != b->when ? a->when < b->when : a->tie < b->tie;
}

void sim_schedule(struct sim *s, uint64_t delay, enum sim_event_kind kind, void *what,
                  uint32_t turn)
{
    if (s->nevents == s->room_events) {
        s->room_events = s->room_events ? 2 * s->room_events : 256;
        s->events = realloc(s->events, s->room_events * sizeof *s->events);
        SIM_CHECK(s->events);
    }
    const struct sim_event ev = {s->now + delay, mix(s->opts.seed + ++s->ticks), kind, turn, what};
    size_t at = s->nevents++;
    while (at && earlier(&ev, &s->events[(at - 1) / 2])) {
        s->events[at] = s->events[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->events[at] = ev;
}

static struct sim_event pop(struct sim *s)
{
    const struct sim_event first = s->events[0], last = s->events[--s->nevents];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < s->nevents) {
        if (child + 1 < s->nevents && earlier(&s->events[child + 1], &s->events[child]))
            child++;
        if (!earlier(&s->events[child], &last))
            break;
        s->events[at] = s->events[child];
        at = child;
    }
    s->events[at] = last;
    return first;
}

/* ---- processes ---- */

void sim_step(struct sim_proc *p)
{
    p->since = p->sim->last_step = p->sim->now;
}

void sim_schedule_run(struct sim_proc *p, uint64_t delay)
{
    p->state = SIM_READY;
    p->slept_on = NULL;
    sim_schedule(p->sim, delay, SIM_EV_RUN, p, ++p->turn);
}

static void switch_away(struct sim_proc *p)
{
    /* Whoever waits lets others poll: never with the engine's lock. */
    SIM_CHECK(elock_try(&p->rma.lock));
    elock_unlock(&p->rma.lock);
    fiber_yield(p->fiber);
}

void sim_idle(void *ctx, struct event *ev, uint32_t ticket, uint64_t ns)
{
    struct sim_proc *p = ctx;
    struct sim *s = p->sim;
    if (!ev) {
        sim_schedule_run(p, 1 + sim_below(s, sim_below(s, 64) ? YIELD_NS : LONG_YIELD_NS));
    } else {
        if (atomic_load_explicit(&ev->seq, memory_order_relaxed) != ticket)
            return;
        if (ns)
            sim_schedule_run(p, ns);
        else
            p->turn++;
        p->state = SIM_SLEEPS;
        p->slept_on = ev;
        p->ticket = ticket;
    }
    const uint64_t before = s->now;
    switch_away(p);
    if (ev && s->now - before >= LONG_SLEEP_NS)
        s->overslept++;
}

static void agent_soon(struct sim_proc *p, uint64_t delay)
{
    if (!p->rma.progress.agent || p->agent_due || p->dead)
        return;
    p->agent_due = true;
    sim_schedule(p->sim, delay, SIM_EV_AGENT, p, 0);
}

/* Unless something comes before; limit 0: not at all. */
static void agent_later(struct sim_proc *p, uint64_t limit)
{
    if (limit && !p->agent_sleeps)
        sim_schedule(p->sim, limit, SIM_EV_AGENT, p, 1);
    p->agent_sleeps |= limit != 0;
}

static bool polls(struct sim_proc *p)
{
    return atomic_load_explicit(&p->polling.polling, memory_order_relaxed) != 0;
}

/* As rma_agent_loop: only while nobody else polls, but for what is unsent; tells the process when
 * something moved. */
static void agent_turn(struct sim_proc *p)
{
    struct sim *s = p->sim;
    p->agent_due = false;
    if (p->dead)
        return;
    (void)unsent_look(&p->rma);
    if (polls(p)) {
        agent_later(p, unsent_pause(&p->rma));
        return;
    }
    rma_check_waiting(&p->rma);
    const bool moved = rma_poll_surely(&p->rma, NULL);
    if (moved)
        event_notify(&p->polling.threads, EVENT_NO_POLL);
    if (moved || rma_pending(&p->rma))
        agent_soon(p, 1 + sim_below(s, AGENT_NS));
    else if (ch3_unsent(&p->ch3))
        agent_soon(p, UNSENT_NS);
    else
        agent_later(p, rma_agent_limit(&p->rma));
}

void sim_doorbell(struct sim_proc *p)
{
    if (atomic_load_explicit(&p->polling.threads.sleepers, memory_order_relaxed))
        event_wake(&p->polling.threads, EVENT_NO_POLL);
    else if (!polls(p))
        agent_soon(p, 1 + sim_below(p->sim, AGENT_NS));
}

static void look_over(struct sim_proc *p)
{
    struct sim *s = p->sim;
    if (p->dead)
        return;
    if (p->state == SIM_SLEEPS &&
        atomic_load_explicit(&p->slept_on->seq, memory_order_relaxed) != p->ticket)
        sim_schedule_run(p, 1 + sim_below(s, WAKE_NS));
    const uint32_t rung = atomic_load_explicit(&p->polling.agent.seq, memory_order_relaxed);
    if (rung != p->agent_seen) {
        p->agent_seen = rung;
        agent_soon(p, 1 + sim_below(s, AGENT_NS));
    }
}

static void look_over_node(struct sim_proc *of)
{
    struct sim *s = of->sim;
    const int k = s->opts.per_node ? s->opts.per_node : s->opts.nproc;
    const int first = of->rank / k * k;
    for (int i = first; i < first + k && i < s->opts.nproc; i++)
        look_over(&s->procs[i]);
}

static void run_fiber(struct sim_proc *p)
{
    if (fiber_resume(p->fiber)) {
        p->state = SIM_ENDED;
        p->sim->running--;
        sim_step(p);
    }
}

/* ---- meeting ---- */

static void open_door(struct sim *s, struct sim_meeting *m)
{
    if (m->present == 0 || m->present < s->living)
        return;
    m->present = 0;
    m->number++;
    for (int i = 0; i < s->opts.nproc; i++)
        if (s->procs[i].state == SIM_MEETS && s->procs[i].meeting == m)
            sim_schedule_run(&s->procs[i], 1 + sim_below(s, WAKE_NS));
}

void sim_meet(struct sim_proc *p, struct sim_meeting *m)
{
    struct sim *s = p->sim;
    const uint64_t number = m->number;
    sim_step(p);
    m->present++;
    p->turn++;
    p->state = SIM_MEETS;
    p->meeting = m;
    open_door(s, m);
    switch_away(p);
    p->meeting = NULL;
    SIM_CHECK(m->number == number + 1);
}

void sim_rest(struct sim_proc *p)
{
    struct sim_meeting *m = &p->sim->rest;
    if (p->rma.progress.agent || !p->rma.progress.packets) {
        sim_meet(p, m);
        return;
    }
    const uint64_t number = m->number;
    sim_step(p);
    m->present++;
    p->meeting = m;
    open_door(p->sim, m);
    while (m->number == number) {
        rma_progress(&p->rma);
        sim_yield(p);
    }
    p->meeting = NULL;
}

/* ---- death ---- */

void sim_kill_at(struct sim *s, int rank, uint64_t when)
{
    SIM_CHECK(when >= s->now);
    sim_schedule(s, when - s->now, SIM_EV_KILL, &s->procs[rank], 0);
}

static void kill_proc(struct sim_proc *p)
{
    struct sim *s = p->sim;
    if (p->dead)
        return;
    p->dead = true;
    p->turn++;
    s->living--;
    if (p->state != SIM_ENDED)
        s->running--;
    if (p->meeting)
        p->meeting->present--;
    p->meeting = NULL;
    p->state = SIM_ENDED;
    sim_net_kill(p);
    open_door(s, &s->boot_in);
    open_door(s, &s->boot_out);
    open_door(s, &s->rest);
}

/* ---- the loop ---- */

static void happen(const struct sim_event *ev)
{
    struct sim_proc *p = ev->what;
    struct sim_peer *peer = ev->what;
    switch (ev->kind) {
    case SIM_EV_RUN:
        if (p->dead || p->turn != ev->turn)
            return;
        p->state = SIM_READY;
        run_fiber(p);
        look_over_node(p);
        break;
    case SIM_EV_AGENT:
        if (ev->turn)
            p->agent_sleeps = false;
        agent_turn(p);
        look_over_node(p);
        break;
    case SIM_EV_ARRIVE:
        sim_arrive(peer);
        look_over_node(peer->other);
        break;
    case SIM_EV_LOST:
        sim_peer_lost(peer);
        look_over_node(peer->owner);
        break;
    case SIM_EV_KILL:
        kill_proc(p);
        break;
    }
}

static void stuck(struct sim *s)
{
    fprintf(stderr,
            "deadlock: at %.6f s nothing has got anywhere since %.6f s, %zu messages in flight\n",
            (double)s->now * 1e-9, (double)s->last_step * 1e-9, s->flying);
    sim_describe(s);
    abort();
}

static void start_fiber(void *arg)
{
    struct sim_proc *p = arg;
    p->body(p, p->arg);
}

void sim_run(struct sim *s, void (*body)(struct sim_proc *p, void *arg), void *arg)
{
    const size_t stack = s->opts.stack ? s->opts.stack : 256 * 1024;
    s->last_step = s->now;
    for (int i = 0; i < s->opts.nproc; i++) {
        struct sim_proc *p = &s->procs[i];
        if (p->dead)
            continue;
        p->body = body;
        p->arg = arg;
        if (p->fiber)
            fiber_restart(p->fiber, start_fiber, p);
        else
            p->fiber = fiber_new(stack, start_fiber, p);
        SIM_CHECK(p->fiber);
        s->running++;
        p->since = s->now;
        sim_schedule_run(p, sim_below(s, YIELD_NS));
    }
    while (s->running) {
        if (!s->nevents)
            stuck(s);
        const struct sim_event ev = pop(s);
        if (ev.when > s->now)
            s->now = ev.when;
        if (s->now - s->last_step > STUCK_NS)
            stuck(s);
        s->events_done++;
        happen(&ev);
    }
}

void sim_pass(struct sim *s, uint64_t ns)
{
    const uint64_t until = s->now + ns;
    while (s->nevents && s->events[0].when <= until) {
        const struct sim_event ev = pop(s);
        if (ev.when > s->now)
            s->now = ev.when;
        happen(&ev);
    }
    s->now = until;
}

void sim_compute(struct sim_proc *p, uint64_t ns)
{
    sim_step(p);
    sim_schedule_run(p, ns + 1);
    switch_away(p);
    sim_step(p);
}

void sim_yield(struct sim_proc *p)
{
    sim_idle(p, NULL, 0, 0);
}
