/*
 * last_barrier.c - see last_barrier.h.
 *
 * Dissemination: in round k process i signals i + 2^k and waits for i - 2^k. Two
 * processes are connected by at most one round of each direction, so one counter a
 * pair is enough. Who waits for a process in a round is whom that process
 * signals in it: when all rounds are done nobody will write to this process's slots.
 *
 *   signaller                              waiter
 *   last_err = error (relaxed)
 *   A: last = seq (release)                B: last >= seq (acquire), last_err
 *
 * A process that has lost a peer goes on to signal, its error with it, and waits no
 * more; so all come to the end, in bounded time, with an error.
 *
 * Before the first signal all errors that may be on their way here are taken in, for
 * their senders may leave the barrier before others' packets come. Packets that nobody
 * awaits (a post to an origin that has already completed) may come later still, from
 * processes that are no partners in it: the handlers know them by the window's
 * generation. Locks: the engine's, around packets; waits are without it.
 */
#include "rma/sync/last_barrier.h"

#include "rma/origin/issue.h"
#include "rma/progress/wait.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

static const char what[] = "all processes to free the window";

static int tell(struct win *w, struct rma_target *to, uint32_t seq, int failed)
{
    int err = MRMA_SUCCESS;
    if (to->direct) {
        atomic_store_explicit(&to->out->last_err, failed, memory_order_relaxed);
        atomic_store_explicit(&to->out->last, seq, memory_order_release); /* A */
        event_notify(&to->peer->attention->threads);
        return err;
    }
    rma_enter(w->rma);
    err = win_send_header(w, to, PKT_SYNC, seq, 0, (uint32_t)failed, 0);
    rma_leave(w->rma);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(w, to) : err;
}

bool last_barrier_got(struct rma_target *t, uint32_t seq, uint32_t err)
{
    struct win_signals *in = t->in;
    if (t->direct || seq != atomic_load_explicit(&in->last, memory_order_relaxed) + 1)
        return false;
    const bool known = err < MRMA_ERR_LAST && err != MRMA_AGAIN;
    const int failed = known ? (int)err : MRMA_ERR_INTERN;
    atomic_store_explicit(&in->last_err, failed, memory_order_relaxed);
    atomic_store_explicit(&in->last, seq, memory_order_release); /* A */
    return true;
}

struct entered_arg {
    const struct win_signals *from;
    uint32_t seq;
};

static bool entered(void *arg)
{
    struct entered_arg *a = arg;
    return seq_reached(atomic_load_explicit(&a->from->last, memory_order_acquire), a->seq); /* B */
}

static int await(struct win *w, const struct rma_target *from, uint32_t seq)
{
    struct entered_arg arg = {from->in, seq};
    RMA_SPIN_UNTIL(w->rma, entered(&arg));
    int err = entered(&arg) ? MRMA_SUCCESS
                            : rma_wait_until(w, &(struct rma_wait){.done = entered,
                                                                   .arg = &arg,
                                                                   .what = what,
                                                                   .rank = from->rank,
                                                                   .phase = RMA_WAIT_SYNC});
    return err ? err : atomic_load_explicit(&from->in->last_err, memory_order_relaxed);
}

static bool all_left(void *arg)
{
    return issue_all_left(arg);
}

static int wait_left(struct win *w)
{
    if (!w->npackets)
        return MRMA_SUCCESS;
    return rma_wait_until(
        w, &(struct rma_wait){
               .done = all_left, .arg = w, .locked = true, .what = "room to send", .rank = -1});
}

/* Everybody to be met, before anybody is told: the node's records go when their owner
 * has left, which may be before this process does. From here on no targets are made. */
static int know_partners(struct win *w)
{
    const int64_t n = w->nproc;
    struct rma_target *t;
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    for (int64_t step = 1; !err && step < n; step <<= 1) {
        err = win_target_locked(w, (int)((w->rank + step) % n), &t);
        if (!err)
            err = win_target_locked(w, (int)((w->rank - step + n) % n), &t);
    }
    w->records.all = NULL;
    rma_leave(w->rma);
    return err;
}

int last_barrier(struct win *w)
{
    const int64_t n = w->nproc;
    const uint32_t seq = ++w->last_seq;
    int err = issue_confirm(w);
    const int known = know_partners(w);
    if (!err)
        err = known;
    for (int64_t step = 1; step < n; step <<= 1) {
        struct rma_target *to = win_peek(w, (int)((w->rank + step) % n));
        const struct rma_target *from = win_peek(w, (int)((w->rank - step + n) % n));
        int failed = to->peer ? tell(w, to, seq, err) : MRMA_SUCCESS;
        if (!err && !failed)
            failed = await(w, from, seq);
        if (!err)
            err = failed;
    }
    const int left = wait_left(w);
    return err ? err : left;
}
