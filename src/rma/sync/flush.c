/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush.c - MPI_Win_flush and its kin, MPI_Win_sync (MPI 4.1, 12.5.4).
 *
 * One target is flushed along its route (win/path_ops.h). To flush all targets at once: operations
 * on mapped targets were applied when their calls returned, except that stores may still be in the
 * processor's buffer, so there is a full fence if there were stores. Operations that were gathered
 * for kernel-assisted targets (assisted.c) are done. Each packet target with something outstanding,
 * and each kernel-assisted target to which something was sent by packet, gets one flush request;
 * then all acknowledgements are awaited.
 */
#include "base/err.h"
#include "rma/origin/outstanding.h"
#include "rma/path/deferred.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/progress/lost.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/strict/strict.h"
#include "rma/win/full_fence.h"
#include "rma/win/path_ops.h"
#include "rma/win/win.h"

static bool is_locked(const struct win *w, const struct rma_target *t)
{
    return epoch_now(&w->epoch) == EPOCH_LOCK_ALL || t->lock != WIN_LOCK_NONE;
}

int rma_flush(struct win *w, int rank, bool local)
{
    struct rma_target *t = win_peek(w, rank);
    if (unlikely(!is_locked(w, t)))
        return MRMA_ERR_RMA_SYNC;
    if (win_count_call(w))
        rma_look_around(w);
    if (!target_route(t)) /* it was never used */
        return MRMA_SUCCESS;
    return route_enter(w, t)->flush(w, t, local);
}

int rma_flush_all(struct win *w, bool local)
{
    if (unlikely(!epoch_is_passive(&w->epoch)))
        return MRMA_ERR_RMA_SYNC;
    strict_completed(w, NULL, local);
    const int ended = joint_end(w, NULL);
    if (!local)
        win_full_fence(w);
    if (win_count_call(w))
        rma_look_around(w);
    if (likely(!w->npackets && !w->nsent && !win_has_lost(w)))
        return ended;
    const int carried = deferred_any(w) ? deferred_end(w) : MRMA_SUCCESS;
    int err = assisted_settle_all(w);
    err = ended ? ended : err ? err : carried;
    if (!w->npackets && !w->nsent) /* nothing went by packet */
        return err ? err : win_lost_error(w);
    const int flushed = origin_flush(w, NULL, local);
    err = err ? err : flushed;
    const int settled = assisted_settle_all(w);
    err = err ? err : settled;
    return err ? err : win_lost_error(w);
}

/* MPI_Win_sync is always a full fence: in the unified model it is the memory barrier between the
 * process's own loads and stores and those of others (MPI 4.1, 12.5.4 and 12.7), and two processes
 * that each store, synchronize and load (Dekker's pattern) rely on the order of the earlier store
 * and the later load, the one order that x86 does not keep by itself. The fence is not left out
 * where no store is known, since stores by the application are not seen. A program that waits for a
 * word in a loop of MPI_Win_sync makes progress here, which nobody else makes if there is no agent;
 * at the network not in every call (rma_look). Operations that it has issued and not flushed leave,
 * since another process may wait for them: an operation is enabled at its origin at the latest with
 * the ensuing synchronization call, and must then complete (12.7.3). After this call they must
 * complete without this process; so for operations that are kept until their target has granted the
 * lock (path/deferred.h) this call waits, as MPI_Win_lock may wait. */
int rma_sync(struct win *w)
{
    struct rma *r = w->rma;
    atomic_thread_fence(memory_order_seq_cst);
    if (rma_uses_packets(r))
        (void)rma_look(r);
    if (win_count_call(w))
        rma_look_around(w);
    if (likely((!w->npackets && !w->nsent) || !epoch_is_passive(&w->epoch)))
        return MRMA_SUCCESS;
    const int ended = joint_end(w, NULL);
    const int settled = assisted_settle_all(w);
    const int carried = deferred_end(w);
    const int pushed = origin_push(w);
    return ended ? ended : settled ? settled : carried ? carried : pushed;
}
