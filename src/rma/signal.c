/*
 * signal.c - stores to slots, and the dissemination barrier.
 *
 *   origin (complete)                     target (wait)
 *   put: stores to window memory
 *   A: slot.completes = n (release)       B: slot.completes >= n (acquire)
 *                                         load window memory: sees the puts
 *
 * A pairs with B; posts likewise in the other direction (the target's loads and
 * stores before MPI_Win_post happen before the origin's accesses). The sleep
 * protocol is event.h's: fence after A, then look for sleepers.
 *
 * Barrier: in round k process i signals i + 2^k and waits for i - 2^k; every
 * barrier has its own number, so that one counter per peer suffices: a process
 * that is ahead has a larger number, which includes all smaller ones. Two peers are connected by at most one round (2^k < n).
 */
#include "rma/signal.h"

#include "base/err.h"
#include "rma/wait.h"
#include "rma/win.h"

void signal_post(struct rma_target *t)
{
    atomic_store_explicit(&t->out->posts, ++t->posts_sent, memory_order_release); /* pairs with target_posted */
}

void signal_complete(struct rma_target *t)
{
    atomic_store_explicit(&t->out->completes, ++t->completes_sent, memory_order_release); /* pairs with pscw.c */
}

void signal_wake(struct win *w, const int *ranks, int n)
{
    for (int i = 0; i < n; i++) {
        struct rma_target *t = &w->targets[ranks[i]];
        if (t->direct && !t->peer->self)
            event_notify(t->peer->event);
    }
}

struct barrier_arg {
    const struct win_slot *slot;
    uint32_t seq;
};

static bool barrier_reached(void *arg)
{
    struct barrier_arg *a = arg;
    return seq_reached(atomic_load_explicit(&a->slot->barrier, memory_order_acquire), a->seq);
}

int signal_barrier(struct win *w)
{
    uint32_t seq = ++w->barrier_seq;
    const int n = w->ndirect, me = w->direct_me;
    for (int step = 1; step < n; step <<= 1) {
        struct rma_target *to = &w->targets[w->direct[(me + step) % n]];
        struct rma_target *from = &w->targets[w->direct[(me - step + n) % n]];
        atomic_store_explicit(&to->out->barrier, seq, memory_order_release); /* pairs with barrier_reached */
        event_notify(to->peer->event);
        struct barrier_arg arg = {from->in, seq};
        if (barrier_reached(&arg))
            continue;
        int err = rma_wait_until(w, &(struct rma_wait){.done = barrier_reached, .arg = &arg,
                                                       .what = "the window's processes on this node to synchronize",
                                                       .rank = w->direct[(me - step + n) % n]});
        if (err)
            return err;
    }
    return MRMA_SUCCESS;
}
