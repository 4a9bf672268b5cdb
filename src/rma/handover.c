/*
 * handover.c - see handover.h.
 *
 * What pays was measured (doc/performance.md): a system call costs more than a round trip
 * through the ring, and the kernel pins the target's pages for every piece. Larger contiguous puts and gets it copies
 * once instead of twice. But two processors copy at the same time, through a ring that stays in their caches, and the
 * kernel takes up to nine times as long as memcpy: 64 KiB 5.1 -> 1.7 us, 1 MiB 69 -> 22 us, if the two processors are
 * near each other; else 64 KiB take 13 to 40 us through the ring, or 6.4 past the caches (base/copy.h). What the kernel takes cannot be told from a trial
 * at the start, on memory that is in no cache yet. So both ways are timed (pace.h).
 *
 * In fence and PSCW epochs the target is there already (access was granted), and polls if it waits for the end of the
 * epoch: then the same is handed over to it. It is of the epoch (PKT_EPOCH_FENCE, _PSCW), so nothing is acknowledged:
 * before the origin ends its epoch it has the answers, and all else lies in the ring, which the target empties before
 * it ends its own (handover_settle). A target that does not poll may be computing, and is left alone; but for a few
 * small operations of a fence epoch: the origin will wait there for its fence anyway. MPI_Win_complete may not wait
 * for the target's MPI_Win_wait (MPI 4.1, 12.7.3), so there must be an agent as well, which is asked for.
 *
 * Order. Accumulates of one origin on one place are done in the order of the calls (MPI 4.1,
 * 12.7.2), and packets of a pair in the order they were filled. So as long as accumulates
 * may be under way (HANDED_ACC) all later ones follow them by packet, also requests, whether
 * the target still polls or not. Puts and gets have no order. That an element is changed by
 * one at a time is due to the stripe locks, which both ways hold.
 *
 * Two that operate on each other's memory: whoever is in a system call, or about to begin an
 * operation, does not poll. So who goes by system calls looks once after each of them (rma_pass_by), and who has
 * looked since the last question counts as attentive. The packet wakes nobody; who has sent
 * it waits, polls, and so serves the other one, which sees that and hands over in its turn. From
 * then on each does the other's operations while it waits for its own.
 *
 * It may be wrong: the target does not come by again. Then the agent is woken, when the target would have come by if it were
 * in calls of its own; and if it has, after about as long as a wake-up costs (handover_hurry; sooner, and two that wait for
 * each other's system calls wake agents that take their processors away). Both have lost more than the system calls
 * would have taken. So such a target is left alone for some operations, for twice as many the next time. Not so where the pieces are many: those
 * are handed over wherever there is an agent.
 *
 * Several threads (MPI_THREAD_MULTIPLE) would mark targets and flush them at the same time:
 * nothing is handed over then. Nor where the node has more processes than processors: a
 * target that polls need not be running.
 *
 * Locks: rma_target.handed and win.nhanded belong to the application's thread; the packets
 * are issue.c's.
 */
#include "rma/handover.h"

#include "base/err.h"
#include "rma/cma.h"
#include "rma/cma_io.h"
#include "rma/dtype.h"
#include "rma/wait.h"

enum {
    COPY_MAX = 4096,    /* bytes of a contiguous put or get that is not timed */
    PIECE_MAX = 2048,   /* average bytes of a piece of others */
    ACC_LARGE = 16384,  /* bytes of contiguous accumulates that are timed */
    FENCE_FEW = 32,     /* answers that a fence epoch may wait for */
    BEGIN_LOOKS = 64,   /* less than a system call takes */
    MANY_PIECES = 256,  /* of the target: they take the kernel longer than it takes to wake an agent */
    SHYNESS_MAX = 10    /* doublings of one operation that is not handed over */
};

static bool is_acc(enum pkt_op_kind kind)
{
    return kind != PKT_OP_PUT && kind != PKT_OP_GET;
}

static bool in_pieces(const struct dtype *type)
{
    return !type->contig && type->size / PIECE_MAX < type->pieces;
}

static bool is_active(enum epoch_state now)
{
    return now == EPOCH_PSCW || now == EPOCH_FENCE_USED;
}

static bool copies_in_pieces(enum pkt_op_kind kind, const struct rma_op *op)
{
    return in_pieces(op->ttype) || in_pieces(kind == PKT_OP_PUT ? op->otype : op->rtype);
}

