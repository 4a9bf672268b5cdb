/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * await_open.c - see await_open.h. The head of open_packet.c says why no correct program can be
 * blocked for ever by these waits.
 *
 * Locks: the engine's, held by the caller; waits are without it.
 */
#include "rma/origin/await_open.h"

#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/pair_epoch.h"
#include "rma/progress/wait.h"

struct soon {
    struct pkt_target *pt;
    uint64_t until;
};
static bool opened_or_over(void *arg)
{
    const struct soon *s = arg;
    return pkt_epoch_is_open(s->pt) || s->pt->win->rma->clock() >= s->until;
}

/* It is worth a short wait: a large transfer that begins now is under way while the caller
 * computes; one that is deferred does not begin before the next call. */
int pkt_open_soon(struct pkt_target *pt)
{
    struct win *w = pt->win;
    int err = pkt_ask_open(pt);
    if (!err && !pt->awaited && !pkt_epoch_is_open(pt)) {
        const uint64_t ns = (uint64_t)(w->rma->conf->tune.defer_wait * 1e9);
        struct soon soon = {pt, w->rma->clock() + ns};
        pt->awaited = true;
        w->origin_side.waits++;
        rma_leave(w->rma);
        err = rma_wait_until(w, &(struct rma_wait){.done = opened_or_over,
                                                   .arg = &soon,
                                                   .locked = true,
                                                   .poll_only = true,
                                                   .what = "the target to open its epoch",
                                                   .rank = pt->target->rank});
        rma_enter(w->rma);
        early_note(pt);
    }
    return err || pkt_epoch_is_open(pt) ? err : MRMA_AGAIN;
}

/* epoch_decided is a condition for pkt_wait: the epoch is open, or will never be. */
static bool epoch_decided(void *arg)
{
    const struct pkt_target *pt = arg;
    return pkt_epoch_is_open(pt) || pt->refused;
}

int pkt_await_open(struct pkt_target *pt)
{
    int err = MRMA_SUCCESS;
    if (pt->count || pt->lock == PKT_LOCK_DUE)
        err = pkt_send_open(pt, 0, true);
    if (!err)
        err = pkt_ask_open(pt);
    if (!err)
        err = pkt_wait_opened(pt, epoch_decided);
    return err || pkt_epoch_is_open(pt) ? err : MRMA_ERR_RMA_SYNC;
}

bool pkt_may_defer(const struct pkt_target *pt, const struct rma_req *req)
{
    return !pt->win->watched && !req;
}

/* Only puts may overtake what is in the open packet, since accumulates are ordered. The operation
 * itself asks for the lock (pkt_take_lock). */
int pkt_await_stream(struct pkt_target *pt, size_t packets, bool overtakes)
{
    int err = MRMA_SUCCESS;
    if (packets > pkt_most_early(pt))
        pt->needs_open = true;
    else
        pt->packets += (uint32_t)packets;
    if (pt->count && !overtakes)
        err = pkt_send_open(pt, 0, true);
    if (err || pkt_epoch_is_open(pt))
        return err;
    if (!pkt_may_send_early(pt, packets))
        return pkt_await_open(pt);
    early_leave(pt, pkt_epoch_kind(pt), (unsigned)packets);
    return MRMA_SUCCESS;
}

bool issue_is_open(const struct rma_target *t)
{
    return t->pkt && pkt_epoch_is_open(t->pkt);
}

int issue_await_open(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    struct pkt_target *pt = pkt_target_get(w, t);
    const int err = pt ? pkt_await_open(pt) : MRMA_ERR_NO_MEM;
    rma_leave(w->rma);
    return err;
}
