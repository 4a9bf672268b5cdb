/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c - spin, yield, sleep. See wait.h.
 *
 * While a thread polls here, senders of packets need not wake the agent (sys/polling.h). The thread
 * also lets the host make progress (advance_host.h).
 *
 * Packets of a channel with a descriptor (the network) make the descriptor readable. One thread at
 * a time, the watcher, blocks on the descriptor and on the doorbell of the process's own event;
 * other threads sleep on the event, and the watcher's polls notify them. When the watcher's wait is
 * over it wakes the others, of which one becomes the watcher, and the agent (agent.c).
 *
 *   watcher                               another one that sleeps
 *   A: watcher = 0; fence                 C: sleepers += 1; fence
 *   B: sleepers? wake                     D: watcher is 0? do not sleep
 */
#include "rma/progress/wait.h"

#include <sched.h>

#include "base/err.h"
#include "rma/progress/advance_host.h"
#include "rma/progress/hooks.h"
#include "rma/progress/lost.h"
#include "rma/progress/progress.h"
#include "rma/progress/unsent.h"
#include "rma/traced/traced_path.h"
#include "rma/win/win.h"

enum {
    SPINS_ALONE = 4000, /* rounds without a look at the clock where processors suffice */
    SPINS_OVERSUBSCRIBED = 1,
    SPINS_CALL_AGENTS = 1500, /* about as long as a wake-up takes */
    SPINS_SERVED = 256,    /* rounds after a packet where processors suffice, since the next packet
                              may come soon */
    YIELDS_PER_CLOCK = 16, /* at most; fewer where each yield gives the processor away */
    YIELDS_NS = 10000,
    POLLS_PER_CLOCK = 256, /* polls that moved something, at most */
    POLLS_NS = 50000,
    TESTS_PER_CLOCK = 64, /* at most */
    TESTS_NS = 10000,
    CALLS_PER_LOOK_MIN = 16, /* a program whose calls are rare looks soon: few calls pass without a
                                look */
    CALLS_PER_LOOK = 2048,
    CALLS_NS = 1000000,
    TESTS_PER_YIELD = 8, /* on an oversubscribed node: the process for which this one waits may need
                            the processor */
    YIELD_NS_ALONE = 500000, /* a wait yields for so long, and then sleeps */
    YIELD_NS_OVERSUBSCRIBED = 200000,
    SHORT_SLEEP_NS =
        200000, /* used with poll_only, where packets must be polled and there is no agent, or while
                   packets wait for room */
    LONG_SLEEP_NS = 500000000
};

/* call_agents is called when the condition has not come true within the time of a wake-up. */
static void call_agents(const struct win *w, const struct rma_wait *wait)
{
    for (int i = 0; i < w->nlocal; i++)
        if ((wait->rank < 0 || wait->rank == w->local[i].rank) && !w->local[i].peer->self)
            polling_call_agent(w->local[i].peer->polling, w->rma->env->doorbell_fd);
}

static bool check(struct rma *r, const struct rma_wait *wait)
{
    if (!wait->locked)
        return wait->done(wait->arg);
    rma_enter(r);
    bool done = wait->done(wait->arg);
    rma_leave(r);
    return done;
}

int rma_died(const struct win *w, const struct rma_target *t)
{
    return log_fail(w->rma->log, MRMA_ERR_PROC_FAILED, "rank %d of window %u (process %d) has died",
                    t->rank, w->index, t->peer->pid);
}

int rma_lost(const struct win *w, const struct rma_target *t)
{
    return log_fail(w->rma->log, MRMA_ERR_PROC_FAILED,
                    "the connection to rank %d of window %u (process %d) is lost", t->rank,
                    w->index, t->peer->pid);
}

/* ended_early returns whether the peer has ended, or has forgotten this process, so that nothing
 * comes any more although this process still awaits something. */
static bool ended_early(struct win *w, const struct rma_target *t, const struct rma_wait *wait)
{
    return ch3_vc_is_closed(&t->peer->vc) && w->rma->progress.hooks->awaits(w, wait, t) &&
           !(wait && wait->done(wait->arg));
}

static int check_target(struct win *w, struct rma_target *t, const struct rma_wait *wait)
{
    struct rma *r = w->rma;
    if (t->peer->self)
        return MRMA_SUCCESS;
    const bool alive = r->env->peer_alive(r->env->ctx, t->peer);
    const bool ended = alive && ended_early(w, t, wait);
    if (!alive || ended) /* what is queued to it may refer to windows that are freed now */
        ch3_vc_lost(&t->peer->vc);
    const bool lost = ch3_vc_is_lost(&t->peer->vc);
    if (!alive || lost)
        win_lost(w, t->rank);
    if (!alive)
        return rma_died(w, t);
    if (ended)
        return log_fail(r->log, MRMA_ERR_PROC_FAILED,
                        "rank %d of window %u (process %d) has called MPI_Finalize before it did "
                        "what is awaited of it",
                        t->rank, w->index, t->peer->pid);
    return lost || t->lost ? rma_lost(w, t) : MRMA_SUCCESS;
}

