/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * passive_epoch.c - see passive_epoch.h. A lock epoch without operations sends nothing, since its
 * lock was never asked for.
 *
 * States of a packet lock (origin_pair.lock), see doc/protocol.md:
 *   NONE -begin-> DUE -first packet-> SENT -PKT_OPEN, ack or reply-> HELD -ack of unlock-> NONE
 *   DUE -unlock without operations-> NONE (nothing was sent)
 */
#include "rma/origin/passive_epoch.h"

#include <pthread.h>

#include "base/err.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/rdma_op.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

/* lock_pending returns whether the lock is not granted yet, or not even asked for. */
static bool lock_pending(const struct origin_pair *pair)
{
    return pair->lock == ORIGIN_LOCK_DUE || pair->lock == ORIGIN_LOCK_SENT;
}

static bool lock_answered(void *arg)
{
    const struct origin_pair *pair = arg;
    return !lock_pending(pair) || pair->win->origin_side.err;
}

static int ask_for_lock(struct origin_pair *pair)
{
    origin_pair_touch(pair);
    const int err = origin_ask_open(pair);
    return err ? err : origin_pair_wait(pair, lock_answered, "the window's lock");
}

int origin_lock_await(struct rma *r)
{
    int err = MRMA_SUCCESS;
    rma_enter(r);
    struct origin_pair *pair = r->lock_due;
    if (pair && pthread_equal(r->lock_due_by, pthread_self())) {
        r->lock_due = NULL;
        if (lock_pending(pair))
            err = ask_for_lock(pair);
    }
    rma_leave(r);
    return err;
}

int origin_lock_begin(struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    rma_enter(r);
    struct origin_pair *pair = origin_pair_get(w, t);
    int err = pair ? origin_pair_await_unlocked(pair) : MRMA_ERR_NO_MEM;
    if (!err && t->lock != WIN_LOCK_NONE) {
        pair->asked = pair->awaited = pair->refused = false;
        pair->lock_seq++;
        pair->lock = t->lock == WIN_LOCK_NOCHECK ? ORIGIN_LOCK_NONE : ORIGIN_LOCK_DUE;
    }
    if (!err && pair->lock == ORIGIN_LOCK_DUE) {
        struct origin_pair *due = r->lock_due;
        bool taken = due && due != pair && lock_pending(due); /* by another thread's lock */
        if (w->flavor == WIN_ALLOCATE_SHARED || taken) {
            err = ask_for_lock(pair);
        } else {
            r->lock_due = pair;
            r->lock_due_by = pthread_self();
        }
    }
    rma_leave(r);
    return err;
}

/* end_lock ends a lock epoch on one target. If there was no operation it sends no message, since
 * the lock was never asked for. */
static int end_lock(struct origin_pair *pair)
{
    if (pair->lock == ORIGIN_LOCK_DUE && !pair->count) {
        pair->lock = ORIGIN_LOCK_NONE;
        return MRMA_SUCCESS;
    }
    return origin_request_flush(pair, pair->lock == ORIGIN_LOCK_NONE ? PKT_F_FLUSH : PKT_F_UNLOCK);
}

int origin_lock_end(struct win *w, struct rma_target *t)
{
    struct origin_pair *pair = t->pair;
    const int ended = origin_rdma_await(w, pair, false);
    rma_enter(w->rma);
    int err = end_lock(pair);
    rma_leave(w->rma);
    if (!err)
        err = ended ? ended : origin_await_flushed(w, pair, ORIGIN_EPOCH_END);
    rma_enter(w->rma);
    origin_lock_ended(pair);
    rma_leave(w->rma);
    return err;
}

int origin_unlock_all(struct win *w)
{
    const int ended = origin_rdma_await(w, NULL, false);
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    LIST_EACH_SAFE (node, &w->origin_side.touched)
        if (!err)
            err = end_lock(LIST_ENTRY(node, struct origin_pair, touched));
    rma_leave(w->rma);
    if (!err)
        err = ended ? ended : origin_await_flushed(w, NULL, ORIGIN_EPOCH_END);
    rma_enter(w->rma);
    LIST_EACH_SAFE (node, &w->origin_side.touched)
        origin_lock_ended(LIST_ENTRY(node, struct origin_pair, touched));
    rma_leave(w->rma);
    return err;
}
