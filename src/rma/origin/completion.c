/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.c - how packets end epochs, and what is complete at a target according to its answers
 * to flushes, unlocks and fetching operations (origin's side).
 *
 * The end of an epoch is piggybacked on its last packet. A target that got no operation gets a
 * packet without records; but a lock epoch without operations sends nothing. Flush and unlock send
 * one request to each target with something outstanding, all targets at once, then await all
 * acknowledgements. Locks: functions that may wait take the engine's lock themselves, and give it
 * up while they wait.
 */
#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/issue.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/pair_epoch.h"
#include "rma/origin/rdma.h"
#include "rma/origin/region_keys.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced_path.h"
#include "rma/types/type_table.h"
#include "rma/win/send_header.h"
#include "rma/win/sync_ops.h"
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

static bool nothing_outstanding(void *arg)
{
    return issue_nothing_due(arg);
}

int win_take_error(struct win *w)
{
    rma_enter(w->rma);
    const int err = issue_take_error(w);
    rma_leave(w->rma);
    return err;
}

/* ---- flush ---- */

enum until { LOCALLY, REMOTELY, EPOCH_END };

struct flush_arg {
    struct win *w;
    struct pkt_target *pt; /* NULL: all touched */
    enum until until;
};

/* mpirma_weak_unlock: local completion is enough at the end of a lock epoch, unless this process
 * gives back the lock by itself, in a control block. */
static bool unlocks_weakly(const struct pkt_target *pt)
{
    return pt->win->hints.weak_unlock && !pt->target->ctl;
}

static bool pair_flushed(const struct pkt_target *pt, enum until until)
{
    const bool weak = until == EPOCH_END && unlocks_weakly(pt);
    if (pt->replies || pt->streams)
        return false;
    if (weak)
        return issue_all_left(pt->win);
    return until == LOCALLY || (!pt->rdma_ops && seq_reached(pt->acks_seen, pt->acks_due));
}

bool issue_all_done(const struct rma_target *t)
{
    const struct pkt_target *pt = t->pkt;
    return !pt || (!pt->count && !issue_unflushed(pt) && !pt->unread && pair_flushed(pt, REMOTELY));
}

static bool flushed(void *arg)
{
    struct flush_arg *a = arg;
    if (a->pt)
        return pair_flushed(a->pt, a->until);
    const bool some = epoch_now(&a->w->epoch) == EPOCH_LOCK; /* targets, of which no past epochs */
    LIST_EACH (node, &a->w->origin_side.touched) {
        const struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (!(some && pt->unlocking) && !pair_flushed(pt, a->until))
            return false;
    }
    return true;
}

/* request_flush sends what is needed to flush (PKT_F_FLUSH), to unlock (PKT_F_UNLOCK), or only the
 * open packet (0). The last has two reasons: the replies to its operations prove that these, and
 * all before them, are done at the target; and a local flush enables operations, which must then
 * complete whatever this process does next (MPI 4.1, 12.7.3). It is called under the engine's lock,
 * which it gives up while it waits to send. */
static int request_flush(struct pkt_target *pt, uint8_t flag)
{
    int err = MRMA_SUCCESS;
    if (flag == PKT_F_FLUSH) {
        err = rdma_confirm(pt);
        if (!issue_unflushed(pt))
            flag = 0;
    }
    if (err || (!flag && !pt->count))
        return err;
    return pkt_send_open(pt, flag, flag != PKT_F_UNLOCK);
}

/* wait_flushed waits until the target of pt has answered, or, if pt is NULL, all targets that the
 * epoch has used; or only until buffers may be used again. It takes the engine's lock. It also
 * returns the errors of operations that targets have refused. */
static int wait_flushed(struct win *w, struct pkt_target *pt, enum until until)
{
    struct flush_arg arg = {w, pt, until};
    const char *what = until == LOCALLY ? "local completion" : "acknowledgements";
    const int err = origin_wait(w, flushed, &arg, what, pt ? pt->target->rank : -1);
    const int reported = win_take_error(w);
    return err ? err : reported;
}

int issue_await_unlocked(struct win *w)
{
    struct flush_arg arg = {w, NULL, REMOTELY};
    return w->hints.weak_unlock ? origin_wait(w, flushed, &arg, "its unlocks", -1) : MRMA_SUCCESS;
}

/* request_all calls request_flush for all targets that the epoch has used; with confirm it only
 * starts gets behind their puts. After each wait the walk begins again, since other threads may
 * have locked and unlocked. */
static int request_all(struct win *w, uint8_t flag, bool confirm)
{
    struct list_node *node = list_first(&w->origin_side.touched);
    while (node) {
        const uint32_t waits = w->origin_side.waits;
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        int err = confirm ? rdma_confirm(pt) : request_flush(pt, flag);
        if (err)
            return err;
        node = w->origin_side.waits == waits ? list_next(&w->origin_side.touched, node)
                                             : list_first(&w->origin_side.touched);
    }
    return MRMA_SUCCESS;
}

int issue_flush(struct win *w, struct rma_target *t, bool local)
{
    const uint8_t flag = local ? 0 : PKT_F_FLUSH;
    struct pkt_target *pt = t ? t->pkt : NULL;
    if (t && !pt)
        return MRMA_SUCCESS;
    rma_enter(w->rma);
    const int err = pt ? request_flush(pt, flag) : request_all(w, flag, false);
    rma_leave(w->rma);
    return err ? err : wait_flushed(w, pt, local ? LOCALLY : REMOTELY);
}

/* ---- ends of epochs ---- */

int issue_marker(struct win *w, struct rma_target *t)
{
    struct pkt_target *pt = pkt_target_get(w, t);
    if (!pt)
        return MRMA_ERR_NO_MEM;
    const int err = pkt_send_open(pt, PKT_F_FENCE, false);
    pt->phase_bytes = 0;
    pt->flushed = pt->written;
    return err;
}

/* send_markers sends a marker to every packet peer, behind the phase's operations. This makes the
 * targets of all these peers, so it is for windows with few of them (FENCE_MARKERS_MAX), or where
 * the user asks for markers. */
static int send_markers(struct win *w)
{
    int err = MRMA_SUCCESS;
    struct rma_target *t;
    for (int i = 0; !err && i < w->nproc; i++) {
        err = win_target_locked(w, i, &t);
        if (!err)
            err = target_sync(t)->end_phase(w, t);
    }
    return err;
}

/* send_touched sends the open packets of the targets that got operations. */
static int send_touched(struct win *w)
{
    int err = MRMA_SUCCESS;
    LIST_EACH_SAFE (node, &w->origin_side.touched) {
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (!err && pt->count)
            err = pkt_send_open(pt, 0, false);
        pt->flushed = pt->written;
    }
    return err;
}

bool issue_epoch_lasts(const struct win *w)
{
    return epoch_now(&w->epoch) != EPOCH_NONE || w->origin_side.fence_closing;
}

void issue_closing(struct win *w, bool closing)
{
    rma_enter(w->rma);
    w->origin_side.fence_closing = closing;
    rma_leave(w->rma);
}

/* send_closing sends the end of the phase, as part of the phase. Under the engine's lock. */
static int send_closing(struct win *w, int (*send)(struct win *w))
{
    w->origin_side.fence_closing = true;
    const int err = send(w);
    w->origin_side.fence_closing = false;
    return err;
}

int issue_fence(struct win *w)
{
    if (!w->npackets)
        return MRMA_SUCCESS;
    int err = rdma_await(w, NULL, false);
    if (err)
        return err;
    rma_enter(w->rma);
    err = send_closing(w, send_markers);
    pkt_forget_touched(w);
    rma_leave(w->rma);
    return err;
}

int issue_phase(struct win *w)
{
    rma_enter(w->rma);
    int err = request_all(w, 0, true);
    rma_leave(w->rma);
    if (!err) /* counts travel by other ways than the operations that they count */
        err = rdma_await(w, NULL, true);
    if (err)
        return err;
    rma_enter(w->rma);
    err = send_closing(w, send_touched);
    rma_leave(w->rma);
    return err;
}

bool issue_phase_next(struct win *w, struct pkt_target **at, int *rank, uint64_t *bytes)
{
    struct list *touched = &w->origin_side.touched;
    struct list_node *node = *at ? list_next(touched, &(*at)->touched) : list_first(touched);
    while (node && !LIST_ENTRY(node, struct pkt_target, touched)->phase_bytes)
        node = list_next(touched, node);
    if (!node)
        return false;
    struct pkt_target *pt = *at = LIST_ENTRY(node, struct pkt_target, touched);
    *rank = pt->target->rank;
    *bytes = pt->phase_bytes;
    pt->phase_bytes = 0;
    return true;
}

void issue_phase_end(struct win *w)
{
    pkt_forget_touched(w);
}

int issue_completing(struct win *w)
{
    return rdma_await(w, NULL, false);
}

int issue_complete(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    struct pkt_target *pt = pkt_target_get(w, t);
    const int err = pt ? pkt_send_open(pt, PKT_F_COMPLETE, false) : MRMA_ERR_NO_MEM;
    if (pt)
        pt->flushed = pt->written;
    rma_leave(w->rma);
    return err;
}

int issue_completed(struct win *w, int err)
{
    rma_enter(w->rma);
    pkt_forget_touched(w);
    rma_leave(w->rma);
    return err ? err : origin_wait(w, nothing_outstanding, w, "replies", -1);
}

/* end_lock ends a lock epoch on one target. If there was no operation it sends no message, since
 * the lock was never asked for. */
static int end_lock(struct pkt_target *pt)
{
    if (pt->lock == PKT_LOCK_DUE && !pt->count) {
        pt->lock = PKT_LOCK_NONE;
        return MRMA_SUCCESS;
    }
    return request_flush(pt, pt->lock == PKT_LOCK_NONE ? PKT_F_FLUSH : PKT_F_UNLOCK);
}

/* lock_ended is called when the epoch is over, with an error or without. */
static void lock_ended(struct pkt_target *pt)
{
    struct rma *r = pt->win->rma;
    pt->lock = PKT_LOCK_NONE;
    if (r->lock_due == pt)
        r->lock_due = NULL; /* the next lock need not wait for this one */
    pt->unlocking = unlocks_weakly(pt) && !seq_reached(pt->acks_seen, pt->acks_due);
    pt->unconfirmed |= pt->unlocking;
    pt->unread = false; /* the puts were sent before the unlock, or have been confirmed */
    /* a pair that is unlocking stays, so that the next flush of all targets waits for it */
    if (list_node_queued(&pt->touched) && !pt->unlocking)
        list_remove(&pt->touched);
}

int issue_lock_end(struct win *w, struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    const int ended = rdma_await(w, pt, false);
    rma_enter(w->rma);
    int err = end_lock(pt);
    rma_leave(w->rma);
    if (!err)
        err = ended ? ended : wait_flushed(w, pt, EPOCH_END);
    rma_enter(w->rma);
    lock_ended(pt);
    rma_leave(w->rma);
    return err;
}

int issue_unlock_all(struct win *w)
{
    const int ended = rdma_await(w, NULL, false);
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    LIST_EACH_SAFE (node, &w->origin_side.touched)
        if (!err)
            err = end_lock(LIST_ENTRY(node, struct pkt_target, touched));
    rma_leave(w->rma);
    if (!err)
        err = ended ? ended : wait_flushed(w, NULL, EPOCH_END);
    rma_enter(w->rma);
    LIST_EACH_SAFE (node, &w->origin_side.touched)
        lock_ended(LIST_ENTRY(node, struct pkt_target, touched));
    rma_leave(w->rma);
    return err;
}

/* ---- posts, and answers ---- */

bool issue_got_posts(struct rma_target *t, uint32_t posts)
{
    const uint32_t known = atomic_load_explicit(&t->in->posts, memory_order_relaxed);
    if (likely(seq_reached(known, posts)))
        return true;
    if (!seq_reached(t->starts + 1, posts))
        return false;
    atomic_store_explicit(&t->in->posts, posts,
                          memory_order_release); /* pairs with has_posted of early.c */
    if (t->pkt)
        pkt_word_came(t->pkt);
    return true;
}

void issue_got_open(struct rma_target *t, uint32_t seq, bool lock)
{
    struct pkt_target *pt = t->pkt;
    if (!pt)
        return;
    if (!lock)
        pt->open_seq = seq + 1;
    else
        pkt_lock_granted(pt, seq);
    pkt_word_came(pt);
}

bool issue_got_ack(struct rma_target *t, uint32_t seq)
{
    struct pkt_target *pt = t->pkt;
    if (!pt || pt->acks_seen == pt->acks_due || seq != pt->acks_seen + 1)
        return false;
    pkt_epoch_answered(pt, pt->lock_seq);
    pt->acks_seen = seq;
    pt->unlocking &= seq != pt->acks_due;
    if (seq == pt->acks_due && !pt->rdma_ops)
        win_done_up_to(pt->win, t->rank, pt->last_op);
    if (seq == pt->acks_due && pt->unconfirmed) {
        pt->unconfirmed = false;
        pt->win->origin_side.unconfirmed -= pt->win->origin_side.unconfirmed != 0;
    }
    pt->win->rma->stats.acks++;
    pkt_word_came(pt);
    return true;
}

/* ---- the window's end ---- */

static bool all_confirmed(void *arg)
{
    const struct win *w = arg;
    return w->origin_side.unconfirmed == 0;
}

/* ask_confirm sends a flush: operations whose epoch has ended without an acknowledgement (fence,
 * complete) may have been refused, and the error may still be on its way. */
static int ask_confirm(struct win *w, struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    if (!pt || !pt->unconfirmed)
        return MRMA_SUCCESS;
    struct pkt_hdr hdr = pkt_ops_header(pt);
    hdr.epoch = PKT_EPOCH_NOCHECK;
    /* the number of a lock would be taken for that of a fence to wait for */
    hdr.seq = w->phase;
    hdr.flags = PKT_F_FLUSH;
    hdr.offset = ++pt->acks_due;
    w->origin_side.unconfirmed++;
    return pkt_send(pt, &hdr);
}

int issue_confirm(struct win *w)
{
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    w->origin_side.unconfirmed = 0;
    for (int i = 0; !err && i < w->nlocal; i++)
        err = ask_confirm(w, &w->local[i]);
    LIST_EACH (node, &w->remote)
        if (!err)
            err = ask_confirm(w, LIST_ENTRY(node, struct rma_target, remote_link));
    const bool wait = w->origin_side.unconfirmed;
    rma_leave(w->rma);
    return err || !wait ? err : origin_wait(w, all_confirmed, w, "the last acknowledgements", -1);
}

static void fail(struct pkt_target *pt, int err)
{
    origin_fail(pt, err);
    rdma_fail(pt, err);
}

void pair_lost(struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    if (!pt || (!pt->replies && !pt->rdma_ops))
        return;
    fail(pt, MRMA_ERR_PROC_FAILED);
    if (!pt->win->origin_side.err)
        pt->win->origin_side.err = MRMA_ERR_PROC_FAILED;
}

void pair_fail_all(struct win *w, int err)
{
    for (int i = 0; i < w->nlocal; i++)
        if (w->local[i].pkt)
            fail(w->local[i].pkt, err);
    LIST_EACH (node, &w->remote) {
        const struct rma_target *t = LIST_ENTRY(node, struct rma_target, remote_link);
        if (t->pkt)
            fail(t->pkt, err);
    }
}

void pair_free(struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    if (!pt)
        return;
    fail(pt, MRMA_ERR_PROC_FAILED);
    pt->acks_seen = pt->acks_due; /* nobody waits any more */
    lock_ended(pt);
    unsent_gone(pt->win->rma, &pt->unsent);
    type_table_free(pt->types);
    region_keys_free(pt);
    free(pt->buf);
    free(pt);
    t->pkt = NULL;
}
