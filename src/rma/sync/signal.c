/*
 * signal.c - posts to processes that synchronize through shared memory, and waking those that
 * sleep.
 *
 *   target (post)                         origin (first access)
 *   loads and stores of window memory
 *   A: slot.posts = n (release)           B: slot.posts >= n (acquire)
 *                                         accesses come after them
 *
 * A pairs with B; completes go the other way (stage.c): what the origin stored before
 * is seen by the target after. The sleep protocol is event.h's: a fence after A (or the
 * light form), then look for sleepers.
 */
#include "rma/sync/signal.h"

#include "rma/win/win.h"

void signal_post(struct rma_target *t)
{
    /* Pairs with target_posted. */
    atomic_store_explicit(&t->out->posts, ++t->posts_sent, memory_order_release);
}

void signal_wake(struct win *w, const int *ranks, int n)
{
    for (int i = 0; i < n; i++) {
        struct rma_target *t = win_peek(w, ranks[i]);
        if (t->direct && !t->peer->self)
            event_notify(&t->peer->attention->threads);
    }
}
