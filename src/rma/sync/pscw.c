/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pscw.c - MPI_Win_start, _complete, _post, _wait, _test (MPI 4.1, 12.5.2).
 *
 * Counters that only grow, two per ordered pair: posts (target to origin) and ends of access epochs
 * (origin to target). The table of the other side brings them there and decides whether a post is
 * sent at all (by_memory.c, by_packets.c); MPI_Win_wait compares numbers in both cases.
 * MPI_Win_start does not wait, and operations do not either: MPI_Win_complete waits where an
 * operation must (path/deferred.h). MPI_MODE_NOCHECK: no post is told, none is waited for. Between
 * post and wait small puts may lie in stages (path/stage.h): MPI_Win_wait copies them to their
 * place after it has seen the end of the epoch, which was stored after they were published.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/origin/active_epoch.h"
#include "rma/origin/refused.h"
#include "rma/path/deferred.h"
#include "rma/path/joint.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/strict/strict.h"
#include "rma/sync/sync.h"
#include "rma/target/target.h"
#include "rma/win/win.h"

const struct win_group *pscw_access(const struct win *w)
{
    return &w->sync.access;
}

const struct win_group *pscw_exposure(const struct win *w)
{
    return &w->sync.exposure;
}

void pscw_fini(struct win *w)
{
    free(w->sync.access.ranks);
    free(w->sync.exposure.ranks);
}

static int group_set(struct win_group *g, const int *ranks, int n)
{
    if (n > g->room) {
        int *more = realloc(g->ranks, (size_t)n * sizeof *more);
        if (!more)
            return MRMA_ERR_NO_MEM;
        g->ranks = more;
        g->room = n;
    }
    if (n)
        memcpy(g->ranks, ranks, (size_t)n * sizeof *ranks);
    g->n = n;
    return MRMA_SUCCESS;
}

/* take_group does everything that may fail for lack of memory, before anything is changed. */
static int take_group(struct win *w, struct win_group *g, const int *ranks, int n)
{
    struct rma_target *t;
    int err = group_set(g, ranks, n);
    for (int i = 0; !err && i < n; i++)
        err = win_target_locked(w, ranks[i], &t);
    return err;
}

int rma_start(struct win *w, const int *ranks, int n, int asserts)
{
    struct rma *r = w->rma;
    rma_enter(r);
    int err = epoch_allows(&w->epoch, EPOCH_EV_START) ? take_group(w, &w->sync.access, ranks, n)
                                                      : MRMA_ERR_RMA_SYNC;
    if (!err) {
        (void)epoch_event(&w->epoch, EPOCH_EV_START);
        win_next_gen(w);
        w->start_count++;
        for (int i = 0; i < n; i++) {
            struct rma_target *t = win_peek(w, ranks[i]);
            t->started_in = w->start_count;
            t->starts++;
            if (!(asserts & RMA_NOCHECK))
                t->posts_due++;
        }
    }
    rma_leave(r);
    return err;
}

int rma_complete(struct win *w)
{
    struct rma *r = w->rma;
    if (!epoch_allows(&w->epoch, EPOCH_EV_COMPLETE))
        return MRMA_ERR_RMA_SYNC;
    const struct win_group *g = &w->sync.access;
    if (win_count_call(w))
        rma_look_around(w);
    strict_completed(w, NULL, false);
    int err = unlikely(deferred_any(w)) ? deferred_end(w) : MRMA_SUCCESS;
    const int joint = joint_end(w, NULL);
    const int ended = w->npackets ? origin_complete_begin(w) : MRMA_SUCCESS;
    err = err ? err : joint ? joint : ended;
    for (int i = 0; i < g->n; i++) {
        struct rma_target *t = win_peek(w, g->ranks[i]);
        const int told = target_sync(t)->complete(w, t);
        err = err ? err : told;
    }
    if (w->npackets)
        err = origin_complete_end(w, err);
    rma_enter(r);
    (void)epoch_event(&w->epoch, EPOCH_EV_COMPLETE);
    win_next_gen(w);
    const int failed = origin_take_error(w);
    rma_leave(r);
    return err ? err : failed;
}

int rma_post(struct win *w, const int *ranks, int n, int asserts)
{
    struct rma *r = w->rma;
    int err = MRMA_SUCCESS;
    rma_enter(r);
    if (w->epoch.exposed || epoch_now(&w->epoch) == EPOCH_FENCE_USED)
        err = MRMA_ERR_RMA_SYNC;
    else
        err = take_group(w, &w->sync.exposure, ranks, n);
    if (err) {
        rma_leave(r);
        return err;
    }
    w->epoch.exposed = true;
    strict_post(w, asserts);
    for (int i = 0; i < n; i++) {
        struct rma_target *t = win_peek(w, ranks[i]);
        t->exposures++;
        if (asserts & RMA_NOCHECK)
            continue;
        const int told = target_sync(t)->post(w, t);
        err = err ? err : told;
    }
    target_unpark_all(w);
    rma_leave(r);
    return err;
}

static bool all_complete(void *arg)
{
    struct win *w = arg;
    for (int i = 0; i < w->sync.exposure.n; i++) {
        const struct rma_target *t = win_peek(w, w->sync.exposure.ranks[i]);
        if (!target_sync(t)->completed(t))
            return false;
    }
    return true;
}

static void close_exposure(struct win *w)
{
    for (int i = 0; i < w->sync.exposure.n; i++) {
        struct rma_target *t = win_peek(w, w->sync.exposure.ranks[i]);
        target_sync(t)->take(w, t);
    }
    strict_wait(w);
    rma_enter(w->rma);
    w->epoch.exposed = false;
    rma_leave(w->rma);
}

int rma_wait(struct win *w)
{
    if (!w->epoch.exposed)
        return MRMA_ERR_RMA_SYNC;
    if (win_count_call(w))
        rma_look_around(w);
    RMA_SPIN_UNTIL(w->rma, all_complete(w));
    if (!all_complete(w)) {
        int err = rma_wait_until(w, &(struct rma_wait){.done = all_complete,
                                                       .arg = w,
                                                       .what = "MPI_Win_complete of the origins",
                                                       .rank = -1});
        if (err)
            return err;
    }
    close_exposure(w);
    return MRMA_SUCCESS;
}

int rma_test(struct win *w, bool *flag)
{
    if (!w->epoch.exposed)
        return MRMA_ERR_RMA_SYNC;
    (void)rma_progress(w->rma);
    *flag = all_complete(w);
    if (!*flag)
        return rma_between_tests(w->rma, w);
    close_exposure(w);
    return MRMA_SUCCESS;
}
