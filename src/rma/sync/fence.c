/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence.c - MPI_Win_fence (MPI 4.1, 12.5.1).
 *
 * A fence ends phase p of the window and begins phase p + 1. Processes that synchronize through
 * shared memory meet in a barrier: their operations are done when they are issued. Each packet peer
 * gets a marker behind the phase's operations, with their size, and the fence ends when the markers
 * of all packet peers have been handled. Where there are many packet peers, it ends when as many
 * bytes have come as all others together have sent; this sum is computed along the way
 * (fence_counts.c). There is no barrier over packets.
 *
 * MPI_MODE_NOPRECEDE: nobody waits. The process stores into its control block that it has entered
 * the fence (exposed), and each process that accesses it in the new phase looks at that once
 * (by_memory.c). The same word tells when puts that were staged in a kernel-assisted target
 * (path/stage.h), or sent by packet peers, are in place there, for processes that have left the
 * fence before (path/stage.c). A packet of a phase that the target has not begun waits there;
 * packets that begin a lock epoch name the fences that their origin has passed (target.c).
 * MPI_MODE_NOPUT: no puts will come in the phase, so its end need not look for staged ones.
 * MPI_MODE_NOSTORE has nothing to save in the unified model. With MPIRMA_STRICT every fence is a
 * full one (strict.h).
 */
#include "base/err.h"
#include "rma/origin/active_epoch.h"
#include "rma/origin/outstanding.h"
#include "rma/origin/refused.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/strict/strict.h"
#include "rma/sync/barrier.h"
#include "rma/sync/fence_counts.h"
#include "rma/sync/sync.h"
#include "rma/path/deferred.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/path/stage.h"
#include "rma/target/target.h"
#include "rma/win/win.h"

static bool all_come(void *arg)
{
    struct win *w = arg;
    const bool come =
        w->sync.fence_counts ? fence_counts_done(w) : w->fence_arrived == (uint32_t)w->npackets;
    return come && origin_nothing_due(w);
}

static int wait_packets(struct win *w)
{
    return rma_wait_until(w, &(struct rma_wait){.done = all_come,
                                                .arg = w,
                                                .locked = true,
                                                .what = "what others have sent in the fence epoch",
                                                .rank = -1,
                                                .phase = RMA_WAIT_FENCE});
}

/* take_staged copies small puts that memory peers have staged before the barrier to their place. */
static void take_staged(struct win *w)
{
    const uint32_t staged = atomic_load_explicit(&w->ctl->staged_phase,
                                                 memory_order_relaxed); /* ordered by the barrier */
    if (w->assisted && !w->sync.noput && seq_reached(staged, w->phase + 1))
        stage_phase_apply(w);
}

static void expose(struct win *w, uint32_t phase)
{
    atomic_store_explicit(&w->ctl->exposed, phase,
                          memory_order_release); /* pairs with target_exposed, phase_stage_free */
}

/* issue_waiting issues operations that wait for their target, or for others that share a system
 * call, and completes those that targets take part in, since they belong to the phase that ends. */
static int issue_waiting(struct win *w)
{
    int err = MRMA_SUCCESS;
    if (unlikely(deferred_any(w))) {
        origin_set_closing(w, true);
        err = deferred_end(w);
        origin_set_closing(w, false);
    }
    const int ended = joint_end(w, NULL);
    const int gathered = w->nsent ? assisted_settle_all(w) : MRMA_SUCCESS;
    err = err ? err : ended;
    return err ? err : gathered;
}

/* end_by_counts tells the others how much they have to expect, after all of it has been sent. */
static int end_by_counts(struct win *w)
{
    int err = fence_counts_connect(w);
    if (err)
        return err;
    err = origin_send_phase(w);
    rma_enter(w->rma);
    const int told = fence_counts_enter(w);
    origin_phase_end(w);
    rma_leave(w->rma);
    return err ? err : told;
}

/* If this process could not issue something, only this process returns the error, since the others
 * get what they wait for. If a process is lost, all report it. */
static int close_phase(struct win *w)
{
    const int waited = issue_waiting(w);
    const int ended = w->sync.fence_counts ? end_by_counts(w) : origin_fence(w);
    const int issued = waited ? waited : ended;
    if (unlikely(issued == MRMA_ERR_PROC_FAILED))
        return issued;
    int err = barrier_node(w);
    if (!err && w->npackets && !issued)
        err = wait_packets(w);
    if (!err)
        take_staged(w);
    return issued ? issued : err;
}

int rma_fence(struct win *w, int asserts)
{
    struct rma *r = w->rma;
    const bool succeed = !(asserts & RMA_NOSUCCEED);
    rma_enter(r);
    int err = epoch_event(&w->epoch, succeed ? EPOCH_EV_FENCE : EPOCH_EV_FENCE_LAST);
    rma_leave(r);
    if (err)
        return err;
    if (win_count_call(w))
        rma_look_around(w);
    const int broken = strict_fence(w, &asserts);
    const bool precede = !(asserts & RMA_NOPRECEDE);
    /* puts of packet peers may still come */
    const bool stored_by_others = w->assisted || w->npackets;
    if (!stored_by_others)
        expose(w, w->phase + 1);
    if (precede)
        err = close_phase(w);
    rma_enter(r);
    if (precede && w->sync.fence_counts) {
        const int left = fence_counts_leave(w);
        err = err ? err : left;
    }
    if (precede && !err)
        w->phase_ended = w->phase;
    w->phase++;
    w->fenced = true;
    if (stored_by_others) /* before this the agent would still park packets that come */
        expose(w, w->phase);
    w->sync.fence_known = precede;
    w->fence_pending = w->has_assisted || w->npackets;
    w->sync.noput = asserts & RMA_NOPUT;
    w->fence_arrived = 0;
    w->phase_arrived = 0;
    win_next_gen(w);
    target_unpark_all(w);
    if (!err)
        err = origin_take_error(w);
    rma_leave(r);
    return err ? err : broken;
}
