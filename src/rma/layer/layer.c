/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layer.c - the layer's start and end: puts the rooms together.
 *
 * Rooms call only those below them (doc/design.md). Where a lower one needs an upper one, the upper
 * one's functions are entered into a table here: those of progress/hooks.h, and those by which ch3
 * tells that a connection is lost, that packets are queued, and that a word has come with a put.
 */
#include "rma/layer/layer.h"

#include <stdlib.h>

#include "rma/create/abandoned.h"
#include "rma/create/win_create.h"
#include "rma/notify/notify.h"
#include "rma/notify/notify_words.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/outstanding.h"
#include "rma/origin/pair.h"
#include "rma/path/deferred.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/progress/hooks.h"
#include "rma/progress/lost.h"
#include "rma/progress/progress.h"
#include "rma/sync/sync.h"
#include "rma/target/target.h"
#include "rma/win/ctl_blocks.h"
#include "rma/win/proc_table.h"

static bool requests_due(const struct win *w)
{
    return origin_requests_due(w) || target_awaits_lock(w) || notified_due(w);
}

/* For packets nothing is to be done, since they fail with the lost connection. */
static void lose(struct win *w, struct rma_target *t)
{
    if (!t->ctl)
        return;
    path_lose(w, t);
    atomic_store_explicit(&t->sync_ops, &sync_by_nothing, memory_order_relaxed);
}

static const struct progress_hooks hooks = {
    .grant_locks = target_grant_locks,
    .help = joint_help,
    .requests_due = requests_due,
    .fail_requests = origin_fail_all,
    .awaits = hang_awaits,
    .lose = lose,
    .report_wait = hang_report,
};

/* Kernel-assisted targets are on this node, too. */
static const struct sync_ops *const syncs[PATH_COUNT] = {
    [PATH_MAPPED] = &sync_by_memory,
    [PATH_ASSISTED] = &sync_by_memory,
    [PATH_PACKETS] = &sync_by_packets,
    [PATH_RDMA] = &sync_by_packets,
};

/* *named says that the log names the rank already. The channel names only the process. */
static void target_lost(struct win *w, struct rma_target *t, const struct ch3_vc *vc, bool *named)
{
    if (!t->peer || &t->peer->vc != vc)
        return;
    if (!*named && t->peer->net)
        log_msg(w->rma->log, LOG_LEVEL_ERROR, "the process that is lost is rank %d of window %u",
                t->rank, w->index);
    *named = true;
    if (!t->peer->self)
        win_lost(w, t->rank);
    origin_pair_lost(t);
}

/* Nothing comes from this peer any more: requests end with an error, which the host's MPI_Wait
 * returns; other operations report it at the next synchronization. Other waits of this layer find
 * the loss by themselves (wait.c). */
static void peer_lost(void *rma, struct ch3_vc *vc)
{
    struct rma *r = rma;
    bool named = false;
    for (uint32_t k = 0; k < r->nwins; k++) {
        struct win *w = r->wins[k];
        if (!w)
            continue;
        for (int i = 0; i < w->nlocal; i++)
            target_lost(w, &w->local[i], vc, &named);
        LIST_EACH (node, &w->remote)
            target_lost(w, LIST_ENTRY(node, struct rma_target, remote_link), vc, &named);
    }
}

static void came_with_put(void *rma, uint32_t word)
{
    notify_word_came(rma, word);
}

void rma_init(struct rma *r, const struct log *log, const struct conf *conf, struct rma_env *env,
              struct ch3 *ch3, clock_fn clock, bool threads)
{
    *r = (struct rma){.log = log,
                      .conf = conf,
                      .env = env,
                      .clock = clock,
                      .ch3 = ch3,
                      .defer = deferred_early,
                      .syncs = syncs,
                      .threads = threads,
                      .concurrent = threads};
    elock_init(&r->lock);
    progress_init(r, &hooks);
    ch3->queued = rma_queued;
    ch3->lost = peer_lost;
    ch3->word = came_with_put;
    list_init(&r->with_words);
    list_init(&r->ctl_blocks);
    list_init(&r->abandoned);
    list_init(&r->tables);
    list_init(&r->lock_wins);
    origin_init(r);
}

/* Processes of the node that wait for a lock in memory do not know who holds it: leave_locks tells
 * them of a program that ends in a passive target epoch, which is wrong. */
static void leave_locks(struct win *w)
{
    for (int i = 0; epoch_is_passive(&w->epoch) && i < w->nmemory; i++) {
        struct rma_target *t = win_peek(w, w->memory_ranks[i]);
        if (!t->peer->self)
            target_sync(t)->tell_lost(w, t, w->rank);
    }
}

void rma_fini(struct rma *r)
{
    for (uint32_t i = 0; i < r->nwins; i++)
        if (r->wins[i])
            leave_locks(r->wins[i]);

    for (uint32_t i = 0; i < r->nwins; i++)
        if (r->wins[i])
            win_delete(r->wins[i]);
    joint_unmap(r);
    abandoned_fini(r);
    ctl_blocks_fini(r);
    proc_tables_fini(r);
    free(r->applying);
    free(r->counts_packet);
    free(r->wins);
    free(r->win_gens);
    origin_fini(r);
}