/* check_peers checks the peers with which this process has to do. It keeps the engine's lock all
 * the time, since another thread may free the window as soon as it has the lock. */
static int check_peers(struct win *w, const struct rma_wait *wait)
{
    int err = MRMA_SUCCESS;
    for (int i = 0; i < w->nlocal; i++) {
        const int failed = check_target(w, &w->local[i], wait);
        err = err ? err : failed;
    }
    for (struct list_node *node = list_first(&w->remote); node;
         node = list_next(&w->remote, node)) {
        const int failed = check_target(w, LIST_ENTRY(node, struct rma_target, remote_link), wait);
        err = err ? err : failed;
    }
    const int heard = win_who_is_lost(w);
    if (err || heard < 0)
        return err;
    return log_fail(w->rma->log, MRMA_ERR_PROC_FAILED,
                    "rank %d of window %u is lost, another process says", heard, w->index);
}

/* check_requests checks the windows in which only a request tells that something is awaited, or in
 * which others wait for a lock of this process. */
static int check_requests(struct rma *r)
{
    int err = MRMA_SUCCESS;
    for (uint32_t i = 0; i < r->nwins; i++)
        if (r->wins[i] && r->progress.hooks->requests_due(r->wins[i]) &&
            check_peers(r->wins[i], NULL)) {
            err = MRMA_ERR_PROC_FAILED;
            r->progress.hooks->fail_requests(r->wins[i], err); /* and those who wait for a lock */
        }
    return err;
}

static int check_now_and_then(struct rma *r, struct win *w, uint64_t now)
{
    if (now < atomic_load_explicit(&r->progress.next_check, memory_order_relaxed))
        return MRMA_SUCCESS;
    atomic_store_explicit(&r->progress.next_check, now + LONG_SLEEP_NS, memory_order_relaxed);
    rma_enter(r);
    const int err = w ? check_peers(w, NULL) : check_requests(r);
    rma_leave(r);
    return err;
}

void rma_look_around(struct win *w)
{
    const uint64_t now = w->rma->clock();
    pace_next(&w->look_pace, now, now + CALLS_NS, CALLS_PER_LOOK_MIN - 1, CALLS_PER_LOOK - 1);
    (void)check_now_and_then(w->rma, w, now);
    rma_advance_host(w->rma, now);
}

void rma_check_waiting(struct rma *r)
{
    if (atomic_load_explicit(&r->nlock_wins, memory_order_relaxed))
        (void)check_now_and_then(r, NULL, r->clock());
}

/* yield_processor lets other processes run for a moment. */
static void yield_processor(struct rma *r)
{
    if (unlikely(r->env->idle != NULL))
        r->env->idle(r->env->ctx, NULL, 0, 0);
    else
        sched_yield();
}

int rma_between_tests(struct rma *r, struct win *w)
{
    if (r->progress.oversubscribed &&
        atomic_fetch_add_explicit(&r->progress.tests, 1, memory_order_relaxed) % TESTS_PER_YIELD ==
            TESTS_PER_YIELD - 1)
        yield_processor(r);
    if (!pace_due(&r->progress.tests_pace))
        return MRMA_SUCCESS;
    const uint64_t now = r->clock();
    pace_next(&r->progress.tests_pace, now, now + TESTS_NS, 0, TESTS_PER_CLOCK - 1);
    rma_advance_host(r, now);
    return check_now_and_then(r, w, now);
}

bool rma_requests_unsent(const struct rma *r)
{
    return unsent_awaited(r);
}

void rma_progress_requests(struct rma *r)
{
    if (unsent_awaited(r))
        unsent_send_awaited(r);
    (void)rma_progress(r);
    (void)rma_between_tests(r, NULL); /* the requests return the errors themselves */
}

/* sleep_on sleeps on ev; or, if n is not 0, on the n descriptors and the process's own event, as
 * the watcher. Returns whether a descriptor was readable then. */
static bool sleep_on(struct rma *r, struct event *ev, uint32_t ticket, const int *fds, unsigned n,
                     uint64_t ns)
{
    bool readable = false;
    atomic_fetch_add_explicit(&r->stats.sleeps, 1, memory_order_relaxed);
    rma_event(r, (struct trace_record){.kind = TRACE_SLEEP});
    if (unlikely(r->env->idle != NULL) && !n)
        r->env->idle(r->env->ctx, ev, ticket, ns);
    else
        readable = rma_sleep_beside_host(r, ev, ticket, fds, n, ns);
    rma_event(r, (struct trace_record){.kind = TRACE_AWAKE});
    return readable;
}

