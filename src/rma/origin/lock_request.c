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
