/*
 * progress.h - moving packets on, from any thread. See progress.c.
 */
#ifndef MRMA_RMA_PROGRESS_H
#define MRMA_RMA_PROGRESS_H

#include <stdbool.h>

#include "rma/win.h"

/* One round under a try-lock; whether anything moved. Without the engine's lock. */
bool rma_poll(struct rma *r);
/* The same, and *is_done is what done says under the lock. False: it was not to be had. */
bool rma_poll_for(struct rma *r, bool (*done)(void *), void *arg, bool *is_done);
/* The same as the first, waiting for the lock: the last look before sleeping, which may not rely
 * on a round of somebody else that began earlier. *block (or NULL): nothing moved, and
 * one may block on the channels' descriptors now. */
bool rma_poll_surely(struct rma *r, bool *block);
/* Poll until everything that was published before the call has been delivered (fence and wait of
 * kernel-assisted windows). Without the lock. */
void rma_drain(struct rma *r);
/* Is a packet waiting to be polled, of a channel that has no descriptor? No lock needed. */
bool rma_pending(struct rma *r);

/* Do others want an agent here that may be started, and is not? */
static inline bool rma_agent_due(const struct win *w)
{
    const struct rma *r = w->rma;
    const _Atomic uint32_t *wanted = r->env->agent_wanted;
    return !r->agent && w->attended && wanted && atomic_load_explicit(wanted, memory_order_relaxed) &&
           !atomic_load_explicit(&r->unattended, memory_order_relaxed);
}

/* Others may never see this thread poll, if it is elsewhere whenever they look. Only whether it changes counts:
 * threads may lose each other's. */
static inline void rma_tell_polled(const struct rma *r)
{
    _Atomic uint32_t *polled = r->env->polled;
    if (polled)
        atomic_store_explicit(polled, atomic_load_explicit(polled, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* This thread polls: senders need not wake the agent. Nestable. */
void rma_polling_begin(struct rma *r);
void rma_polling_end(struct rma *r);

/* An application thread comes by that need not wait, in a passive target call on a window whose memory
 * others reach by the kernel: tell them, so that they may hand over what they wait for (handover.h),
 * and serve what they have. A few instructions where nobody has. */
void rma_look(const struct win *w);
static inline void rma_pass_by(const struct win *w)
{
    struct rma *r = w->rma;
    if (!w->ring_takes || !r->env->polled || r->threads)
        return;
    rma_tell_polled(r);
    if (unlikely(r->looks_left || atomic_load_explicit(r->env->look, memory_order_relaxed) || rma_agent_due(w)))
        rma_look(w);
}

/* For ch3: packets are queued that nobody but a poller pushes; wakes the agent. */
void rma_queued(void *rma);

#endif
