/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost.c - see lost.h. On the node a word in every control block tells the news; a PKT_ERROR takes
 * it over the network. Targets of partners that are not made yet are made; a partner that cannot be
 * made or reached is left out, since the news has other ways. Locks: the engine's.
 *
 * A process that hears of a loss stores it into the control blocks of the node:
 *
 *   one that has heard                        owner of the block
 *   ctl.lost = generation, rank (relaxed)     reads ctl.lost in a long wait (relaxed)
 *   event_notify                              generation not its window's: no news
 *
 * The word publishes nothing else, so it needs no order; the event count wakes sleepers. The store
 * may come when the owner has left the window and its block serves a later window, or is being
 * cleared for one. That does no harm: such memory is never anything but a control block, the word
 * is one aligned store of 64 bits, and no two windows of a process have the same generation. Either
 * the clearing wins, and the word is gone; or the store wins, and its generation is not that of the
 * later window.
 */
#include "rma/progress/lost.h"

#include "base/err.h"
#include "rma/progress/hooks.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

/* uid_of returns the number of the process of rank; 0: it is not known here. */
static uint64_t uid_of(const struct win *w, int rank)
{
    const struct rma_target *t = win_peek(w, rank);
    return t->peer ? t->peer->uid : records_are_there(w) ? record_proc(w, rank)->uid : 0;
}

/* lose_in_others tells the other windows that have the lost process. What this process waits for
 * there may never come, since other processes may have ended after they heard of the loss in the
 * first window. It loops over all ranks, once. */
static void lose_in_others(const struct win *w, int rank)
{
    const struct rma *r = w->rma;
    const uint64_t uid = uid_of(w, rank);
    for (uint32_t i = 0; uid && i < r->nwins; i++) {
        struct win *other = r->wins[i];
        if (!other || other == w || !other->memory_ranks) /* not made yet: its creation finds out */
            continue;
        for (int k = 0; k < other->nproc; k++)
            if (uid_of(other, k) == uid)
                win_lost(other, k);
    }
}

/* is_known returns whether the loss of t is known. For a target that was never used, and for this
 * process itself, which others may have given up, only the first loss of the window tells that. */
static bool is_known(const struct win *w, const struct rma_target *t)
{
    return t->peer && !t->peer->self ? t->lost : win_has_lost(w);
}

void win_lost(struct win *w, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    if (is_known(w, t))
        return;
    if (!win_has_lost(w))
        atomic_store_explicit(&w->lost, (uint32_t)rank + 1, memory_order_relaxed);
    struct rma_target *gone = t->peer && !t->peer->self ? t : NULL;
    if (gone)
        gone->lost = true;
    lose_in_others(w, rank);
    for (int i = 0; i < w->nmemory; i++) {
        t = win_peek(w, w->memory_ranks[i]);
        target_sync(t)->tell_lost(w, t, rank);
    }
    for (int64_t step = 1; w->npackets && step < w->nproc; step <<= 1) {
        const int partner = (int)((w->rank + step) % w->nproc);
        if (partner != rank && win_target_locked(w, partner, &t) == MRMA_SUCCESS)
            target_sync(t)->tell_lost(w, t, rank);
    }
    /* those who wait for this process must hear of it even if its partners are lost, too */
    LIST_EACH (node, &w->remote) {
        t = LIST_ENTRY(node, struct rma_target, remote_link);
        if (t->rank != rank)
            target_sync(t)->tell_lost(w, t, rank);
    }
    if (gone) /* if it lives and was given up, it has been told, too */
        w->rma->progress.hooks->lose(w, gone);
}

int win_who_is_lost(struct win *w)
{
    const uint64_t reported = atomic_load_explicit(&w->ctl->lost, memory_order_relaxed);
    const uint32_t rank = (uint32_t)reported - 1;
    if (reported >> 32 == w->index_gen && rank < (uint32_t)w->nproc)
        win_lost(w, (int)rank);
    return (int)atomic_load_explicit(&w->lost, memory_order_relaxed) - 1;
}

int win_lost_error(const struct win *w)
{
    const int rank = (int)atomic_load_explicit(&w->lost, memory_order_relaxed) - 1;
    return rank < 0 ? MRMA_SUCCESS
                    : log_fail(w->rma->log, MRMA_ERR_PROC_FAILED, "rank %d of window %u is lost",
                               rank, w->index);
}

void win_lost_got(struct win *w, const struct pkt_hdr *hdr)
{
    if (hdr->count < (uint32_t)w->nproc && hdr->count != (uint32_t)w->rank)
        win_lost(w, (int)hdr->count);
}
