/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_request.c - the lock of a packet target, asked for by the origin's packets: the first packet
 * of the epoch carries the request.
 *
 * States of a packet lock (pkt_target.lock), see doc/protocol.md:
 *   NONE -begin-> DUE -first packet-> SENT -PKT_OPEN, ack or reply-> HELD -ack of unlock-> NONE
 *   DUE -unlock without operations-> NONE (nothing was sent)
 * Locks: the caller holds the engine's lock, except for issue_lock_begin and issue_lock_await,
 * which take it; waits are without it.
 */
#include <pthread.h>

#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/origin/open_packet.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced_path.h"
#include "rma/win/win.h"

static bool unlocked(void *arg)
{
    const struct pkt_target *pt = arg;
    return !pt->unlocking;
}

int pkt_await_unlocked(struct pkt_target *pt)
{
    return unlikely(pt->unlocking)
               ? pkt_wait(pt, unlocked, "the acknowledgement of the last unlock")
               : MRMA_SUCCESS;
}

void pkt_lock_granted(struct pkt_target *pt, uint32_t seq)
{
    if (pt->lock != PKT_LOCK_SENT || pt->lock_seq != seq)
        return;
    pt->lock = PKT_LOCK_HELD;
    pt->open_seq = pt->win->phase + 1; /* the request names the fences passed here */
    win_event(pt->win, pt->target->rank, TRACE_LOCKED, 0);
}

void pkt_epoch_answered(struct pkt_target *pt, uint32_t lock_seq)
{
    pkt_lock_granted(pt, lock_seq);
    /* The target has passed this epoch's fences; any other answer is of an epoch that has ended. */
    if (pkt_epoch_kind(pt) == PKT_EPOCH_NOCHECK && !pt->unlocking)

        pt->open_seq = pt->win->phase + 1;
}

static uint8_t lock_flag(const struct pkt_target *pt)
{
    if (epoch_now(&pt->win->epoch) == EPOCH_LOCK_ALL || pt->target->lock == WIN_LOCK_COUNTED)
        return PKT_F_LOCK_ALL;
    return pt->target->lock == WIN_LOCK_EXCLUSIVE ? PKT_F_LOCK_EXCLUSIVE : PKT_F_LOCK_SHARED;
}

void pkt_take_lock(struct pkt_target *pt, struct pkt_hdr *hdr)
{
    if (pt->lock != PKT_LOCK_DUE || hdr->epoch != PKT_EPOCH_LOCK)
        return;
    hdr->flags |= lock_flag(pt);
    hdr->total = pt->win->phase;
    pt->lock = PKT_LOCK_SENT;
}

/* lock_pending returns whether the lock is not granted yet, or not even asked for. */
static bool lock_pending(const struct pkt_target *pt)
{
    return pt->lock == PKT_LOCK_DUE || pt->lock == PKT_LOCK_SENT;
}

static bool lock_answered(void *arg)
{
    const struct pkt_target *pt = arg;
    return !lock_pending(pt) || pt->win->origin_side.err;
}

static int ask_for_lock(struct pkt_target *pt)
{
    pkt_target_touch(pt);
    const int err = pkt_ask_open(pt);
    return err ? err : pkt_wait(pt, lock_answered, "the window's lock");
}

int issue_lock_await(struct rma *r)
{
    int err = MRMA_SUCCESS;
    rma_enter(r);
    struct pkt_target *pt = r->lock_due;
    if (pt && pthread_equal(r->lock_due_by, pthread_self())) {
        r->lock_due = NULL;
        if (lock_pending(pt))
            err = ask_for_lock(pt);
    }
    rma_leave(r);
    return err;
}

int issue_lock_begin(struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    rma_enter(r);
    struct pkt_target *pt = pkt_target_get(w, t);
    int err = pt ? pkt_await_unlocked(pt) : MRMA_ERR_NO_MEM;
    if (!err && t->lock != WIN_LOCK_NONE) {
        pt->asked = pt->awaited = pt->refused = false;
        pt->lock_seq++;
        pt->lock = t->lock == WIN_LOCK_NOCHECK ? PKT_LOCK_NONE : PKT_LOCK_DUE;
    }
    if (!err && pt->lock == PKT_LOCK_DUE) {
        struct pkt_target *due = r->lock_due;
        bool taken = due && due != pt && lock_pending(due); /* by another thread's lock */
        if (w->flavor == WIN_ALLOCATE_SHARED || taken) {
            err = ask_for_lock(pt);
        } else {
            r->lock_due = pt;
            r->lock_due_by = pthread_self();
        }
    }
    rma_leave(r);
    return err;
}
