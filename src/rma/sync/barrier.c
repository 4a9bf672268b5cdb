/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - see barrier.h.
 *
 * Dissemination: in step s = 1, 2, 4, ... process i stores the barrier's number in its slot at i +
 * s and waits for that number from i - s.
 *
 *   process i                             process i + s
 *   stores, puts
 *   slot.err = its error (relaxed)        B: slot.entered >= number (acquire)
 *   A: slot.entered = number (release)    reads slot.err; loads see the stores
 *
 * A pairs with B. After the last step each process has heard, directly or through others, from all,
 * and "happens before" is transitive: what any process stored before it entered is visible to each
 * that leaves. One number for all steps is enough because for every pair there is at most one step
 * of each direction that connects the two (s < n). A process that is one barrier further stores a
 * larger number, which includes the smaller ones. The error that it stores then may replace the
 * error of the barrier before; a process that still waits in that one finds the lost peer itself.
 *
 * A process that fails, for example because it has lost a peer, goes on signalling, together with
 * its error, and does not wait any more. So all processes come to the end, in bounded time, with an
 * error. In each step a process waits for exactly one other, which signals it in that step: so when
 * all steps are done nobody will write to this process's words, and MPI_Win_free may free them.
 *
 * On a node with more processes than processors a step costs a switch of processes if the partner
 * does not run. There all processes count in one word, so that each waits once. The last one copies
 * what the others have put into their stages (path/fence_stage.h), and then lets all go:
 *
 *   process i                             the last process
 *   stores, puts
 *   A: arrived += 1 (acq_rel)             C: arrived += 1 (acq_rel) makes number * n
 *   B: open >= number (acquire)           sees the stores, and what is in stages; copies that
 *   loads see stores and copies           D: open = number (release)
 *
 * Each addition reads what the one before it wrote, so all of them are one release sequence: C
 * synchronizes with every A before it. B reads what D wrote or, if this process is late, what the
 * last one of a later barrier wrote, which comes behind D; so B synchronizes with D, and through C
 * with all A. Additions of the next barrier come only when this one is open.
 *
 * Locks: the engine's is held where packets are sent; waits are without it.
 */
#include "rma/sync/barrier.h"

#include "rma/origin/outstanding.h"
#include "rma/path/fence_stage.h"
#include "rma/progress/wait.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

/* The ranks that take part, and the place of this process among them. */
struct members {
    enum barrier_kind kind;
    const int *ranks; /* NULL: all ranks */
    int n, me;
};

static struct rma_target *member(const struct win *w, const struct members *m, int64_t i)
{
    const int at = (int)((i + m->n) % m->n);
    return win_peek(w, m->ranks ? m->ranks[at] : at);
}

bool barrier_got(struct rma_target *t, uint32_t seq, uint32_t err)
{
    struct barrier_signal *in = &t->in->sync.barriers[BARRIER_FREE];
    if (seq != atomic_load_explicit(&in->entered, memory_order_relaxed) + 1)
        return false;
    const bool known = err < MRMA_ERR_LAST && err != MRMA_AGAIN;
    atomic_store_explicit(&in->err, known ? (int)err : MRMA_ERR_INTERN, memory_order_relaxed);
    atomic_store_explicit(&in->entered, seq, memory_order_release); /* A */
    return true;
}

struct awaited {
    const _Atomic uint32_t *word;
    uint32_t value;
};

static bool reached(void *arg)
{
    const struct awaited *a = arg;
    return seq_reached(atomic_load_explicit(a->word, memory_order_acquire), a->value); /* B */
}

static int await(struct win *w, enum barrier_kind kind, struct awaited arg, int rank)
{
    static const char *const what[] = {[BARRIER_NODE] =
                                           "the window's processes on this node to synchronize",
                                       [BARRIER_FREE] = "all processes to free the window"};
    RMA_SPIN_UNTIL(w->rma, reached(&arg));
    if (reached(&arg))
        return MRMA_SUCCESS;
    return rma_wait_until(
        w, &(struct rma_wait){.done = reached,
                              .arg = &arg,
                              .what = what[kind],
                              .rank = rank,
                              .phase = kind == BARRIER_NODE ? RMA_WAIT_BARRIER : RMA_WAIT_FREE});
}

