/*
 * completion.c - what is complete at a target, as its answers to flushes, unlocks and fetching
 * operations say (origin's side).
 *
 * One request per target with something outstanding, all targets at once, then all
 * acknowledgements are awaited. Locks: the engine's, taken here where a function says that it may
 * wait; waits are without it.
 */
#include "rma/origin/completion.h"

#include "base/err.h"
#include "rma/origin/epoch_open.h"
#include "rma/origin/issue.h"
#include "rma/origin/open_packet.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced.h"
#include "rma/win/win.h"

void issue_init(struct win *w)
{
    list_init(&w->origin_side.touched);
}

bool issue_requests_due(const struct win *w)
{
    return w->origin_side.replies || w->origin_side.streams;
}

bool issue_nothing_due(const struct win *w)
{
    return !issue_requests_due(w) && issue_all_left(w);
}

struct flush_arg {
    struct win *w;
    struct pkt_target *pt; /* NULL: all touched */
    bool local;
};

static bool pkt_flushed(const struct pkt_target *pt, bool local)
{
    return pt->replies == 0 && pt->streams == 0 &&
           (local || seq_reached(pt->acks_seen, pt->acks_due));
}

bool issue_all_done(const struct rma_target *t)
{
    const struct pkt_target *pt = t->pkt;
    return !pt || (!pt->count && !issue_unproven(pt) && pkt_flushed(pt, false));
}

static bool flushed(void *arg)
{
    struct flush_arg *a = arg;
    if (a->pt)
        return pkt_flushed(a->pt, a->local);
    LIST_EACH (node, &a->w->origin_side.touched)
        if (!pkt_flushed(LIST_ENTRY(node, struct pkt_target, touched), a->local))
            return false;
    return true;
}

int pkt_request_flush(struct pkt_target *pt, uint8_t flag)
{
    if (flag == PKT_F_FLUSH && !issue_unproven(pt))
        flag = 0;
    if (!flag && !(pt->count && pt->replies))
        return MRMA_SUCCESS;
    return pkt_send_open(pt, flag, flag != PKT_F_UNLOCK);
}

int pkt_wait_flushed(struct win *w, struct pkt_target *pt, bool local)
{
    struct flush_arg arg = {w, pt, local};
    int err = rma_wait_until(
        w, &(struct rma_wait){.done = flushed,
                              .arg = &arg,
                              .locked = true,
                              .what = local ? "local completion" : "acknowledgements",
                              .rank = pt ? pt->target->rank : -1});
    rma_enter(w->rma);
    int reported = issue_take_error(w);
    rma_leave(w->rma);
    return err ? err : reported;
}

/* From the start again after a wait: other threads may have locked and unlocked. */
static int request_all(struct win *w, uint8_t flag)
{
    struct list_node *node = list_first(&w->origin_side.touched);
    while (node) {
        const uint32_t waits = w->origin_side.waits;
        int err = pkt_request_flush(LIST_ENTRY(node, struct pkt_target, touched), flag);
        if (err)
            return err;
        node = w->origin_side.waits == waits ? list_next(&w->origin_side.touched, node)
                                             : list_first(&w->origin_side.touched);
    }
    return MRMA_SUCCESS;
}

int issue_flush(struct win *w, struct rma_target *t, bool local)
{
    struct rma *r = w->rma;
    const uint8_t flag = local ? 0 : PKT_F_FLUSH;
    int err = MRMA_SUCCESS;
    rma_enter(r);
    if (t && t->pkt) {
        err = pkt_request_flush(t->pkt, flag);
    } else if (!t) {
        err = request_all(w, flag);
    }
    rma_leave(r);
    if (err || (t && !t->pkt))
        return err;
    return pkt_wait_flushed(w, t ? t->pkt : NULL, local);
}

static bool all_confirmed(void *arg)
{
    const struct win *w = arg;
    return w->origin_side.unconfirmed == 0;
}

/* Operations whose epoch ended without an acknowledgement (fence, complete) may have been
 * refused, with the error still on its way: a flush. */
static int ask_confirm(struct win *w, struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    if (!pt || !pt->unconfirmed)
        return MRMA_SUCCESS;
    struct pkt_hdr hdr = pkt_ops_header(pt);
    hdr.epoch = PKT_EPOCH_NOCHECK;
    hdr.seq = w->phase; /* the number of a lock would be taken for fences to wait for */
    hdr.flags = PKT_F_FLUSH;
    hdr.offset = ++pt->acks_due;
    w->origin_side.unconfirmed++;
    return pkt_send(pt, &hdr);
}

int issue_confirm(struct win *w)
{
    struct rma *r = w->rma;
    int err = MRMA_SUCCESS;
    rma_enter(r);
    w->origin_side.unconfirmed = 0;
    for (int i = 0; !err && i < w->nlocal; i++)
        err = ask_confirm(w, &w->local[i]);
    LIST_EACH (node, &w->remote)
        if (!err)
            err = ask_confirm(w, LIST_ENTRY(node, struct rma_target, remote_link));
    const bool wait = w->origin_side.unconfirmed;
    rma_leave(r);
    if (!err && wait)
        err = rma_wait_until(w, &(struct rma_wait){.done = all_confirmed,
                                                   .arg = w,
                                                   .locked = true,
                                                   .what = "the last acknowledgements",
                                                   .rank = -1});
    return err;
}

bool issue_got_ack(struct rma_target *t, uint32_t seq)
{
    struct pkt_target *pt = t->pkt;
    if (!pt || pt->acks_seen == pt->acks_due || seq != pt->acks_seen + 1)
        return false;
    pt->acks_seen = seq;
    if (seq == pt->acks_due && !pt->rdma_ops)
        win_done_up_to(pt->win, t->rank, pt->last_op);
    if (seq == pt->acks_due && pt->unconfirmed) {
        pt->unconfirmed = false;
        pt->win->origin_side.unconfirmed -= pt->win->origin_side.unconfirmed != 0;
    }
    if (pt->lock == PKT_LOCK_SENT)
        pkt_lock_granted(pt);                    /* acknowledged, so it was granted */
    if (pkt_epoch_kind(pt) == PKT_EPOCH_NOCHECK) /* and its fences are passed there */
        pt->open_seq = pt->win->phase + 1;
    pt->win->rma->stats.acks++;
    return true;
}

int issue_take_error(struct win *w)
{
    int err = w->origin_side.err;
    w->origin_side.err = MRMA_SUCCESS;
    return err;
}
