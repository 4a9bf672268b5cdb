/*
 * epoch.c - the epoch table, and access to a target for the first time in an
 * epoch.
 *
 * Neighbours: fence.c, pscw.c, lock.c, lock_all.c move the state; the operations
 * come here once per target and epoch. Locks: epoch_event under the engine's
 * lock; epoch_access without it, since it may wait.
 */
#include "rma/sync/epoch.h"

#include "base/err.h"
#include "rma/progress/wait.h"
#include "rma/sync/lock.h"
#include "rma/sync/lockword.h"
#include "rma/win/win.h"

#define NO EPOCH_STATES /* refused */

/* Another kind of access epoch may follow a fence whose epoch was not used, for then the fence
 * began none (12.5.1). After it the fence's epoch does not go on. */
/* clang-format off */
static const unsigned char table[EPOCH_STATES][EPOCH_EVENTS] = {
    /*                    FENCE        FENCE_LAST  OP                START       COMPLETE */
    /*                    LOCK         UNLOCK_LAST LOCK_ALL          UNLOCK_ALL  FREE */
    [EPOCH_NONE] =       {EPOCH_FENCE, EPOCH_NONE, NO,               EPOCH_PSCW, NO,
                          EPOCH_LOCK,  NO,         EPOCH_LOCK_ALL,   NO,         EPOCH_NONE},
    [EPOCH_FENCE] =      {EPOCH_FENCE, EPOCH_NONE, EPOCH_FENCE_USED, EPOCH_PSCW, NO,
                          EPOCH_LOCK,  NO,         EPOCH_LOCK_ALL,   NO,         EPOCH_NONE},
    [EPOCH_FENCE_USED] = {EPOCH_FENCE, EPOCH_NONE, EPOCH_FENCE_USED, NO,         NO,
                          NO,          NO,         NO,               NO,         NO},
    [EPOCH_PSCW] =       {NO,          NO,         EPOCH_PSCW,       NO,         EPOCH_NONE,
                          NO,          NO,         NO,               NO,         NO},
    [EPOCH_LOCK] =       {NO,          NO,         EPOCH_LOCK,       NO,         NO,
                          EPOCH_LOCK,  EPOCH_NONE, NO,               NO,         NO},
    [EPOCH_LOCK_ALL] =   {NO,          NO,         EPOCH_LOCK_ALL,   NO,         NO,
                          NO,          NO,         NO,               EPOCH_NONE, NO},
};
/* clang-format on */

bool epoch_allows(const struct epoch *ep, enum epoch_event ev)
{
    if (ep->exposed && (ev == EPOCH_EV_FENCE || ev == EPOCH_EV_FENCE_LAST || ev == EPOCH_EV_FREE))
        return false;
    return table[epoch_now(ep)][ev] != NO;
}

int epoch_event(struct epoch *ep, enum epoch_event ev)
{
    if (!epoch_allows(ep, ev))
        return MRMA_ERR_RMA_SYNC;
    atomic_store_explicit(&ep->state, (enum epoch_state)table[epoch_now(ep)][ev],
                          memory_order_relaxed);
    return MRMA_SUCCESS;
}

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
    if (t->path != PATH_CMA)
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
    if (!t->direct || t->peer->self || known_exposed(w, t) || target_exposed(&arg))
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
    return rma_wait_until(w, &(struct rma_wait){.done = target_posted,
                                                .arg = t,
                                                .what = "MPI_Win_post of the target",
                                                .rank = t->rank});
}

static int access_pscw(struct win *w, struct rma_target *t)
{
    if (t->started_in != w->start_count)
        return MRMA_ERR_RMA_SYNC;
    return t->direct ? epoch_wait_post(w, t) : MRMA_SUCCESS;
}

int epoch_access(struct win *w, struct rma_target *t)
{
    int err = MRMA_SUCCESS;
    switch (epoch_now(&w->epoch)) {
    case EPOCH_FENCE:
    case EPOCH_FENCE_USED:
        err = epoch_use_fence(w);
        if (!err)
            err = wait_exposed(w, t);
        break;
    case EPOCH_PSCW:
        err = access_pscw(w, t);
        break;
    case EPOCH_LOCK:
        err = t->lock == WIN_LOCK_NONE ? MRMA_ERR_RMA_SYNC : wait_exposed(w, t);
        break;
    case EPOCH_LOCK_ALL:
        err = wait_exposed(w, t);
        if (!err)
            err = lock_all_access(w, t);
        break;
    default:
        err = MRMA_ERR_RMA_SYNC;
    }
    if (!err)
        target_set_ready(w, t);
    return err;
}
