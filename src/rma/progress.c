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

enum { LOOKS_SERVED = 16 };

static bool poll_locked(struct rma *r)
{
    bool moved = ch3_poll(r->ch3);
    if (unlikely(!list_empty(&r->lock_wins)))
        moved |= lock_queue_poll_all(r);
    return moved;
}

/* Only whether polls changes counts: threads may lose each other's. */
static bool try_enter(struct rma *r)
{
    atomic_store_explicit(&r->polls, atomic_load_explicit(&r->polls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return !atomic_load_explicit(&r->concurrent, memory_order_relaxed) || elock_try(&r->lock);
}

static void leave(struct rma *r, bool moved)
{
    rma_leave(r);
    if (moved && r->threads)
        event_notify(r->env->event);
}

bool rma_poll(struct rma *r)
{
    if (!try_enter(r))
        return false;
    const bool moved = poll_locked(r);
    leave(r, moved);
    return moved;
}

bool rma_poll_for(struct rma *r, bool (*done)(void *), void *arg, bool *is_done)
{
    if (!try_enter(r))
        return false;
    const bool moved = poll_locked(r);
    *is_done = done(arg);
    leave(r, moved);
    return true;
}

bool rma_poll_surely(struct rma *r, bool *block)
{
    rma_enter(r);
    bool moved = poll_locked(r);
    if (block)
        *block = !moved && ch3_wait_begin(r->ch3);
    leave(r, moved);
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

/* What comes later is not awaited: others may send without end. */
void rma_drain(struct rma *r)
{
    for (unsigned polls = 0; polls < CH3_DRAIN_POLLS && rma_pending(r);)
        if (rma_poll(r))
            polls++;
        else
            rma_yield(r); /* another thread is at it */
}

bool rma_pending(struct rma *r)
{
    return ch3_pending(r->ch3);
}

void rma_polling_begin(struct rma *r)
{
    rma_tell_polled(r);
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

static bool start_agent(struct rma *r)
{
    if (!r->env->agent_start(r->env->ctx))
        return true;
    atomic_store_explicit(&r->unattended, true, memory_order_relaxed);
    return false;
}

/* Who has served something looks by itself for a while, which costs less than to be told. */
void rma_look(const struct win *w)
{
    struct rma *r = w->rma;
    if (unlikely(rma_agent_due(w)) && !start_agent(r))
        return;
    if (!r->looks_left && atomic_load_explicit(r->env->look, memory_order_relaxed)) {
        atomic_store_explicit(r->env->look, 0, memory_order_relaxed);
        r->looks_left = LOOKS_SERVED;
    }
    if (rma_poll(r))
        r->looks_left = LOOKS_SERVED;
    else
        r->looks_left -= r->looks_left != 0;
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
    if (!r->agent && !start_agent(r))
        return false;
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
