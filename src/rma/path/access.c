/*
 * access.c - access to a target for the first time in an epoch.
 *
 * The operations come here once per target and epoch. Direct targets are waited for here: their
 * fence, their post, or their exclusive lock. What goes to others by packet waits at the target
 * (target.c). Locks: none is held by the caller, since these functions may wait.
 */
#include "rma/path/path.h"

#include "base/err.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced.h"
#include "rma/win/path_ops.h"
#include "rma/win/target_lock.h"

struct exposed_arg {
    struct rma_target *t;
    uint32_t phase;
};

static bool target_exposed(void *arg)
{
    struct exposed_arg *a = arg;
    return seq_reached(atomic_load_explicit(&a->t->ctl->exposed, memory_order_acquire), a->phase);
}

/* After a barrier a target may be accessed, unless puts of the last phase may still lie in its
 * stages or be on their way from another node: then when it has copied them. */
static bool known_exposed(const struct win *w, const struct rma_target *t)
{
    if (!w->fence_known || w->npackets)
        return false;
    if (t->path->number != PATH_CMA)
        return true;
    const uint32_t phase = atomic_load_explicit(&t->ctl->staged_phase, memory_order_relaxed);
    return !seq_reached(phase, w->phase); /* its load is ordered by the barrier */
}

/* Wait until the target is as far as this process's last fence. It wakes nobody
 * when it gets there (it does not know who waits), so a sleeper looks again by
 * itself; see fence.c. */
static int wait_exposed(struct win *w, struct rma_target *t)
{
    struct exposed_arg arg = {t, w->phase};
    if (t->peer->self || known_exposed(w, t) || target_exposed(&arg))
        return MRMA_SUCCESS;
    return rma_wait_until(w, &(struct rma_wait){.done = target_exposed,
                                                .arg = &arg,
                                                .poll_only = true,
                                                .what = "the target's fence",
                                                .rank = t->rank});
}

int epoch_use_fence(struct win *w)
{
    rma_enter(w->rma);
    int err = epoch_event(&w->epoch, EPOCH_EV_OP);
    rma_leave(w->rma);
    return err;
}

static bool target_posted(void *arg)
{
    struct rma_target *t = arg;
    return seq_reached(atomic_load_explicit(&t->in->posts, memory_order_acquire), t->posts_due);
}

int epoch_wait_post(struct win *w, struct rma_target *t)
{
    RMA_SPIN_UNTIL(w->rma, target_posted(t));
    if (target_posted(t))
        return MRMA_SUCCESS;
    win_event(w, t->rank, TRACE_POST_WAIT, 0);
    const int err = rma_wait_until(w, &(struct rma_wait){.done = target_posted,
                                                         .arg = t,
                                                         .what = "MPI_Win_post of the target",
                                                         .rank = t->rank});
    win_event(w, t->rank, TRACE_POST_SEEN, 0);
    return err;
}

static bool open_to_all(void *arg)
{
    struct rma_target *t = arg;
    return lockword_open_to_all(&t->ctl->lock);
}

int lock_all_access(struct win *w, struct rma_target *t)
{
    if (w->all_nocheck || open_to_all(t))
        return MRMA_SUCCESS;
    atomic_fetch_add_explicit(&w->rma->stats.lock_waits, 1, memory_order_relaxed);
    return rma_wait_until(w, &(struct rma_wait){.done = open_to_all,
                                                .arg = t,
                                                .event = &t->ctl->lock_event,
                                                .what = "an exclusive lock to be released",
                                                .rank = t->rank});
}

/* Does the present epoch include t? */
static int epoch_includes(struct win *w, const struct rma_target *t)
{
    switch (epoch_now(&w->epoch)) {
    case EPOCH_FENCE:
    case EPOCH_FENCE_USED:
        return epoch_use_fence(w);
    case EPOCH_PSCW:
        return t->started_in == w->start_count ? MRMA_SUCCESS : MRMA_ERR_RMA_SYNC;
    case EPOCH_LOCK:
        return t->lock != WIN_LOCK_NONE ? MRMA_SUCCESS : MRMA_ERR_RMA_SYNC;
    case EPOCH_LOCK_ALL:
        return MRMA_SUCCESS;
    default:
        return MRMA_ERR_RMA_SYNC;
    }
}

/* Wait until the direct target t may be accessed. */
static int wait_accessible(struct win *w, struct rma_target *t)
{
    if (epoch_now(&w->epoch) == EPOCH_PSCW)
        return epoch_wait_post(w, t);
    const int err = wait_exposed(w, t);
    return !err && epoch_now(&w->epoch) == EPOCH_LOCK_ALL ? lock_all_access(w, t) : err;
}

int epoch_access(struct win *w, struct rma_target *t)
{
    int err = epoch_includes(w, t);
    if (!err && t->direct)
        err = wait_accessible(w, t);
    if (!err)
        target_set_ready(w, t);
    return err;
}
