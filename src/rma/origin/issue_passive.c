/*
 * issue_passive.c - what ends passive target epochs, by packets: flush and unlock
 * (origin's side).
 *
 * One request per target with something outstanding, all targets at once, then
 * all acknowledgements are awaited. A lock epoch without operations sends
 * nothing. Locks: the engine's, taken here; waits are without it.
 */
#include <pthread.h>

#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/rdma.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

/* Asked for and not granted yet, or not even asked for. */
static bool lock_pending(const struct pkt_target *pt)
{
    return pt->lock == PKT_LOCK_DUE || pt->lock == PKT_LOCK_SENT;
}

static bool lock_settled(void *arg)
{
    const struct pkt_target *pt = arg;
    return !lock_pending(pt) || pt->win->packet_err;
}

int issue_lock_settle(struct rma *r)
{
    int err = MRMA_SUCCESS;
    rma_enter(r);
    struct pkt_target *pt = r->lock_due;
    if (pt && pthread_equal(r->lock_due_by, pthread_self())) {
        r->lock_due = NULL;
        if (lock_pending(pt)) {
            pkt_target_touch(pt);
            err = pkt_ask_open(pt);
            if (!err)
                err = pkt_wait(pt, lock_settled, "the window's lock");
        }
    }
    rma_leave(r);
    return err;
}

int issue_lock_begin(struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    rma_enter(r);
    struct pkt_target *pt = pkt_target_get(w, t);
    int err = pt ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
    if (pt && t->lock != WIN_LOCK_NONE) {
        pt->asked = false;
        pt->ahead = 0;
        pt->lock_seq++;
        pt->lock = t->lock == WIN_LOCK_NOCHECK ? PKT_LOCK_NONE : PKT_LOCK_DUE;
    }
    if (pt && pt->lock == PKT_LOCK_DUE) {
        struct pkt_target *due = r->lock_due;
        bool taken = due && due != pt && lock_pending(due); /* by another thread's lock */
        if (w->flavor == WIN_ALLOCATE_SHARED || taken) {
            pkt_target_touch(pt);
            err = pkt_ask_open(pt);
            if (!err)
                err = pkt_wait(pt, pkt_is_opened, "the window's lock");
        } else {
            r->lock_due = pt;
            r->lock_due_by = pthread_self();
        }
    }
    rma_leave(r);
    return err;
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

bool issue_all_done(const struct pkt_target *pt)
{
    return !pt->count && !issue_unproven(pt) && pkt_flushed(pt, false);
}

static bool flushed(void *arg)
{
    struct flush_arg *a = arg;
    if (a->pt)
        return pkt_flushed(a->pt, a->local);
    LIST_EACH (node, &a->w->touched)
        if (!pkt_flushed(LIST_ENTRY(node, struct pkt_target, touched), a->local))
            return false;
    return true;
}

/* What is needed to flush (FLUSH), to unlock (UNLOCK), or only to get the answers that are
 * waited for (0). Those prove also that the operation is done at the target, and all before it. */
static int request_flush(struct pkt_target *pt, uint8_t flag)
{
    if (flag == PKT_F_FLUSH && !issue_unproven(pt))
        flag = 0;
    if (!flag && !(pt->count && pt->replies))
        return MRMA_SUCCESS;
    return pkt_send_open(pt, flag, flag != PKT_F_UNLOCK);
}

static int wait_flushed(struct win *w, struct pkt_target *pt, bool local)
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
    struct list_node *node = list_first(&w->touched);
    while (node) {
        const uint32_t waits = w->packet_waits;
        int err = request_flush(LIST_ENTRY(node, struct pkt_target, touched), flag);
        if (err)
            return err;
        node = w->packet_waits == waits ? list_next(&w->touched, node) : list_first(&w->touched);
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
        err = request_flush(t->pkt, flag);
    } else if (!t) {
        err = request_all(w, flag);
    }
    rma_leave(r);
    if (err || (t && !t->pkt))
        return err;
    return wait_flushed(w, t ? t->pkt : NULL, local);
}

/* End of a lock epoch on one target. Without an operation there is no message:
 * the lock was never asked for. */
static int end_lock(struct pkt_target *pt)
{
    if (pt->lock == PKT_LOCK_DUE && !pt->count) {
        pt->lock = PKT_LOCK_NONE;
        return MRMA_SUCCESS;
    }
    return request_flush(pt, pt->lock == PKT_LOCK_NONE ? PKT_F_FLUSH : PKT_F_UNLOCK);
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
        err = settled ? settled : wait_flushed(w, pt, false);
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
    LIST_EACH_SAFE (node, &w->touched) {
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (!err)
            err = end_lock(pt);
    }
    rma_leave(r);
    if (!err)
        err = settled ? settled : wait_flushed(w, NULL, false);
    rma_enter(r);
    LIST_EACH (node, &w->touched)
        LIST_ENTRY(node, struct pkt_target, touched)->lock = PKT_LOCK_NONE;
    pkt_forget_touched(w);
    rma_leave(r);
    return err;
}
