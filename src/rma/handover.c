/*
 * handover.c - see handover.h.
 *
 * What pays was measured (doc/performance.md): a system call costs more than a round trip
 * through the ring, and the kernel pins the target's pages for every piece; but larger
 * contiguous puts and gets are copied once instead of twice. Those that no second cache holds are handed over
 * again: two processors that copy at the same time, through a ring that stays in the caches, take half as long
 * as one that waits for memory. And where pinning pages costs the kernel several times what copying them takes
 * (handover_price), every size is handed over to a target that polls: 64 KiB 5.1 -> 1.7 us, 1 MiB 69 -> 22 us.
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
 * It may be wrong: the target does not come by again. Then the agent is woken after a short while
 * (handover_hurry), which has cost both more than the system calls would have. So such a target is left
 * alone for some operations, for twice as many the next time. Not so where the pieces are many: those
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

#include "rma/dtype.h"

enum {
    COPY_MAX = 4096,    /* bytes of a contiguous put or get */
    COPY_BURST = 16384, /* the same behind others: no round trip of its own */
    COPY_HUGE = 2 << 20, /* the same, and longer, where the kernel copies as fast as others */
    PRICE_HIGH = 400,   /* percent of memcpy's time: it does not */
    PIECE_MAX = 2048,   /* average bytes of a piece of others */
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

static bool pays(const struct rma *r, const struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                 size_t len)
{
    if (is_acc(kind) || len <= (t->handed == HANDED_NONE ? COPY_MAX : COPY_BURST) || len >= r->copy_large)
        return true;
    return in_pieces(op->ttype) || in_pieces(kind == PKT_OP_PUT ? op->otype : op->rtype);
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

void handover_price(struct rma *r, unsigned percent)
{
    r->copy_large = percent >= PRICE_HIGH ? COPY_MAX + 1 : COPY_HUGE;
}

bool handover_serves(const struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                     size_t len)
{
    const struct rma *r = w->rma;
    const enum epoch_state now = epoch_now(&w->epoch);
    if (unlikely(t->handed == HANDED_ACC) && is_acc(kind))
        return true;
    if ((now != EPOCH_LOCK && now != EPOCH_LOCK_ALL) || op->req || r->threads || r->oversubscribed || w->strict ||
        !pays(r, t, kind, op, len))
        return false;
    rma_peer_want_agent(t->peer);
    if (len >= r->copy_large && !is_acc(kind) && !rma_peer_polls(t->peer)) /* too much to guess about */
        return false;
    if (t->pkt && t->pkt->count) /* who waits for that need not wait much longer */
        return true;
    return (rma_peer_attentive(t->peer) && !is_shy(t->pkt)) || (rma_peer_has_agent(t->peer) && is_many(op));
}

int handover_op(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op)
{
    if (t->handed == HANDED_NONE)
        w->nhanded++;
    if (is_acc(kind))
        t->handed = HANDED_ACC;
    else if (t->handed == HANDED_NONE)
        t->handed = HANDED_COPY;
    w->flush_quick = FLUSH_QUICK_NONE;
    w->rma->stats.handed++;
    return issue_op(w, t, kind, op);
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

/* Late: by system calls it would be done by now, and accumulates take twice as many as what the target may
 * be doing of its own. */
void handover_hurry(struct pkt_target *pt, bool wake)
{
    const struct rma_peer *peer = pt->target->peer;
    if (pt->unwoken == UNWOKEN_NONE)
        return;
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

static void forget(struct win *w, struct rma_target *t)
{
    if (t->handed == HANDED_NONE)
        return;
    t->handed = HANDED_NONE;
    if (t->pkt && t->pkt->unwoken == UNWOKEN) /* done in time */
        t->pkt->shyness -= t->pkt->shyness != 0;
    if (t->pkt)
        t->pkt->unwoken = UNWOKEN_NONE;
    if (--w->nhanded == 0)
        win_set_flush_quick(w);
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
