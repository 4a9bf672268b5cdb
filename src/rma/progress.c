/*
 * progress.c - rounds of progress, by application threads inside the library's
 * calls and by the agent (agent.c).
 *
 * One thread at a time polls (the engine's lock, tried); who does not get it
 * knows that somebody else makes progress. Application threads that sleep for
 * something that the agent brings about are woken by it: it notifies this
 * process's event whenever anything moved.
 */
#include "rma/progress.h"

#include "rma/lock_queue.h"
#include "rma/wait.h"
#include "rma/win.h"

static bool poll_locked(struct rma *r)
{
    bool moved = ch3_poll(r->ch3);
    if (unlikely(!list_empty(&r->lock_wins)))
        moved |= lock_queue_poll_all(r);
    return moved;
}

bool rma_poll(struct rma *r)
{
    bool concurrent = atomic_load_explicit(&r->concurrent, memory_order_relaxed);
    /* Only whether it changes counts: threads may lose each other's. */
    atomic_store_explicit(&r->polls, atomic_load_explicit(&r->polls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (concurrent && !elock_try(&r->lock))
        return false;
    bool moved = poll_locked(r);
    if (concurrent)
        elock_unlock(&r->lock);
    if (moved && r->threads)
        event_notify(r->env->event);
    return moved;
}

bool rma_poll_surely(struct rma *r, bool *block)
{
    rma_enter(r);
    bool moved = poll_locked(r);
    if (block)
        *block = !moved && ch3_wait_begin(r->ch3);
    rma_leave(r);
    if (moved && r->threads)
        event_notify(r->env->event);
    return moved;
}

bool rma_progress(struct rma *r)
{
    return r->packets && rma_poll(r);
}

void rma_progress_requests(struct rma *r)
{
    (void)rma_progress(r);
    (void)rma_look_around(r, NULL); /* the requests say it themselves */
}

void rma_drain(struct rma *r)
{
    while (rma_pending(r))
        if (!rma_poll(r))
            rma_yield(r); /* another thread is at it */
}

bool rma_pending(struct rma *r)
{
    return ch3_pending(r->ch3);
}

void rma_polling_begin(struct rma *r)
{
    atomic_fetch_add_explicit(r->env->polling, 1, memory_order_seq_cst);
}

void rma_polling_end(struct rma *r)
{
    atomic_fetch_sub_explicit(r->env->polling, 1, memory_order_seq_cst);
    if (r->agent) {
        atomic_thread_fence(memory_order_seq_cst); /* see the diagram in wait.c */
        /* What came through a descriptor since the last poll the agent finds by itself, at
         * the end of its nap at the latest (agent.c): ringing for it would cost more than
         * a round trip, for descriptors that are often readable without need. */
        if (ch3_pending_silent(r->ch3))
            (void)rma_poll(r); /* costs less than the agent does; what comes from now on wakes it */
        if (ch3_pending_silent(r->ch3) || ch3_unsent(r->ch3) ||
            atomic_load_explicit(&r->nlock_wins, memory_order_relaxed))
            event_wake(r->env->agent_event);
    }
}

/* The agent comes first: who sees that this process polls relies on it. If it cannot be had, the
 * reason was logged, and nothing is served. Nor where nobody has passive target operations: an
 * agent that exists makes every poll take the engine's lock. */
bool rma_attend_begin(struct rma *r)
{
    const _Atomic uint32_t *wanted = r->env->agent_wanted;
    if (!atomic_load_explicit(&r->nattended, memory_order_relaxed) ||
        (wanted && !atomic_load_explicit(wanted, memory_order_relaxed)) ||
        atomic_load_explicit(&r->unattended, memory_order_relaxed))
        return false;
    if (!r->agent && r->env->agent_start(r->env->ctx)) {
        atomic_store_explicit(&r->unattended, true, memory_order_relaxed);
        return false;
    }
    rma_polling_begin(r);
    return true;
}

void rma_attend_end(struct rma *r)
{
    rma_polling_end(r);
}

/* Who polls now pushes what is queued, or wakes the agent when it leaves. */
void rma_queued(void *rma)
{
    struct rma *r = rma;
    if (!r->agent)
        return;
    atomic_thread_fence(memory_order_seq_cst); /* see the diagram in wait.c */
    if (!atomic_load_explicit(r->env->polling, memory_order_relaxed))
        event_notify(r->env->agent_event);
}
