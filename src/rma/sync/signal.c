/*
 * signal.c - stores to slots, and the barriers: dissemination, or one counter.
 *
 *   target (post)                         origin (first access)
 *   loads and stores of window memory
 *   A: slot.posts = n (release)           B: slot.posts >= n (acquire)
 *                                         accesses come after them
 *
 * A pairs with B; completes go the other way (stage.c): what the origin stored before
 * is seen by the target after. The sleep protocol is event.h's: a fence after A (or the
 * light form), then look for sleepers.
 *
 * Barrier: in round k process i signals i + 2^k and waits for i - 2^k; every
 * barrier has its own number, so that one counter per peer suffices: a process
 * that is ahead has a larger number, which includes all smaller ones. Two peers
 * are connected by at most one round (2^k < n).
 *
 * On an oversubscribed node a round costs a change of processes where its partner does not
 * run, so there all count in one word and the last releases all: each process
 * waits once. Arrivals (acq_rel) form one chain that ends at the last, whose
 * release all others acquire: what each did before is visible to all after.
 */
#include "rma/sync/signal.h"

#include "base/err.h"
#include "rma/progress/wait.h"
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

static const char what[] = "the window's processes on this node to synchronize";

struct barrier_arg {
    const struct win_signals *from;
    uint32_t seq;
};

static bool barrier_reached(void *arg)
{
    struct barrier_arg *a = arg;
    return seq_reached(atomic_load_explicit(&a->from->barrier, memory_order_acquire), a->seq);
}

static int disseminate(struct win *w, uint32_t seq)
{
    const int n = w->ndirect, me = w->direct_me;
    for (int step = 1; step < n; step <<= 1) {
        struct rma_target *to = win_peek(w, w->direct[(me + step) % n]);
        struct rma_target *from = win_peek(w, w->direct[(me - step + n) % n]);
        atomic_store_explicit(&to->out->barrier, seq,
                              memory_order_release); /* pairs with barrier_reached */
        event_notify(&to->peer->attention->threads);
        struct barrier_arg arg = {from->in, seq};
        RMA_SPIN_UNTIL(w->rma, barrier_reached(&arg));
        if (barrier_reached(&arg))
            continue;
        int err = rma_wait_until(w, &(struct rma_wait){.done = barrier_reached,
                                                       .arg = &arg,
                                                       .what = what,
                                                       .rank = w->direct[(me - step + n) % n],
                                                       .phase = RMA_WAIT_BARRIER});
        if (err)
            return err;
    }
    return MRMA_SUCCESS;
}

struct gather_arg {
    const struct win_ctl *lead;
    uint32_t seq;
};

static bool released(void *arg)
{
    struct gather_arg *a = arg;
    return seq_reached(atomic_load_explicit(&a->lead->released, memory_order_acquire), a->seq);
}

/* A change of processes costs more than these looks, so where all that are missing may be
 * running on the other processors, their arrival is awaited in place. */
static bool released_soon(const struct win *w, struct gather_arg *arg)
{
    enum { LOOKS = 48 };
    for (int i = 0; i < LOOKS && !w->rma->env->idle; i++) {
        if (released(arg))
            return true;
        const uint32_t arrived = atomic_load_explicit(&arg->lead->arrived, memory_order_relaxed);
        if (arg->seq * (uint32_t)w->ndirect - arrived >= w->cpus)
            break;
        cpu_relax();
    }
    return released(arg);
}

static int gather(struct win *w, uint32_t seq)
{
    struct win_ctl *lead = w->lead;
    const uint32_t n = (uint32_t)w->ndirect;
    struct gather_arg arg = {lead, seq};
    if (atomic_fetch_add_explicit(&lead->arrived, 1, memory_order_acq_rel) + 1 == seq * n) {
        atomic_store_explicit(&lead->released, seq, memory_order_release); /* pairs with released */
        signal_wake(w, w->direct, w->ndirect);
        return MRMA_SUCCESS;
    }
    if (released_soon(w, &arg))
        return MRMA_SUCCESS;
    return rma_wait_until(
        w, &(struct rma_wait){
               .done = released, .arg = &arg, .rank = -1, .what = what, .phase = RMA_WAIT_BARRIER});
}

/* The next barrier's number; the node's reports name those that have not taken it. */
static uint32_t enter_barrier(struct win *w)
{
    const uint32_t seq = ++w->barrier_seq;
    if (unlikely(w->rma->conf->hang_report > 0))
        atomic_store_explicit(&w->ctl->entered, seq, memory_order_relaxed);
    return seq;
}

int signal_barrier(struct win *w)
{
    const uint32_t seq = enter_barrier(w);
    if (w->ndirect == 1)
        return MRMA_SUCCESS;
    return w->oversubscribed ? gather(w, seq) : disseminate(w, seq);
}
