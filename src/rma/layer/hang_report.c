/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hang_report.c - reports what a long wait waits for, rank by rank.
 *
 * The first line names the call, its place in the program and the wait; a line follows for each
 * route of operations to the targets for which the call waits (win/path_ops.h), and one for each
 * kind of thing that is missing: posts, completes, fence markers, arrivals at the barriers, the
 * lock's holders and queue, and what each packet peer (or kernel-assisted one to which something
 * was sent) owes (acknowledgements, replies) or has not taken (queued bytes, large operations).
 * Everything is read under the engine's lock. What peers of the node have published is read as it
 * is, so a line may be a moment old; the holders of a lock are those who say so in their slots
 * (sync/sync.h), which they do only where the variable is set for them, too.
 */
#include "rma/layer/layer.h"

#include <stdarg.h>
#include <stdio.h>

#include "rma/create/route.h"
#include "rma/notify/notify.h"
#include "rma/origin/pair.h"
#include "rma/path/path.h"
#include "rma/sync/barrier.h"
#include "rma/sync/fence_counts.h"
#include "rma/sync/sync.h"
#include "rma/win/target_lock.h"
#include "rma/target/target.h"

struct line {
    char text[900]; /* a line of the log, less its prefix */
    size_t at;
    int n;        /* items in it */
    int from, to; /* the run of ranks that is not written yet */
};

static void __attribute__((format(printf, 2, 3))) add(struct line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(l->text + l->at, sizeof l->text - l->at, fmt, args);
    va_end(args);
    if (n > 0)
        l->at = l->at + (size_t)n < sizeof l->text ? l->at + (size_t)n : sizeof l->text - 1;
}

static void end_run(struct line *l)
{
    if (l->from < 0)
        return;
    add(l, l->from == l->to ? " %d" : " %d-%d", l->from, l->to);
    l->from = -1;
}

static void add_rank(struct line *l, int rank)
{
    l->n++;
    if (l->from >= 0 && rank == l->to + 1) {
        l->to = rank;
        return;
    }
    end_run(l);
    l->from = l->to = rank;
}

static struct line begin(const char *what)
{
    struct line l = {.from = -1};
    add(&l, "  %s", what);
    return l;
}

static void say(const struct win *w, struct line *l)
{
    end_run(l);
    if (l->n)
        log_msg(w->rma->log, LOG_LEVEL_ERROR, "%s", l->text);
}

/* say_ranks lists the ranks of a group, or of all, of which something is missing. */
static void say_ranks(struct win *w, const char *what, const struct win_group *group,
                      bool (*missing)(const struct win *w, const struct rma_target *t))
{
    struct line l = begin(what);
    for (int i = 0; i < group->n; i++) {
        const int rank = group->ranks ? group->ranks[i] : i;
        if (missing(w, win_peek(w, rank)))
            add_rank(&l, rank);
    }
    say(w, &l);
}

static bool unposted(const struct rma_target *t)
{
    return t->in &&
           !seq_reached(atomic_load_explicit(&t->in->posts, memory_order_relaxed), t->posts_due);
}

static bool no_post(const struct win *w, const struct rma_target *t)
{
    (void)w;
    return t->ctl && unposted(t);
}

/* A packet peer says that it has posted where this process needs to know, or with a reply. */
static bool no_word_of_post(const struct win *w, const struct rma_target *t)
{
    (void)w;
    return !t->ctl && origin_debt_of(t).post && unposted(t);
}

static bool no_complete(const struct win *w, const struct rma_target *t)
{
    (void)w;
    return t->in && !target_sync(t)->completed(t);
}

static bool no_marker(const struct win *w, const struct rma_target *t)
{
    return !t->ctl && (!t->from || t->from->marked != w->phase + 1);
}

static bool not_entered(const struct win *w, const struct rma_target *t)
{
    return !barrier_node_entered(w, t);
}

static void add_note(struct line *l, int rank, const struct lock_note *note)
{
    add(l, "%s rank %d %s %s", l->n++ ? "," : "", rank,
        note->use == LOCK_HELD ? "holds it" : "waits for it",
        note->exclusive ? "exclusively" : "shared");
    if (note->ticket != LOCK_NO_TICKET)
        add(l, " (ticket %u)", note->ticket);
}

/* say_lock describes the lock of a target of the node, as its users on this node have published
 * it. */