static bool is_large_copy(enum pkt_op_kind kind, const struct rma_op *op, size_t len)
{
    return len > COPY_MAX && !is_acc(kind) && !copies_in_pieces(kind, op);
}

static struct pace *acc_pace_of(const struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op, size_t len)
{
    if (likely(len < ACC_LARGE) || in_pieces(op->ttype) || (op->op != ACC_NO_OP && in_pieces(op->otype)))
        return NULL;
    return &t->peer->pace[kind == PKT_OP_ACC ? PACE_ACC : PACE_FETCH];
}

static struct pace *copy_pace_of(const struct rma_target *t, size_t len)
{
    struct pace *all = t->peer->pace, *pace = &all[pace_class(len)];
    if (unlikely(!pace->kernel) && pace == &all[PACE_HUGE])
        pace_adopt(pace, &all[PACE_CACHED]);
    return pace;
}

/* Two processors or the kernel? Then how fast they are. */
static struct pace *pace_of(const struct rma *r, const struct rma_target *t, enum pkt_op_kind kind,
                            const struct rma_op *op, size_t len)
{
    if (r->conf->large_copies == CONF_COPIES_RING)
        return NULL;
    if (is_acc(kind))
        return acc_pace_of(t, kind, op, len);
    return is_large_copy(kind, op, len) ? copy_pace_of(t, len) : NULL;
}

static bool is_many(const struct rma_op *op)
{
    const size_t pieces = in_pieces(op->ttype) ? op->ttype->pieces : 0;
    return pieces && op->tcount >= (MANY_PIECES + pieces - 1) / pieces;
}

/* Was the target not there the last time? */
static bool is_shy(struct pkt_target *pt)
{
    if (likely(!pt || !pt->direct_left))
        return false;
    pt->direct_left--;
    return true;
}

/* Is it in the phase that this process has begun? It is on its way. What comes earlier it parks, but only so many packets
 * (target.h): a few gets, and nothing that others may have to follow in its order. */
static bool begins_phase(const struct win *w, const struct rma_target *t)
{
    for (int i = 0; i < BEGIN_LOOKS; i++, cpu_relax())
        if (seq_reached(atomic_load_explicit(&t->ctl->exposed, memory_order_acquire), w->phase)) /* pairs with expose */
            return true;
    return false;
}

static bool may_wait_for_fence(const struct rma_target *t, enum epoch_state now, size_t len)
{
    return now == EPOCH_FENCE_USED && len <= COPY_MAX && (!t->pkt || t->pkt->replies < FENCE_FEW);
}

static bool can_ask_back(const struct rma *r, const struct rma_op *op)
{
    return op->ttype->size <= sizeof r->asked_back;
}

bool handover_serves(const struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                     size_t len)
{
    const struct rma *r = w->rma;
    const enum epoch_state now = epoch_now(&w->epoch);
    const bool passive = now == EPOCH_LOCK || now == EPOCH_LOCK_ALL;
    if (unlikely(t->handed == HANDED_ACC) && is_acc(kind))
        return true;
    if (!(passive || is_active(now)) || op->req || r->threads || r->oversubscribed || w->strict)
        return false;
    const bool large = is_large_copy(kind, op, len);
    if (large && (r->conf->large_copies == CONF_COPIES_KERNEL || (is_active(now) && !can_ask_back(r, op))))
        return false;
    if (now != EPOCH_FENCE_USED)
        rma_peer_want_agent(t->peer);
    if (now == EPOCH_PSCW && !rma_peer_has_agent(t->peer))
        return false;
    /* Large ones are too much to guess about. */
    if ((large || (!passive && !may_wait_for_fence(t, now, len))) && !rma_peer_polls(t->peer))
        return false;
    if (now == EPOCH_FENCE_USED && (kind != PKT_OP_GET || !may_wait_for_fence(t, now, len)) && !begins_phase(w, t))
        return false;
    struct pace *pace = pace_of(r, t, kind, op, len);
    if (pace && !pace_by_ring(pace))
        return false;
    if (!passive || (t->pkt && t->pkt->count)) /* who waits for that need not wait much longer */
        return true;
    return (rma_peer_attentive(t->peer) && !is_shy(t->pkt)) || (rma_peer_has_agent(t->peer) && is_many(op));
}

