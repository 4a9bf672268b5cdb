/*
 * flush.c - MPI_Win_flush and its kin, MPI_Win_sync (MPI 4.1, 12.5.4).
 *
 * Direct targets: an operation has been applied when its call returned, except
 * that stores may still be in the processor's buffer: a full fence, and only if
 * there were stores. Packet targets, and what was sent to kernel-assisted ones (assisted.h): one
 * flush request per target with something outstanding, all at once, then all acknowledgements are
 * awaited.
 */
#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/path/assisted.h"
#include "rma/progress/progress.h"
#include "rma/strict/strict.h"
#include "rma/win/win.h"

static bool is_locked(const struct win *w, const struct rma_target *t)
{
    return epoch_now(&w->epoch) == EPOCH_LOCK_ALL || t->lock != WIN_LOCK_NONE;
}

static bool is_passive(const struct win *w)
{
    return epoch_now(&w->epoch) == EPOCH_LOCK_ALL || epoch_now(&w->epoch) == EPOCH_LOCK;
}

/* t NULL: all. */
static int flush_packets(struct win *w, struct rma_target *t, bool local)
{
    const int err = issue_flush(w, t, local);
    assisted_flushed(w, t);
    return err;
}

int rma_flush(struct win *w, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    if (unlikely(!is_locked(w, t)))
        return MRMA_ERR_RMA_SYNC;
    RMA_TRACE(w->rma, RMA_EV_FLUSH, w, rank, 0);
    if (unlikely(w->strict))
        strict_completed(w, t);
    win_full_fence(w);
    return likely(t->direct && t->sent == SENT_NOTHING) ? MRMA_SUCCESS : flush_packets(w, t, false);
}

int rma_flush_all(struct win *w)
{
    if (unlikely(!is_passive(w)))
        return MRMA_ERR_RMA_SYNC;
    RMA_TRACE(w->rma, RMA_EV_FLUSH, w, -1, 0);
    if (unlikely(w->strict))
        strict_completed(w, NULL);
    win_full_fence(w);
    return likely(!w->npackets && !w->nsent) ? MRMA_SUCCESS : flush_packets(w, NULL, false);
}

int rma_flush_local(struct win *w, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    if (unlikely(!is_locked(w, t)))
        return MRMA_ERR_RMA_SYNC;
    if (unlikely(w->strict))
        strict_completed_local(w, t);
    return likely(t->direct && t->sent == SENT_NOTHING) ? MRMA_SUCCESS : flush_packets(w, t, true);
}

int rma_flush_local_all(struct win *w)
{
    if (unlikely(!is_passive(w)))
        return MRMA_ERR_RMA_SYNC;
    if (unlikely(w->strict))
        strict_completed_local(w, NULL);
    return likely(!w->npackets && !w->nsent) ? MRMA_SUCCESS : flush_packets(w, NULL, true);
}

/* The fence is for the application's loads and stores (doc/memory-ordering.md). Who waits for a
 * word in a loop of MPI_Win_sync makes progress here, which without an agent nobody else does. */
int rma_sync(struct win *w)
{
    struct rma *r = w->rma;
    atomic_thread_fence(memory_order_seq_cst);
    (void)rma_progress(r);
    return MRMA_SUCCESS;
}
