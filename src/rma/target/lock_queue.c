/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_queue.c - the target's side of locks that packets ask for.
 *
 * The request takes a ticket of the same lock word that memory peers use and waits in
 * win->target_side.lockq; every thread that polls looks whether the request's turn has come.
 * Tickets are taken in the order of arrival, so the head of win->target_side.lockq is always the
 * first whose turn can come. Requests without a ticket (those of MPI_Win_lock_all, and shared ones
 * of an origin that holds another lock) are counted at once and enter, from anywhere in the queue,
 * when the word is open to them (target_lock.h). A memory peer that moves the lock word must know
 * that packets wait: the target sets ctl->packets_wait before it looks at the word again.
 *
 *   packet request (target)               release by a memory peer
 *   packets_wait = 1 (seq_cst)            release the word (seq_cst)
 *   look at the word again (seq_cst)      packets_wait (seq_cst)? wake the target and its agent
 *
 * In the single order of these four, either the target sees the release or the releaser sees the
 * flag.
 */
#include "rma/target/target.h"

#include "base/err.h"
#include "rma/progress/progress.h"
#include "rma/traced/traced_path.h"
#include "rma/win/bad_packet.h"
#include "rma/win/sync_ops.h"
#include "rma/win/target_lock.h"

static struct rma_target *self(struct win *w)
{
    return win_peek(w, w->rank);
}

/* try_enter takes the lock for po if its turn has come and no holder without a ticket is in the
 * way. It wakes requests that may enter with it, and notes if po has stepped back for others.
 * False: po has to wait. */
static bool try_enter(struct pkt_origin *po)
{
    struct win *w = po->win;
    if (po->all)
        return lockword_open_to_all(&w->ctl->lock);
    if (!po->served) {
        po->served = lockword_enter(&w->ctl->lock, po->ticket, po->exclusive);
        if (po->served && !po->exclusive)
            lock_notify(self(w));
    }
    return po->served && (!po->exclusive || lock_try_pass(w, self(w), &po->yielded));
}

static void enqueue(struct pkt_origin *po)
{
    struct win *w = po->win;
    po->lock = LOCKQ_WAITING;
    if (list_empty(&w->target_side.lockq)) {
        list_push_back(&w->rma->lock_wins, &w->target_side.lockq_link);
        atomic_fetch_add_explicit(&w->rma->nlock_wins, 1, memory_order_relaxed);
        atomic_store_explicit(&w->ctl->packets_wait, 1, memory_order_seq_cst); /* see the diagram */
    }
    list_push_back(&w->target_side.lockq, &po->lockq_link);
    atomic_fetch_add_explicit(&w->rma->stats.lock_waits, 1, memory_order_relaxed);
    win_event(w, po->origin->rank, TRACE_LOCK_QUEUE, ++w->target_side.nlockq);
}

static void dequeue(struct pkt_origin *po)
{
    struct win *w = po->win;
    list_remove(&po->lockq_link);
    po->lock = LOCKQ_HELD;
    win_event(w, po->origin->rank, TRACE_LOCK_GRANT, --w->target_side.nlockq);
    if (list_empty(&w->target_side.lockq)) {
        list_remove(&w->target_side.lockq_link);
        atomic_fetch_sub_explicit(&w->rma->nlock_wins, 1, memory_order_relaxed);
        atomic_store_explicit(&w->ctl->packets_wait, 0, memory_order_relaxed);
    }
}

/* enter_next lets one request in: any request without a ticket, or the first of those with one.
 * NULL: none can enter. */
static struct pkt_origin *enter_next(struct win *w)
{
    bool ticket = false;
    LIST_EACH (node, &w->target_side.lockq) {
        struct pkt_origin *po = LIST_ENTRY(node, struct pkt_origin, lockq_link);
        if ((po->all || !ticket) && try_enter(po))
            return po;
        ticket |= !po->all;
    }
    return NULL;
}

bool lock_queue_request(struct pkt_origin *po, bool exclusive, bool all)
{
    struct win *w = po->win;
    po->exclusive = exclusive;
    po->all = all;
    po->yielded = false;
    if (all)
        lock_count(self(w));
    else
        po->ticket = lockword_take(&w->ctl->lock, exclusive, &po->served);
    if (list_empty(&w->target_side.lockq) && try_enter(po)) {
        po->lock = LOCKQ_HELD;
        return true;
    }
    enqueue(po);
    /* Look once more, now that releasers know. A round of progress looks by itself after all
     * packets (target_grant_locks); but a packet that was parked makes its request in MPI_Win_fence
     * or MPI_Win_post, which no round need follow. */
    if (enter_next(w) != po)
        return false;
    dequeue(po);
    return true;
}

void lock_queue_forget(struct pkt_origin *po)
{
    if (po->lock == LOCKQ_WAITING)
        dequeue(po);
}

void lock_queue_lost(struct win *w, int lost)
{
    LIST_EACH_SAFE (node, &w->target_side.lockq) {
        struct pkt_origin *po = LIST_ENTRY(node, struct pkt_origin, lockq_link);
        if (!po->told_lost)
            target_sync(po->origin)->tell_lost(w, po->origin, lost);
        po->told_lost = true;
    }
}

struct pkt_origin *lock_queue_grant(struct win *w)
{
    struct pkt_origin *po = enter_next(w);
    if (po)
        dequeue(po);
    return po;
}

void lock_queue_release(struct pkt_origin *po)
{
    struct win *w = po->win;
    if (po->lock != LOCKQ_HELD) {
        rma_bad_packet(w->rma, "unlock without lock of rank %d refused in window %u",
                       po->origin->rank, w->index);
        return;
    }
    po->lock = LOCKQ_NONE;
    if (po->all) {
        lock_uncount(self(w));
    } else {
        lockword_release(&w->ctl->lock, po->exclusive);
        event_notify(&w->ctl->lock_event, EVENT_NO_POLL);
    }
    if (!list_empty(&w->target_side.lockq) &&
        rma_has_agent(w->rma)) /* this need not be a round of progress that looks at the queue */
        event_notify(&w->rma->env->polling->agent, w->rma->env->doorbell_fd);
}