/* One element of what was stored, as it is behind that: nothing else is acknowledged in an active target epoch. */
static int ask_back(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    struct rma_op get;
    rma_op_clear(&get);
    get.raddr = w->rma->asked_back;
    get.rcount = get.tcount = 1;
    get.rtype = get.ttype = op->ttype;
    get.target = op->target;
    get.disp = op->disp;
    return issue_op(w, t, PKT_OP_GET, &get);
}

/* Of what is timed, or comes before a trial, what the target does as well: or the batch would seem to be done when it has left. */
static int issue_paced(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                       struct pace *pace, size_t len)
{
    struct rma *r = w->rma;
    const bool timed = pace_times_ring(pace);
    const uint64_t begin = timed ? r->clock() : 0;
    int err = issue_op(w, t, kind, op);
    if (!err && is_active(epoch_now(&w->epoch)) && !pkt_fetches(kind) && can_ask_back(r, op) && (timed || !pace->proven))
        err = ask_back(w, t, op);
    if (timed)
        r->paced += !pace_waits(pace);
    pace_add(pace, timed ? r->clock() - begin : 0, len);
    return err;
}

static void judge_pace(struct rma *r, struct rma_peer *peer)
{
    peer->pacing = false;
    for (int i = 0; i < PACE_CLASSES; i++) {
        r->paced -= pace_waits(&peer->pace[i]);
        pace_judge(&peer->pace[i]);
    }
}

static void forget(struct win *w, struct rma_target *t)
{
    if (t->handed == HANDED_NONE)
        return;
    t->handed = HANDED_NONE;
    if (t->pkt && t->pkt->unwoken == UNWOKEN) /* done in time */
        t->pkt->shyness -= t->pkt->shyness != 0;
    if (t->pkt)
        t->pkt->unwoken = UNWOKEN_NONE;
    if (unlikely(t->peer->pacing))
        judge_pace(w->rma, t->peer);
    if (--w->nhanded == 0)
        win_set_flush_quick(w);
}

/* A long batch: nothing is learned from what is under way, and what is under way makes a trial behind it slow. */
static int end_batch(struct win *w, struct rma_target *t, const struct rma_op *op, struct pace *pace)
{
    const bool active = is_active(epoch_now(&w->epoch));
    if (!pace_waits(pace) && pace->proven) {
        pace_judge(pace);
        return MRMA_SUCCESS;
    }
    if (active && !can_ask_back(w->rma, op))
        return MRMA_SUCCESS;
    const int err = issue_flush(w, t, active);
    if (active && !err)
        forget(w, t); /* what was asked for is behind all else */
    else if (!err)
        handover_flushed(w, t);
    return err;
}

int handover_op(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op)
{
    const size_t len = op->tcount * op->ttype->size;
    struct pace *pace = pace_of(w->rma, t, kind, op, len);
    if (t->handed == HANDED_NONE)
        w->nhanded++;
    if (is_acc(kind))
        t->handed = HANDED_ACC;
    else if (t->handed == HANDED_NONE)
        t->handed = HANDED_COPY;
    if (epoch_now(&w->epoch) == EPOCH_FENCE_USED && kind != PKT_OP_GET) /* see fence.c */
        win_announce_put(w, t);
    w->flush_quick = FLUSH_QUICK_NONE;
    w->rma->stats.handed++;
    if (likely(!pace))
        return issue_op(w, t, kind, op);
    t->peer->pacing = true;
    w->rma->stats.streamed += pace->fill == CH3_FILL_STREAMED;
    atomic_store_explicit(&t->peer->vc.fill, pace->fill, memory_order_relaxed);
    const int err = issue_paced(w, t, kind, op, pace, len);
    return err || likely(!pace_full(pace)) ? err : end_batch(w, t, op, pace);
}

static int by_kernel(const struct rma_target *t, const struct log *log, enum pkt_op_kind kind, const struct rma_op *op,
                     uint64_t vaddr, size_t len)
{
    if (is_acc(kind))
        return cma_acc(t->peer, log, vaddr, op, kind == PKT_OP_GET_ACC);
    const bool put = kind == PKT_OP_PUT;
    return cma_copy(t->peer, log, put, put ? (void *)(uintptr_t)op->oaddr : op->raddr, vaddr, len);
}