/* watch_begin makes the caller the one thread that blocks on the channels' descriptors. False:
 * another thread is. */
static bool watch_begin(struct rma *r)
{
    return !atomic_load_explicit(&r->progress.watcher, memory_order_relaxed) &&
           !atomic_exchange_explicit(&r->progress.watcher, true, memory_order_seq_cst);
}

static void watch_end(struct rma *r)
{
    struct polling *own = r->env->polling;
    atomic_store_explicit(&r->progress.watcher, false, memory_order_seq_cst); /* A; C of agent.c */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&r->progress.agent_off, memory_order_seq_cst))
        event_wake(&own->agent, r->env->doorbell_fd);
    if (atomic_load_explicit(&own->threads.sleepers, memory_order_relaxed))
        event_wake(&own->threads, r->env->doorbell_fd);
}

/* sleep_limit returns for how long to sleep at most. poll says that something must be polled for
 * soon. */
static uint64_t sleep_limit(const struct rma *r, bool poll)
{
    const uint64_t limit = poll ? SHORT_SLEEP_NS : LONG_SLEEP_NS, pause = rma_pause(r);
    const uint64_t look = r->progress.agent ? 0 : unsent_pause(r);
    const uint64_t least = pause && pause < limit ? pause : limit;
    return look && look < least ? look : least;
}

/* sleep_watching sleeps once on the process's own event and n descriptors, as the watcher. Returns
 * whether a descriptor has woken it. */
static bool sleep_watching(struct win *w, const struct rma_wait *wait, const int *fds, unsigned n)
{
    struct rma *r = w->rma;
    struct event *own = &r->env->polling->threads;
    bool block, woken = false;
    const uint32_t ticket = event_enter_polled(own);
    if (!rma_poll_surely(r, &block) && block && !rma_pending(r) && !check(r, wait)) {
        const bool poll = wait->poll_only || ch3_unsent_must_poll(r->ch3);
        woken = sleep_on(r, own, ticket, fds, n, sleep_limit(r, poll));
    }
    event_leave_polled(own);
    return woken;
}

/* help_others takes part in the copies of others. Returns whether there was something to do. */
static bool help_others(struct rma *r, const struct joint_board *board)
{
    return unlikely(board && joint_open(board)) && r->progress.hooks->help(r);
}

/* sleep_once sleeps once. polled says that this thread has announced that it polls packets.
 * *watching is set if it is the watcher from now on. Returns whether a descriptor has woken it. */
static bool sleep_once(struct win *w, const struct rma_wait *wait, bool polled, bool *watching)
{
    struct rma *r = w->rma;
    struct event *own = &r->env->polling->threads, *ev = wait->event ? wait->event : own;
    int fds[CH3_MAX_CHANNELS];
    const unsigned n = ev == own && polled ? ch3_wait_fds(r->ch3, fds) : 0;
    const bool blocks = n > 0;
    if (blocks && (*watching || (*watching = watch_begin(r)))) {
        return sleep_watching(w, wait, fds, n);
    }
    if (ev != own && polled)
        rma_polling_end(r);
    uint32_t ticket = event_enter(ev);
    bool moved = ev == own && r->progress.packets && (rma_poll_surely(r, NULL) || rma_pending(r));
    const bool unwatched =
        blocks && !atomic_load_explicit(&r->progress.watcher, memory_order_relaxed); /* D */
    if (!moved && !unwatched && !check(r, wait)) {
        bool poll = wait->poll_only || ch3_unsent_must_poll(r->ch3) ||
                    (r->progress.packets && ev != own && !r->progress.agent);
        (void)sleep_on(r, ev, ticket, NULL, 0, sleep_limit(r, poll));
    }
    event_leave(ev);
    if (ev != own && polled)
        rma_polling_begin(r);
    return false;
}

/* State of the questions that a wait asks from time to time: has a peer died, is a report due? */
struct patience {
    uint64_t start, awake, next_check, next_report, hang_ns;
};

static int lose_patience(struct win *w, const struct rma_wait *wait, struct patience *p,
                         uint64_t now)
{
    if (now >= p->next_check) {
        rma_enter(w->rma);
        int err = check_peers(w, wait);
        rma_leave(w->rma);
        /* the lost process may have done its part before it ended */
        if (err && !check(w->rma, wait))
            return err;
        rma_check_waiting(w->rma);
        p->next_check = now + LONG_SLEEP_NS;
    }
    if (p->hang_ns && now >= p->next_report) {
        w->rma->progress.hooks->report_wait(w, wait, now - p->start);
        p->next_report = now + p->hang_ns;
    }
    return MRMA_SUCCESS;
}

