/*
 * win.c - facts about a window, its orderly end, and the layer's own start.
 */
#include "rma/win/win.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/origin/origin.h"
#include "rma/origin/rdma.h"
#include "rma/progress/lost.h"
#include "rma/progress/progress.h"
#include "rma/sync/last_barrier.h"
#include "rma/win/win_create.h"

static void fail_requests(struct win *w, struct rma_target *t, const struct ch3_vc *vc)
{
    if (t->peer && &t->peer->vc == vc && !t->peer->self)
        win_lost(w, t->rank);
    if (!t->pkt || (!t->pkt->replies && !t->pkt->rdma_ops) || &t->peer->vc != vc)
        return;
    origin_fail(t->pkt, MRMA_ERR_PROC_FAILED);
    rdma_fail(t->pkt, MRMA_ERR_PROC_FAILED);
    if (!w->packet_err)
        w->packet_err = MRMA_ERR_PROC_FAILED;
}

/* Nothing comes from this peer any more: requests end with an error, which who waits for
 * them by the host's MPI_Wait learns from them, and others at the next synchronization.
 * Other waits of this layer find it out themselves (wait.c). */
static void peer_lost(void *rma, struct ch3_vc *vc)
{
    struct rma *r = rma;
    for (uint32_t k = 0; k < r->nwins; k++) {
        struct win *w = r->wins[k];
        if (!w)
            continue;
        for (int i = 0; i < w->nlocal; i++)
            fail_requests(w, &w->local[i], vc);
        LIST_EACH (node, &w->remote)
            fail_requests(w, LIST_ENTRY(node, struct rma_target, remote_link), vc);
    }
}

void rma_init(struct rma *r, const struct log *log, const struct conf *conf, struct rma_env *env,
              struct ch3 *ch3, clock_fn clock, bool threads)
{
    *r = (struct rma){.log = log,
                      .conf = conf,
                      .env = env,
                      .clock = clock,
                      .ch3 = ch3,
                      .threads = threads,
                      .concurrent = threads};
    elock_init(&r->lock);
    ch3->queued = rma_queued;
    ch3->lost = peer_lost;
    list_init(&r->ctl_blocks);
    list_init(&r->lock_wins);
    origin_init(r);
}

void rma_paths_total(const struct rma *r, struct win_stats *out)
{
    *out = r->stats.paths;
    for (uint32_t i = 0; i < r->nwins; i++)
        for (int p = 0; r->wins[i] && p < PATH_COUNT; p++) {
            out->ops[p] += r->wins[i]->stats.ops[p];
            out->bytes[p] += r->wins[i]->stats.bytes[p];
        }
}

int win_free_begin(struct win *w)
{
    if (!epoch_allows(&w->epoch, EPOCH_EV_FREE))
        return MRMA_ERR_RMA_SYNC;
    return last_barrier(w);
}

/* The lowest rank with memory, else 0. */
static int first_with_memory(const struct win *w)
{
    for (int rank = 0; rank < w->nproc; rank++) {
        const struct rma_target *t = win_peek(w, rank);
        if (t->peer ? t->size : w->records.all && w->records.all[rank].size)
            return rank;
    }
    return 0;
}

int win_take_error(struct win *w)
{
    rma_enter(w->rma);
    int err = issue_take_error(w);
    rma_leave(w->rma);
    return err;
}

int win_shared_query(struct win *w, int rank, uint64_t *size, uint32_t *disp_unit, void **base)
{
    if (w->dynamic)
        return MRMA_ERR_RMA_FLAVOR;
    struct rma_target *t;
    int err = win_target(w, rank < 0 ? first_with_memory(w) : rank, &t);
    if (err)
        return err;
    if (unlikely(w->strict) && t->direct)
        atomic_store_explicit(&t->ctl->queried, 1, memory_order_relaxed);
    *base = t->shared_base;
    *size = t->shared_base ? t->size : 0;
    *disp_unit = t->disp_unit;
    return MRMA_SUCCESS;
}

enum win_flavor win_flavor(const struct win *w)
{
    return w->flavor;
}
void **win_base_attr(struct win *w)
{
    return &w->base;
}
const uint64_t *win_size(const struct win *w)
{
    return &w->size;
}
uint32_t win_id(const struct win *w)
{
    return w->index;
}
const struct win_hints *win_hints(const struct win *w)
{
    return &w->hints;
}

void win_set_hints(struct win *w, const struct win_hints *hints)
{
    w->hints.ordering = hints->ordering;
    w->hints.same_op = hints->same_op;
    w->hints.which_ops = hints->which_ops;
}

const char *win_path_name(const struct win *w, int target)
{
    static const char *const names[PATH_COUNT] = {"mapped", "cma", "packets"};
    const struct rma_target *t = win_peek(w, target);
    return t->path == PATH_PACKETS && t->peer && t->peer->net ? "net-packets" : names[t->path];
}

void win_describe(const struct win *w, int target, char *buf, size_t len)
{
    static const char *const states[EPOCH_STATES] = {
        [EPOCH_NONE] = "outside any access epoch",
        [EPOCH_FENCE] = "after a fence",
        [EPOCH_FENCE_USED] = "in a fence epoch",
        [EPOCH_PSCW] = "in an access epoch of MPI_Win_start",
        [EPOCH_LOCK] = "in a lock epoch",
        [EPOCH_LOCK_ALL] = "in a lock_all epoch"};
    static const char *const locks[] = {"not locked", "locked shared", "locked exclusively",
                                        "locked with NOCHECK"};
    size_t at = (size_t)snprintf(buf, len, "%s", states[epoch_now(&w->epoch)]);
    if (at < len && epoch_now(&w->epoch) == EPOCH_LOCK && target >= 0 && target < w->nproc)
        at += (size_t)snprintf(buf + at, len - at, " on %d target%s, rank %d is %s", w->nlocks,
                               w->nlocks == 1 ? "" : "s", target, locks[win_peek(w, target)->lock]);
    if (at < len && w->epoch.exposed)
        snprintf(buf + at, len - at, ", exposed to %d origins since MPI_Win_post", w->post_group.n);
}