/* failed is this process's error, which all processes are to get. */
static int disseminate(struct win *w, const struct members *m, int failed)
{
    int err = failed;
    for (int64_t step = 1; step < m->n; step <<= 1) {
        struct rma_target *to = member(w, m, m->me + step);
        const struct rma_target *from = member(w, m, m->me - step);
        const int sent = to->peer ? target_sync(to)->enter(w, to, m->kind, err) : MRMA_SUCCESS;
        err = err ? err : sent;
        if (err)
            continue;
        const struct barrier_signal *in = &from->in->sync.barriers[m->kind];
        err = await(w, m->kind, (struct awaited){&in->entered, w->sync.barriers[m->kind]},
                    from->rank);
        if (!err)
            err = atomic_load_explicit(&in->err, memory_order_relaxed);
    }
    return err;
}

static void wake(const struct rma_peer *peer)
{
    event_notify(&peer->polling->threads, peer->doorbell_fd);
}

static int count_in(struct win *w)
{
    struct sync_ctl *lead = &w->lead->sync;
    const uint32_t seq = w->sync.barriers[BARRIER_NODE], all = seq * (uint32_t)w->nmemory;
    if (atomic_fetch_add_explicit(&lead->arrived, 1, memory_order_acq_rel) + 1 != all) /* A, C */
        return await(w, BARRIER_NODE, (struct awaited){&lead->open, seq}, -1);
    fence_stage_copy_all(w);
    atomic_store_explicit(&lead->open, seq, memory_order_release); /* D */
    for (int i = 0; i < w->nmemory; i++)
        if (i != w->memory_me)
            wake(win_peek(w, w->memory_ranks[i])->peer);
    return MRMA_SUCCESS;
}

int barrier_node(struct win *w)
{
    const uint32_t seq = ++w->sync.barriers[BARRIER_NODE];
    if (unlikely(w->rma->conf->hang_report > 0))
        atomic_store_explicit(&w->ctl->sync.entered, seq, memory_order_relaxed);
    if (w->nmemory == 1)
        return MRMA_SUCCESS;
    if (w->counts_arrivals)
        return count_in(w);
    return disseminate(w,
                       &(struct members){BARRIER_NODE, w->memory_ranks, w->nmemory, w->memory_me},
                       MRMA_SUCCESS);
}

bool barrier_node_entered(const struct win *w, const struct rma_target *t)
{
    return seq_reached(atomic_load_explicit(&t->ctl->sync.entered, memory_order_relaxed),
                       w->sync.barriers[BARRIER_NODE]);
}

/* ---- the end of a window ---- */

static bool all_left(void *arg)
{
    return origin_all_left(arg);
}

static int wait_left(struct win *w)
{
    if (!w->npackets)
        return MRMA_SUCCESS;
    return rma_wait_until(
        w, &(struct rma_wait){
               .done = all_left, .arg = w, .locked = true, .what = "room to send", .rank = -1});
}

/* know_partners makes targets for all partners before the first signal leaves: the node's records
 * are freed when their owner has left, which may be before this process leaves. From here on no
 * targets are made. */
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
    records_close(w);
    rma_leave(w->rma);
    return err;
}

/* Before the first signal barrier_free receives all errors that may be on their way here, since
 * their senders may leave the barrier before packets of others come. Packets for which nobody waits
 * (a post to an origin that has already completed) may come even later, from processes that are no
 * partners in the barrier: the handlers recognise them by the window's generation. */
int barrier_free(struct win *w)
{
    w->sync.barriers[BARRIER_FREE]++;
    const int confirmed = origin_confirm(w), known = know_partners(w);
    const int err = disseminate(w, &(struct members){BARRIER_FREE, NULL, w->nproc, w->rank},
                                confirmed ? confirmed : known);
    const int left = wait_left(w);
    return err ? err : left;
}