static void say_lock(struct win *w, const struct rma_target *t)
{
    struct line l = begin("");
    const uint64_t word = atomic_load_explicit(&t->ctl->lock, memory_order_relaxed);
    add(&l, "lock of rank %d: %u held or waited for;", t->rank, lockword_users(word));
    for (int i = 0; i < w->nmemory; i++) {
        const int slot = (int)(win_peek(w, w->memory_ranks[i]) - w->local);
        const struct lock_note note = lock_noted(t, slot);
        if (note.use != LOCK_UNUSED)
            add_note(&l, w->memory_ranks[i], &note);
    }
    const uint64_t all = atomic_load_explicit(&w->lead->all, memory_order_relaxed);
    const uint32_t ticketless = atomic_load_explicit(&t->ctl->ticketless, memory_order_relaxed) +
                                (uint32_t)(all & LOCK_ALL_HOLDERS);
    if (ticketless)
        add(&l, "; %u hold it, or wait for it, without a ticket (MPI_Win_lock_all)", ticketless);
    if (atomic_load_explicit(&t->ctl->packets_wait, memory_order_relaxed))
        add(&l, "; requests by packet wait");
    l.n = 1;
    say(w, &l);
}

/* say_packet_locks describes the requests by packet for this process's own lock. */
static void say_packet_locks(struct win *w)
{
    struct line l = begin("lock of this process, by packets:");
    for (int i = 0; i < w->nproc; i++) {
        const struct pkt_origin *po = win_peek(w, i)->from;
        if (!po || po->lock == LOCKQ_NONE)
            continue;
        const char *how = po->all ? "shared" : po->exclusive ? "exclusively" : "shared";
        add(&l, "%s rank %d %s %s", l.n++ ? "," : "", i,
            po->lock == LOCKQ_HELD ? "holds it" : "waits for it", how);
        if (!po->all)
            add(&l, " (ticket %u)", po->ticket);
    }
    say(w, &l);
}

static void add_debt(struct line *l, const char *what, uint64_t n)
{
    if (n)
        add(l, "%s %llu %s", l->n++ ? "," : "", (unsigned long long)n, what);
}

/* say_peer describes what a packet peer owes this process or has not taken; for another peer, what
 * was sent to it by packet. */
static void say_peer(struct win *w, const struct rma_target *t)
{
    struct line l = begin("");
    const struct origin_debt debt = origin_debt_of(t);
    add(&l, t->sent != SENT_NOTHING ? "operations sent to rank %d:" : "rank %d:", t->rank);
    add_debt(&l, "bytes queued to it", ch3_vc_queued(&t->peer->vc));
    add_debt(&l, "acknowledgements due", debt.acks);
    add_debt(&l, "replies due", debt.replies);
    add_debt(&l, "large operations leaving", debt.large);
    add_debt(&l, "lock request not granted", debt.lock);
    if (t->from)
        add_debt(&l, "packets of it parked here until their epoch", t->from->nparked);
    say(w, &l);
}

/* say_route lists the targets whose operations go along r: the rank for which the call waits, or
 * all. */
static void say_route(struct win *w, const struct route *r, int rank)
{
    char text[ROUTE_TEXT];
    struct line l = begin("");
    route_text(r, text, sizeof text);
    add(&l, "route %s: rank", text);
    for (int i = 0; i < w->nproc; i++)
        if ((rank < 0 || i == rank) && target_route(win_peek(w, i)) == r)
            add_rank(&l, i);
    say(w, &l);
}

static void say_routes(struct win *w, int rank)
{
    for (int i = 0; i < ROUTES; i++)
        say_route(w, &w->routes[i], rank);
    say_route(w, &path_lost_route, rank);
}

/* say_counts describes a fence that ends by counts: which message, or how many bytes, it misses. */
static void say_counts(struct win *w)
{
    struct line l = begin("");
    const int rank = fence_counts_missing(w);
    if (rank >= 0)
        add(&l, "no counts of rank %d", rank);
    else
        add(&l, "%llu bytes of operations have come, %llu are expected",
            (unsigned long long)w->phase_arrived, (unsigned long long)fence_counts_expected(w));
    l.n = 1;
    say(w, &l);
}