/* Rounds of a long wait between two looks at the clock. */
struct rounds {
    struct pace yields, busy;
    unsigned spins, spins_served;
};

/* is_look_due returns whether a look at the clock is due after this round. If not, it may have
 * given the processor away. */
static bool is_look_due(struct rma *r, struct rounds *n, bool moved)
{
    n->spins = moved ? n->spins_served : n->spins - (n->spins != 0);
    /* packets of others may keep this thread busy although its own condition never comes true */
    if (moved)
        return pace_due(&n->busy);
    if (n->spins)
        return false;
    if (pace_due(&n->yields))
        return true;
    yield_processor(r); /* a look costs as much as a yield */
    return false;
}

static uint64_t look_at_clock(struct rma *r, struct rounds *n, bool moved)
{
    const uint64_t now = r->clock();
    if (moved)
        pace_next(&n->busy, now, now + POLLS_NS, 0, POLLS_PER_CLOCK - 1);
    else
        pace_next(&n->yields, now, now + YIELDS_NS, 0, YIELDS_PER_CLOCK - 1);
    return now;
}

static int wait_long(struct win *w, const struct rma_wait *wait, bool polled, bool *watching,
                     struct joint_board *board)
{
    struct rma *r = w->rma;
    const uint64_t yield_ns = r->progress.oversubscribed ? YIELD_NS_OVERSUBSCRIBED : YIELD_NS_ALONE;
    struct patience p = {.hang_ns = (uint64_t)(r->conf->hang_report * 1e9)};
    struct rounds rounds = {
        .yields.left = YIELDS_PER_CLOCK - 1,
        .busy.left = POLLS_PER_CLOCK - 1,
        .spins_served = r->progress.oversubscribed || r->env->idle ? 0 : SPINS_SERVED,
    };
    bool served = false;
    rma_advance_host(r, r->clock());
    while (!check(r, wait)) {
        const bool polled_now = rma_progress(r);
        const bool moved = help_others(r, board) || polled_now;
        served |= moved;
        if (!is_look_due(r, &rounds, moved))
            continue;
        const uint64_t now = look_at_clock(r, &rounds, moved);
        if (!p.start && r->progress.packets)
            call_agents(w, wait);
        if (!p.start)
            p = (struct patience){now, now, now + LONG_SLEEP_NS, now + p.hang_ns, p.hang_ns};
        rma_advance_host_often(r, now);
        /* more packets may follow, and if this thread slept now their sender would wait for a
         * wake-up */
        if (served)
            p.awake = now;
        served = false;
        if (now - p.awake < yield_ns && now < p.next_check) {
            yield_processor(r);
            continue;
        }
        int err = lose_patience(w, wait, &p, now);
        if (err)
            return err;
        if (now - p.awake < yield_ns)
            continue;
        /* If the provider receives a put by itself, only the descriptor tells of that: it is
         * readable for each piece of the put. */
        rma_help_end(r, board);
        served = sleep_once(w, wait, polled, watching);
        if (board)
            joint_help_begin(board, !r->threads);
        rounds.yields.left = 0;
    }
    return MRMA_SUCCESS;
}

int rma_wait_until(struct win *w, const struct rma_wait *wait)
{
    struct rma *r = w->rma;
    const int spins =
        r->progress.oversubscribed || r->env->idle ? SPINS_OVERSUBSCRIBED : SPINS_ALONE;
    bool packets = r->progress.packets, watching = false;
    struct joint_board *board = rma_help_begin(r);
    if (packets)
        rma_polling_begin(r);
    int err = MRMA_SUCCESS, i = 0;
    bool done = check(r, wait);
    for (; !done && i < spins; i++) {
        if (i == SPINS_CALL_AGENTS && packets)
            call_agents(w, wait);
        if (packets)
            (void)rma_poll(r);
        if (unlikely(i % RMA_ROUNDS_PER_HOST == RMA_ROUNDS_PER_HOST - 1))
            rma_advance_host(r, r->clock());
        (void)help_others(r, board);
        done = check(r, wait);
    }
    rma_count_wait(r, (unsigned)i % RMA_ROUNDS_PER_HOST);
    if (!done)
        err = wait_long(w, wait, packets, &watching, board);
    if (watching)
        watch_end(r);
    rma_help_end(r, board);
    if (packets)
        rma_polling_end(r);
    return err;
}

void rma_backoff(struct rma *r, unsigned round)
{
    if (r->progress.oversubscribed || r->env->idle || round > SPINS_ALONE)
        yield_processor(r);
    else
        cpu_relax();
}
