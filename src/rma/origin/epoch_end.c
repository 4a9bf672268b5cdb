/*
 * epoch_end.c - the ends of epochs by packets: fence markers, complete, unlock (origin's side).
 *
 * What ends an epoch is piggybacked on its last packet; targets that got no operation get a bare
 * one, but a lock epoch without operations sends nothing. Locks: the engine's, taken here; waits
 * are without it.
 */
#include "base/err.h"
#include "rma/origin/completion.h"
#include "rma/origin/issue.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/rdma.h"
#include "rma/progress/wait.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

int issue_marker(struct win *w, struct rma_target *t)
{
    struct pkt_target *pt = pkt_target_get(w, t);
    if (!pt)
        return MRMA_ERR_NO_MEM;
    const int err = pkt_send_open(pt, PKT_F_FENCE, false);
    pt->phase_bytes = 0;
    pt->proven = pt->written;
    return err;
}

/* A marker to every packet peer, behind the phase's operations. That makes a target of each:
 * for windows with few of them (FENCE_MARKERS_MAX) or where markers are asked for. */
static int send_markers(struct win *w)
{
    struct rma_target *t;
    int err = MRMA_SUCCESS;
    for (int i = 0; !err && i < w->nproc; i++) {
        err = win_target_locked(w, i, &t);
        if (!err)
            err = t->sync_ops->end_phase(w, t);
    }
    return err;
}

/* What is still open to those that got operations; then how much it was, to a few. */
static int send_counted(struct win *w, int (*announce)(struct win *w))
{
    int err = MRMA_SUCCESS;
    LIST_EACH_SAFE (node, &w->origin_side.touched) {
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (!err && pt->count)
            err = pkt_send_open(pt, 0, false);
        pt->proven = pt->written;
    }
    int counted = announce(w);
    return err ? err : counted;
}

int issue_fence(struct win *w, int (*announce)(struct win *w))
{
    struct rma *r = w->rma;
    if (!w->npackets)
        return MRMA_SUCCESS;
    /* Counts travel by other ways than what they count. */
    int err = rdma_settle(w, NULL, announce != NULL);
    if (err)
        return err;
    rma_enter(r);
    w->origin_side.fence_closing = true;
    err = announce ? send_counted(w, announce) : send_markers(w);
    w->origin_side.fence_closing = false;
    pkt_forget_touched(w);
    rma_leave(r);
    return err;
}

static bool nothing_outstanding(void *arg)
{
    return issue_nothing_due(arg);
}

static int wait_outstanding(struct win *w)
{
    return rma_wait_until(
        w,
        &(struct rma_wait){
            .done = nothing_outstanding, .arg = w, .locked = true, .what = "replies", .rank = -1});
}

int issue_completing(struct win *w)
{
    return rdma_settle(w, NULL, false);
}

int issue_complete(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    struct pkt_target *pt = pkt_target_get(w, t);
    const int err = pt ? pkt_send_open(pt, PKT_F_COMPLETE, false) : MRMA_ERR_NO_MEM;
    if (pt)
        pt->proven = pt->written;
    rma_leave(w->rma);
    return err;
}

int issue_completed(struct win *w, int err)
{
    rma_enter(w->rma);
    pkt_forget_touched(w);
    rma_leave(w->rma);
    if (!err)
        err = wait_outstanding(w);
    rma_enter(w->rma);
    int reported = issue_take_error(w);
    rma_leave(w->rma);
    return err ? err : reported;
}

/* End of a lock epoch on one target. Without an operation there is no message:
 * the lock was never asked for. */
static int end_lock(struct pkt_target *pt)
{
    if (pt->lock == PKT_LOCK_DUE && !pt->count) {
        pt->lock = PKT_LOCK_NONE;
        return MRMA_SUCCESS;
    }
    return pkt_request_flush(pt, pt->lock == PKT_LOCK_NONE ? PKT_F_FLUSH : PKT_F_UNLOCK);
}

int issue_lock_end(struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    struct pkt_target *pt = t->pkt;
    const int settled = rdma_settle(w, pt, false);
    rma_enter(r);
    int err = end_lock(pt);
    rma_leave(r);
    if (!err)
        err = settled ? settled : pkt_wait_flushed(w, pt, false);
    rma_enter(r);
    pt->lock = PKT_LOCK_NONE;
    if (r->lock_due == pt)
        r->lock_due = NULL; /* the next lock need not ask */
    if (list_node_queued(&pt->touched))
        list_remove(&pt->touched);
    rma_leave(r);
    return err;
}

int issue_unlock_all(struct win *w)
{
    struct rma *r = w->rma;
    int err = MRMA_SUCCESS;
    const int settled = rdma_settle(w, NULL, false);
    rma_enter(r);
    LIST_EACH_SAFE (node, &w->origin_side.touched) {
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (!err)
            err = end_lock(pt);
    }
    rma_leave(r);
    if (!err)
        err = settled ? settled : pkt_wait_flushed(w, NULL, false);
    rma_enter(r);
    LIST_EACH (node, &w->origin_side.touched)
        LIST_ENTRY(node, struct pkt_target, touched)->lock = PKT_LOCK_NONE;
    pkt_forget_touched(w);
    rma_leave(r);
    return err;
}
