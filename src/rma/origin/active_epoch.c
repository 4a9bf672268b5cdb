/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active_epoch.c - see active_epoch.h. The end of an epoch is piggybacked on its last packet. A
 * target that got no operation gets a packet without records.
 */
#include "rma/origin/active_epoch.h"

#include "base/err.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/outstanding.h"
#include "rma/origin/rdma_op.h"
#include "rma/progress/wait.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

int origin_send_marker(struct win *w, struct rma_target *t)
{
    struct origin_pair *pair = origin_pair_get(w, t);
    if (!pair)
        return MRMA_ERR_NO_MEM;
    const int err = origin_send_open(pair, PKT_F_FENCE, false);
    pair->phase_bytes = 0;
    pair->flushed = pair->written;
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
        struct origin_pair *pair = LIST_ENTRY(node, struct origin_pair, touched);
        if (!err && pair->count)
            err = origin_send_open(pair, 0, false);
        pair->flushed = pair->written;
    }
    return err;
}

bool origin_epoch_lasts(const struct win *w)
{
    return epoch_now(&w->epoch) != EPOCH_NONE || w->origin_side.fence_closing;
}

void origin_set_closing(struct win *w, bool closing)
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

int origin_fence(struct win *w)
{
    if (!w->npackets)
        return MRMA_SUCCESS;
    int err = origin_rdma_await(w, NULL, false);
    if (err)
        return err;
    rma_enter(w->rma);
    err = send_closing(w, send_markers);
    origin_forget_touched(w);
    rma_leave(w->rma);
    return err;
}

int origin_send_phase(struct win *w)
{
    rma_enter(w->rma);
    int err = origin_confirm_puts(w);
    rma_leave(w->rma);
    if (!err) /* counts travel by other ways than the operations that they count */
        err = origin_rdma_await(w, NULL, true);
    if (err)
        return err;
    rma_enter(w->rma);
    err = send_closing(w, send_touched);
    rma_leave(w->rma);
    return err;
}

bool origin_phase_next(struct win *w, struct origin_pair **at, int *rank, uint64_t *bytes)
{
    struct list *touched = &w->origin_side.touched;
    struct list_node *node = *at ? list_next(touched, &(*at)->touched) : list_first(touched);
    while (node && !LIST_ENTRY(node, struct origin_pair, touched)->phase_bytes)
        node = list_next(touched, node);
    if (!node)
        return false;
    struct origin_pair *pair = *at = LIST_ENTRY(node, struct origin_pair, touched);
    *rank = pair->target->rank;
    *bytes = pair->phase_bytes;
    pair->phase_bytes = 0;
    return true;
}

void origin_phase_end(struct win *w)
{
    origin_forget_touched(w);
}

int origin_complete_begin(struct win *w)
{
    return origin_rdma_await(w, NULL, false);
}

int origin_complete(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    struct origin_pair *pair = origin_pair_get(w, t);
    const int err = pair ? origin_send_open(pair, PKT_F_COMPLETE, false) : MRMA_ERR_NO_MEM;
    if (pair)
        pair->flushed = pair->written;
    rma_leave(w->rma);
    return err;
}

static bool nothing_outstanding(void *arg)
{
    return origin_nothing_due(arg);
}

int origin_complete_end(struct win *w, int err)
{
    rma_enter(w->rma);
    origin_forget_touched(w);
    rma_leave(w->rma);
    return err ? err : origin_wait(w, nothing_outstanding, w, "replies", -1);
}

bool origin_target_is_open(const struct rma_target *t)
{
    return t->pair && origin_epoch_is_open(t->pair);
}

int origin_await_target(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    struct origin_pair *pair = origin_pair_get(w, t);
    const int err = pair ? origin_await_open(pair) : MRMA_ERR_NO_MEM;
    rma_leave(w->rma);
    return err;
}
