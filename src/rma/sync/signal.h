/*
 * signal.h - signals through shared memory: posts, and waking those that sleep.
 *
 *   target (post)                         origin (first access)
 *   loads and stores of window memory
 *   A: slot.posts = n (release)           B: slot.posts >= n (acquire)
 *                                         accesses come after them
 *
 * A pairs with B (path/access.c). The ends of access epochs go the other way (path/stage.c): what
 * the origin stored before is seen by the target after. The sleep protocol is that of event.h: a
 * fence after A (or the light form), then a look for sleepers.
 */
#ifndef MRMA_RMA_SYNC_SIGNAL_H
#define MRMA_RMA_SYNC_SIGNAL_H

#include "rma/win/win.h"

/* An exposure epoch for the direct target t has begun. signal_wake follows. */
static inline void signal_post(struct rma_target *t)
{
    atomic_store_explicit(&t->out->posts, ++t->sync.posts_sent, memory_order_release); /* A */
}

/* After signals were stored: wake those of the direct targets that sleep. */
static inline void signal_wake(const struct win *w, const int *ranks, int n)
{
    for (int i = 0; i < n; i++) {
        const struct rma_target *t = win_peek(w, ranks[i]);
        if (t->direct && !t->peer->self)
            event_notify(&t->peer->attention->threads);
    }
}

#endif
