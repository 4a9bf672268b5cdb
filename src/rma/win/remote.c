/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.c - targets on other nodes, made when they are first used or heard of.
 *
 * What is known of them comes from the creation's records (proc_records.h). A target
 * once made stays as long as its window. Locks: the engine's, also while the
 * peer is looked up and connected.
 */
#include "rma/win/first_number.h"
#include "rma/win/remote.h"

#include <stdlib.h>

#include "base/err.h"

void target_set_path(const struct win *w, struct rma_target *t, enum rma_path path)
{
    const bool rdma = path == PATH_PACKETS && t->net_key.usable && ch3_rdma_limits(&t->peer->vc);
    t->path = (uint8_t)(rdma ? PATH_RDMA : path);
    atomic_init(&t->path_ops, w->front ? w->front : w->rma->paths[t->path]);
    atomic_init(&t->sync_ops, w->rma->syncs[path]);
}

void target_describe(struct rma_target *t, const struct win_record *rec)
{
    t->disp_unit = rec->disp_unit;
    t->size = rec->size;
    t->vaddr = rec->vaddr;
    t->remote_win = rec->index;
    t->remote_gen = rec->gen;
    t->net_key = rec->net;
}

static struct rma_target *new_target(const struct win *w, int rank, const struct win_record *rec)
{
    struct rma_target *t = aligned_alloc(MRMA_CACHE_LINE, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct rma_target){.rank = rank};
    target_describe(t, rec);
    first_number_target(w, t);
    t->in = &t->signals;
    return t;
}

int win_target_make(struct win *w, int rank, struct rma_target **out)
{
    struct rma_env *env = w->rma->env;
    if (!w->records.all)
        return log_fail(w->rma->log, MRMA_ERR_INTERN, "rank %d of window %u has no target", rank,
                        w->index);
    const struct win_record *rec = &w->records.all[rank];
    struct rma_target *t = new_target(w, rank, rec);
    if (!t)
        return log_fail(w->rma->log, MRMA_ERR_NO_MEM, "no memory for rank %d of window %u", rank,
                        w->index);
    int err = env->peer_get(env->ctx, &rec->proc, false, &t->peer);
    if (!err)
        err = env->peer_connect(env->ctx, t->peer);
    if (!err)
        target_set_path(w, t, PATH_PACKETS);
    if (!err)
        err = target_table_put(&w->targets, rank, t);
    if (err) {
        if (t->peer)
            env->peer_put(env->ctx, t->peer);
        free(t);
        return err;
    }
    list_push_back(&w->remote, &t->remote_link);
    *out = t;
    return MRMA_SUCCESS;
}

const struct rma_proc_record *rma_find_process(const struct rma *r, uint64_t uid)
{
    for (uint32_t i = 0; i < r->nwins; i++) {
        const struct win *w = r->wins[i];
        for (int k = 0; w && w->records.complete && w->records.all && k < w->nproc; k++)
            if (w->records.all[k].proc.uid == uid)
                return &w->records.all[k].proc;
    }
    return NULL;
}

int win_target_first(struct win *w, int rank, struct rma_target **t)
{
    rma_enter(w->rma);
    int err = win_target_locked(w, rank, t);
    rma_leave(w->rma);
    return err;
}

bool win_target_from_first(struct win *w, int rank, const struct ch3_vc *from,
                           struct rma_target **t)
{
    const struct rma_peer *sender = ch3_vc_owner(from);
    return w->records.all && sender && w->records.all[rank].proc.uid == sender->uid &&
           win_target_make(w, rank, t) == MRMA_SUCCESS;
}