static void say_details(struct win *w, const struct rma_wait *wait)
{
    const struct win_group all = {.n = w->nproc},
                           node = {.ranks = w->memory_ranks, .n = w->nmemory};
    if (epoch_now(&w->epoch) == EPOCH_PSCW) {
        say_ranks(w, "no MPI_Win_post of rank", pscw_access(w), no_post);
        say_ranks(w, "no word of an MPI_Win_post from rank", pscw_access(w), no_word_of_post);
    }
    if (w->epoch.exposed)
        say_ranks(w, "no MPI_Win_complete of rank", pscw_exposure(w), no_complete);
    if (wait->phase == RMA_WAIT_FENCE && fence_counts_used(w))
        say_counts(w);
    else if (wait->phase == RMA_WAIT_FENCE)
        say_ranks(w, "no fence marker of rank", &all, no_marker);
    if (wait->phase == RMA_WAIT_FREE)
        log_msg(w->rma->log, LOG_LEVEL_ERROR, "  not in MPI_Win_free, or held up there: rank %d",
                wait->rank);
    if (wait->phase == RMA_WAIT_BARRIER)
        say_ranks(w, "not in the barrier: rank", &node, not_entered);
    for (int i = 0; i < w->nproc; i++) {
        const struct rma_target *t = win_peek(w, i);
        if (t->ctl && (i == wait->rank || t->lock != WIN_LOCK_NONE) &&
            (lockword_users(atomic_load_explicit(&t->ctl->lock, memory_order_relaxed)) ||
             atomic_load_explicit(&t->ctl->ticketless, memory_order_relaxed)))
            say_lock(w, t);
        if (t->peer)
            say_peer(w, t);
    }
    say_packet_locks(w);
}

bool hang_awaits(struct win *w, const struct rma_wait *wait, const struct rma_target *t)
{
    const struct origin_debt debt = origin_debt_of(t);
    if (wait && wait->rank == t->rank)
        return true;
    if (wait && wait->phase == RMA_WAIT_BARRIER)
        /* A process that has ended has not entered the barrier, or nobody would wait for it. */
        return wait->rank < 0 && t->ctl;
    if (wait && wait->phase == RMA_WAIT_FENCE)
        return fence_counts_used(w) ? fence_counts_missing(w) == t->rank : no_marker(w, t);
    if (t->from && t->from->lock == LOCKQ_HELD &&
        (wait ? wait->rank == w->rank : target_awaits_lock(w)))
        return true;
    return no_complete(w, t) || notified_awaits(w, wait, t) || debt.replies || debt.large ||
           debt.acks;
}

void win_describe(const struct win *w, int target, char *buf, size_t len)
{
    static const char *const states[EPOCH_STATES] = {
        [EPOCH_NONE] = "outside any access epoch",
        [EPOCH_FENCE] = "after a fence",
        [EPOCH_FENCE_USED] = "in a fence epoch",
        [EPOCH_PSCW] = "in an access epoch of MPI_Win_start",
        [EPOCH_LOCK] = "in a lock epoch",
        [EPOCH_LOCK_ALL] = "in a lock_all epoch"};
    static const char *const locks[] = {"not locked", "locked shared", "locked exclusively",
                                        "locked with NOCHECK", "locked shared"};
    size_t at = (size_t)snprintf(buf, len, "%s", states[epoch_now(&w->epoch)]);
    if (at < len && epoch_now(&w->epoch) == EPOCH_LOCK && target >= 0 && target < w->nproc)
        at += (size_t)snprintf(buf + at, len - at, " on %d target%s, rank %d is %s", w->nlocks,
                               w->nlocks == 1 ? "" : "s", target, locks[win_peek(w, target)->lock]);
    if (at < len && w->epoch.exposed)
        snprintf(buf + at, len - at, ", exposed to %d origin%s since MPI_Win_post",
                 pscw_exposure(w)->n, pscw_exposure(w)->n == 1 ? "" : "s");
}

void hang_report(struct win *w, const struct rma_wait *wait, uint64_t ns)
{
    char state[256], whom[32] = "", call[300] = "";
    win_describe(w, wait->rank, state, sizeof state);
    if (wait->rank >= 0)
        snprintf(whom, sizeof whom, " (rank %d)", wait->rank);
    if (w->rma->env->say_call)
        w->rma->env->say_call(call, sizeof call);
    rma_enter(w->rma);
    log_msg(w->rma->log, LOG_LEVEL_ERROR, "%s%srank %d of window %u waits for %.1f s for %s%s, %s",
            call, call[0] ? ": " : "", w->rank, w->index, (double)ns * 1e-9, wait->what, whom,
            state);
    say_routes(w, wait->rank);
    say_details(w, wait);
    rma_leave(w->rma);
}
