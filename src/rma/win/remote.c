/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.c - targets on other nodes, made when they are first used or heard of.
 *
 * What is known of them comes from the window's records (proc_records.h). A target that was made
 * stays as long as its window. Locks: the engine's is held, also while the peer is looked up and
 * connected.
 */
#include "rma/win/first_number.h"
#include "rma/win/remote.h"

#include <stdlib.h>

#include "base/err.h"

void target_set_path(const struct win *w, struct rma_target *t, enum rma_path path)
{
    const bool rdma = path == PATH_PACKETS && t->net_key.vaddr && ch3_rdma_limits(&t->peer->vc);
    t->path = (uint8_t)(rdma ? PATH_RDMA : path);
    const struct route *r =
        &w->routes[t->path == PATH_PACKETS && t->peer->net ? ROUTE_NET_PACKETS : t->path];
    atomic_init(&t->route, r);
    w->rma->stats.routes |= UINT32_C(1) << r->number;
    atomic_init(&t->sync_ops, w->rma->syncs[path]);
}

void target_describe(const struct win *w, struct rma_target *t)
{
    const struct win_record rec = record_of(w, t->rank);
    t->disp_unit = rec.disp_unit;
    t->size = rec.size;
    t->remote_win = rec.index;
    t->remote_gen = rec.gen;
    t->net_key = record_key(w, t->rank);
    t->vaddr = t->net_key.vaddr;
}

static struct rma_target *new_target(const struct win *w, int rank)
{
    struct rma_target *t = aligned_alloc(MRMA_CACHE_LINE, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct rma_target){.rank = rank};
    target_describe(w, t);
    first_number_target(w, t);
    t->in = &t->signals;
    return t;
}

int win_target_make(struct win *w, int rank, struct rma_target **out)
{
    struct rma_env *env = w->rma->env;
    if (!records_are_there(w))
        return log_fail(w->rma->log, MRMA_ERR_INTERN, "rank %d of window %u has no target", rank,
                        w->index);
    struct rma_target *t = new_target(w, rank);
    if (!t)
        return log_fail(w->rma->log, MRMA_ERR_NO_MEM, "no memory for rank %d of window %u", rank,
                        w->index);
    int err = env->peer_get(env->ctx, record_proc(w, rank), false, &t->peer);
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
    return records_are_there(w) && sender && record_proc(w, rank)->uid == sender->uid &&
           win_target_make(w, rank, t) == MRMA_SUCCESS;
}