int handover_declined(const struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                      uint64_t vaddr, size_t len)
{
    const struct rma *r = w->rma;
    struct pace *pace = r->threads ? NULL : pace_of(r, t, kind, op, len);
    if (likely(!pace || !pace_times_kernel(pace)))
        return by_kernel(t, r->log, kind, op, vaddr, len);
    const uint64_t begin = r->clock();
    const int err = by_kernel(t, r->log, kind, op, vaddr, len);
    if (!err)
        pace_kernel(pace, r->clock() - begin, len);
    return err;
}

uint64_t handover_clock(const struct rma *r)
{
    return r->paced ? r->clock() : 0;
}

static void add_wait(struct rma_peer *peer, uint64_t ns)
{
    for (int i = 0; i < PACE_CLASSES; i++)
        if (pace_waits(&peer->pace[i]))
            pace_add(&peer->pace[i], ns, 0);
}

void handover_waited(struct win *w, struct rma_target *t, uint64_t begin)
{
    const uint64_t ns = begin ? w->rma->clock() - begin : 0;
    for (int i = 0; begin && i < w->nlocal; i++)
        if (!t || t == &w->local[i])
            add_wait(w->local[i].peer, ns);
}

int handover_send(struct pkt_target *pt, const struct pkt_hdr *hdr)
{
    struct rma_peer *peer = pt->target->peer;
    const int err = ch3_send_unhurried(&peer->vc, hdr, hdr->len);
    if (err)
        return err;
    if (pt->unwoken == UNWOKEN_NONE)
        pt->unwoken = UNWOKEN;
    rma_peer_look(peer);
    return MRMA_SUCCESS;
}

/* Late: by system calls it would be done by now. Who has not come by since it was handed over is not in the middle of
 * a call of its own. */
void handover_hurry(struct pkt_target *pt, bool wake)
{
    const struct rma_peer *peer = pt->target->peer;
    if (pt->unwoken == UNWOKEN_NONE)
        return;
    wake = wake || !rma_peer_came_by(peer);
    if (pt->unwoken == UNWOKEN && (wake || pt->target->handed != HANDED_ACC) && !rma_peer_polls(peer)) {
        pt->direct_left = 1u << pt->shyness;
        pt->shyness += pt->shyness < SHYNESS_MAX;
        pt->unwoken = UNWOKEN_LATE;
    }
    if (wake) {
        rma_peer_hurry(peer);
        pt->unwoken = UNWOKEN_NONE;
    }
}

void handover_flushed(struct win *w, struct rma_target *t)
{
    for (int i = 0; !t && i < w->nlocal && w->nhanded; i++)
        if (w->local[i].handed != HANDED_NONE)
            handover_flushed(w, &w->local[i]);
    if (t && t->handed != HANDED_NONE && issue_all_done(t->pkt)) /* not else: other threads may be at it */
        forget(w, t);
}

void handover_end(struct win *w, struct rma_target *t)
{
    for (int i = 0; !t && i < w->nlocal && w->nhanded; i++)
        forget(w, &w->local[i]);
    if (t)
        forget(w, t);
}

/* Answers are here, and the rest has left. */
static bool is_settled(const struct rma_target *t)
{
    return t->handed == HANDED_NONE || !t->pkt ||
           (!t->pkt->replies && !t->pkt->streams && !ch3_vc_busy(&t->peer->vc));
}

static bool all_settled(void *arg)
{
    const struct win *w = arg;
    for (int i = 0; i < w->nlocal; i++)
        if (!is_settled(&w->local[i]))
            return false;
    return true;
}

static void hurry_all(void *arg, bool wake)
{
    const struct win *w = arg;
    rma_enter(w->rma);
    for (int i = 0; i < w->nlocal; i++)
        if (w->local[i].handed != HANDED_NONE && w->local[i].pkt)
            handover_hurry(w->local[i].pkt, wake);
    rma_leave(w->rma);
}

int handover_settle(struct win *w)
{
    if (likely(!w->nhanded))
        return MRMA_SUCCESS;
    const uint64_t begin = handover_clock(w->rma);
    const int err = rma_wait_until(w, &(struct rma_wait){.done = all_settled, .hurry = hurry_all, .arg = w, .locked = true,
                                                         .what = "what was handed over", .rank = -1});
    handover_waited(w, NULL, begin);
    handover_end(w, NULL);
    return err;
}
