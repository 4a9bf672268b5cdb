/*
 * issue_active.c - what ends active target epochs, by packets: the fence marker,
 * complete and post (origin's side).
 *
 * A marker or a complete rides on the last packet of the epoch; targets that got
 * no operation get a bare one. Locks: the engine's, taken here; waits are without it.
 */
#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/rdma.h"
#include "rma/progress/wait.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

int issue_post(struct win *w, struct rma_target *t)
{
    int err = win_send_header(w, t, PKT_POST, ++t->posts_sent, 0, 0, 0);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(w, t) : err;
}

/* A marker to every packet peer, behind the phase's operations. That makes a target of each:
 * for windows with few of them (FENCE_MARKERS_MAX) or where markers are asked for. */
static int send_markers(struct win *w)
{
    int err = MRMA_SUCCESS;
    for (int i = 0; !err && w->npackets && i < w->nproc; i++) {
        struct rma_target *t;
        if ((err = win_target_locked(w, i, &t)) != MRMA_SUCCESS)
            break;
        if (t->direct)
            continue;
        struct pkt_target *pt = pkt_target_get(w, t);
        if (!pt) {
            err = MRMA_ERR_NO_MEM;
            break;
        }
        err = pkt_send_open(pt, PKT_F_FENCE, false);
        pt->phase_bytes = 0;
        pt->proven = pt->written;
    }
    return err;
}

/* What is still open to those that got operations; then how much it was, to a few. */
static int send_counted(struct win *w, int (*tell_counts)(struct win *w))
{
    int err = MRMA_SUCCESS;
    LIST_EACH_SAFE (node, &w->touched) {
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (!err && pt->count)
            err = pkt_send_open(pt, 0, false);
        pt->proven = pt->written;
    }
    int counted = tell_counts(w);
    return err ? err : counted;
}

int issue_fence(struct win *w, int (*tell_counts)(struct win *w))
{
    struct rma *r = w->rma;
    if (!w->npackets)
        return MRMA_SUCCESS;
    /* Counts travel by other ways than what they count. */
    int err = rdma_settle(w, NULL, tell_counts != NULL);
    if (err)
        return err;
    rma_enter(r);
    w->fence_closing = true;
    err = tell_counts ? send_counted(w, tell_counts) : send_markers(w);
    w->fence_closing = false;
    pkt_forget_touched(w);
    rma_leave(r);
    return err;
}

static bool nothing_outstanding(void *arg)
{
    struct win *w = arg;
    return w->replies == 0 && w->streams == 0 && issue_all_left(w);
}

static int wait_outstanding(struct win *w)
{
    return rma_wait_until(
        w,
        &(struct rma_wait){
            .done = nothing_outstanding, .arg = w, .locked = true, .what = "replies", .rank = -1});
}

int issue_complete(struct win *w)
{
    struct rma *r = w->rma;
    const int settled = rdma_settle(w, NULL, false);
    rma_enter(r);
    int err = MRMA_SUCCESS;
    for (int i = 0; !err && i < w->group.n; i++) {
        struct rma_target *t = win_peek(w, w->group.ranks[i]);
        if (t->direct)
            continue;
        struct pkt_target *pt = pkt_target_get(w, t);
        err = pt ? pkt_send_open(pt, PKT_F_COMPLETE, false) : MRMA_ERR_NO_MEM;
        if (pt)
            pt->proven = pt->written;
    }
    pkt_forget_touched(w);
    rma_leave(r);
    if (!err)
        err = settled ? settled : wait_outstanding(w);
    rma_enter(w->rma);
    int reported = issue_take_error(w);
    rma_leave(w->rma);
    return err ? err : reported;
}

static bool all_confirmed(void *arg)
{
    const struct win *w = arg;
    return w->unconfirmed == 0;
}

/* Operations whose epoch ended without an acknowledgement (fence, complete) may have been
 * refused, with the error still on its way: a flush. */
static int ask_confirm(struct win *w, struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    struct pkt_hdr hdr;
    if (!pt || !pt->unconfirmed)
        return MRMA_SUCCESS;
    issue_header(pt, &hdr);
    hdr.epoch = PKT_EPOCH_NOCHECK;
    hdr.seq =
        w->phase; /* not the number of a lock, which the target would take for fences to wait for */
    hdr.flags = PKT_F_FLUSH;
    hdr.len = sizeof hdr;
    hdr.offset = ++pt->acks_due;
    w->unconfirmed++;
    int err = ch3_send_owned(&t->peer->vc, &hdr, sizeof hdr, &w->queued);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(w, t) : err;
}

int issue_confirm(struct win *w)
{
    struct rma *r = w->rma;
    int err = MRMA_SUCCESS;
    rma_enter(r);
    w->unconfirmed = 0;
    for (int i = 0; !err && i < w->nlocal; i++)
        if (!w->local[i].direct)
            err = ask_confirm(w, &w->local[i]);
    LIST_EACH (node, &w->remote)
        if (!err)
            err = ask_confirm(w, LIST_ENTRY(node, struct rma_target, remote_link));
    const bool wait = w->unconfirmed;
    rma_leave(r);
    if (!err && wait)
        err = rma_wait_until(w, &(struct rma_wait){.done = all_confirmed,
                                                   .arg = w,
                                                   .locked = true,
                                                   .what = "the last acknowledgements",
                                                   .rank = -1});
    return err;
}
