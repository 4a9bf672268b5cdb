/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * await_open.c - operations that may not leave before their target has begun its part of the epoch:
 * they are deferred, or their calls wait. The head of open_packet.c says why no correct program can
 * be blocked for ever by these waits.
 *
 * Locks: the engine's, held by the caller; waits are without it.
 */

#include "base/err.h"
#include "rma/origin/origin_impl.h"
#include "rma/progress/wait.h"

struct soon {
    struct origin_pair *pair;
    uint64_t until;
};
static bool opened_or_over(void *arg)
{
    const struct soon *s = arg;
    return origin_epoch_is_open(s->pair) || s->pair->win->rma->clock() >= s->until;
}

/* It is worth a short wait: a large transfer that begins now is under way while the caller
 * computes; one that is deferred does not begin before the next call. */
int origin_await_open_briefly(struct origin_pair *pair)
{
    struct win *w = pair->win;
    int err = origin_ask_open(pair);
    if (!err && !pair->awaited && !origin_epoch_is_open(pair)) {
        const uint64_t ns = (uint64_t)(w->rma->conf->tune.defer_wait * 1e9);
        struct soon soon = {pair, w->rma->clock() + ns};
        pair->awaited = true;
        w->origin_side.waits++;
        rma_leave(w->rma);
        err = rma_wait_until(w, &(struct rma_wait){.done = opened_or_over,
                                                   .arg = &soon,
                                                   .locked = true,
                                                   .poll_only = true,
                                                   .what = "the target to open its epoch",
                                                   .rank = pair->target->rank});
        rma_enter(w->rma);
        origin_early_note(pair);
    }
    return err || origin_epoch_is_open(pair) ? err : MRMA_AGAIN;
}

/* epoch_decided is a condition for origin_pair_wait: the epoch is open, or will never be. */
static bool epoch_decided(void *arg)
{
    const struct origin_pair *pair = arg;
    return origin_epoch_is_open(pair) || pair->refused;
}

int origin_await_open(struct origin_pair *pair)
{
    int err = MRMA_SUCCESS;
    if (pair->count || pair->lock == ORIGIN_LOCK_DUE)
        err = origin_send_open(pair, 0, true);
    if (!err)
        err = origin_ask_open(pair);
    if (!err)
        err = origin_wait_opened(pair, epoch_decided);
    return err || origin_epoch_is_open(pair) ? err : MRMA_ERR_RMA_SYNC;
}

bool origin_may_defer(const struct origin_pair *pair, const struct rma_req *req)
{
    return !pair->win->watched && !req;
}

/* Only puts may overtake what is in the open packet, since accumulates are ordered. The operation
 * itself asks for the lock (origin_carry_lock). */
int origin_await_stream(struct origin_pair *pair, size_t packets, bool overtakes)
{
    int err = MRMA_SUCCESS;
    if (packets > origin_most_early(pair))
        pair->needs_open = true;
    else
        pair->packets += (uint32_t)packets;
    if (pair->count && !overtakes)
        err = origin_send_open(pair, 0, true);
    if (err || origin_epoch_is_open(pair))
        return err;
    if (!origin_may_send_early(pair, packets))
        return origin_await_open(pair);
    origin_early_leave(pair, origin_epoch_kind(pair), (unsigned)packets);
    return MRMA_SUCCESS;
}

int origin_rdma_open(struct origin_pair *pair, const struct rma_req *req)
{
    origin_pair_touch(pair);
    const int err = origin_pair_await_unlocked(pair);
    pair->needs_open = true;
    if (err || origin_epoch_is_open(pair))
        return err;
    return origin_may_defer(pair, req) ? origin_await_open_briefly(pair) : origin_await_open(pair);
}
