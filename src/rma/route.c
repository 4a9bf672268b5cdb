/*
 * route.c - which path serves which target of a window (doc/design.md: kinds of target).
 *
 *   this process itself                          mapped
 *   another node, or packets asked for           packets
 *   same node, memory it can map                 mapped
 *   same node, any other memory                  kernel-assisted (cma)
 *   the same, but the kernel refuses it          packets, for all of the window
 *
 * MPIRMA_PATH forces one where it is possible and is an error where it is not.
 * Synchronization is direct (shared memory) exactly for targets whose path is
 * not packets; that relation is symmetric, so the direct group is the same set
 * at all its members.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/acc_atomic.h"
#include "rma/issue.h"
#include "rma/region.h"
#include "rma/target.h"
#include "rma/win_create.h"

static const struct rma_mem_loc nowhere;

static bool is_somewhere(const struct rma_mem_loc *loc)
{
    return memcmp(loc, &nowhere, sizeof nowhere) != 0;
}

/* Same node, by the machine and by MPIRMA_RANKS_PER_NODE. */
static bool on_my_node(const struct win *w, const struct win_record *recs, int rank)
{
    struct rma_env *env = w->rma->env;
    const int k = w->rma->conf->ranks_per_node;
    return rank == w->rank ||
           (env->record_same_node(env->ctx, &recs[rank].proc) && (!k || rank / k == w->rank / k));
}

/* The path for a peer on this node, or an error. */
static int choose(const struct win *w, const struct win_record *rec, const struct rma_peer *peer,
                  bool allow_cma, bool *refused)
{
    const struct log *log = w->rma->log;
    const enum conf_path forced = w->rma->conf->path;
    const bool mappable =
        is_somewhere(&rec->mem) || is_somewhere(&rec->segment) || (!rec->size && !w->dynamic);
    if (forced == CONF_PATH_SHM_PACKETS || forced == CONF_PATH_NET_PACKETS)
        return PATH_PACKETS;
    if (mappable && forced != CONF_PATH_CMA && allow_cma)
        return PATH_MAPPED;
    if (forced == CONF_PATH_MAPPED) {
        log_msg(log, LOG_LEVEL_ERROR,
                "MPIRMA_PATH=mapped is not possible: the window's memory at process %d is not shared "
                "(use MPI_Win_allocate or memory from MPI_Alloc_mem)", peer->pid);
        return -MRMA_ERR_RMA_FLAVOR;
    }
    if (peer->cma && allow_cma)
        return PATH_CMA;
    if (forced == CONF_PATH_CMA) {
        log_msg(log, LOG_LEVEL_ERROR,
                "MPIRMA_PATH=cma is not possible: cross-memory attach to process %d: %s", peer->pid,
                strerror(peer->cma_errno));
        return -MRMA_ERR_RMA_FLAVOR;
    }
    *refused = true;
    return PATH_PACKETS;
}

/* The path by which direct peers reach this process. */
static int own_path(const struct win *w, const struct win_record *recs, bool allow_cma)
{
    const struct rma_peer anyone = {.cma = true, .pid = win_peek(w, w->rank)->peer->pid};
    bool refused;
    return choose(w, &recs[w->rank], &anyone, allow_cma, &refused);
}

static int reach_memory(struct win *w, struct rma_target *t, const struct win_record *rec)
{
    struct rma_env *env = w->rma->env;
    void *at = NULL;
    int err = MRMA_SUCCESS;
    if (t->peer->self)
        at = w->base;
    else if (is_somewhere(&rec->mem))
        err = env->mem_map(env->ctx, &rec->mem, &at, &t->map_handle);
    if (err)
        return err;
    if (at)
        t->shared_base = at;
    if (t->path == PATH_MAPPED && !w->dynamic && t->shared_base) {
        t->base = t->shared_base;
        t->fast_size = t->size;
        t->fast_units = t->size / t->disp_unit;
    }
    return MRMA_SUCCESS;
}

static int reach_control(struct win *w, struct rma_target *t, const struct win_record *rec, int node_index,
                         int me)
{
    struct rma_env *env = w->rma->env;
    void *at = w->ctl;
    int err = MRMA_SUCCESS;
    if (!t->peer->self)
        err = env->mem_map(env->ctx, &rec->ctl, &at, &t->ctl_handle);
    if (err)
        return err;
    t->ctl = at;
    t->out = &t->ctl->pairs[me].slot;
    t->in = &w->ctl->pairs[node_index].slot;
    t->out_stage = t->ctl->pairs[me].stage;
    t->in_stage = w->ctl->pairs[node_index].stage;
    return MRMA_SUCCESS;
}

static int connect_target(struct win *w, const struct win_record *recs, int rank, bool allow_cma,
                          bool *refused)
{
    struct rma_env *env = w->rma->env;
    struct rma_target *t = &w->target_block[rank];
    const struct win_record *rec = &recs[rank];
    const bool node = on_my_node(w, recs, rank);
    int err = env->peer_get(env->ctx, &rec->proc, node, &t->peer);
    if (err)
        return err;
    t->disp_unit = rec->disp_unit;
    t->size = rec->size;
    t->vaddr = rec->vaddr;
    t->remote_win = rec->index;
    t->remote_gen = rec->gen;
    t->net_key = rec->net;
    int path = t->peer->self ? PATH_MAPPED
               : !node       ? PATH_PACKETS
                             : choose(w, rec, t->peer, allow_cma, refused);
    if (path < 0)
        return -path;
    t->path = (uint8_t)path;
    t->direct = path != PATH_PACKETS;
    if (path != PATH_MAPPED)
        err = env->peer_connect(env->ctx, t->peer);
    if (!err && (t->direct || (node && allow_cma)))
        err = reach_memory(w, t, rec);
    return err;
}

static void list_direct(struct win *w)
{
    w->ndirect = w->npackets = 0;
    w->ring_puts = false;
    for (int i = 0; i < w->nproc; i++) {
        struct rma_target *t = &w->target_block[i];
        if (!t->direct) {
            w->npackets++;
            continue;
        }
        if (i == w->rank)
            w->direct_me = w->ndirect;
        if (t->path == PATH_CMA)
            w->ring_puts = true;
        w->direct[w->ndirect++] = i;
    }
}

static int connect_control(struct win *w, const struct win_record *recs)
{
    int index = 0, me = 0, err = MRMA_SUCCESS;
    for (int i = 0; i < w->rank; i++)
        me += on_my_node(w, recs, i);
    for (int i = 0; !err && i < w->nproc; i++) {
        struct rma_target *t = &w->target_block[i];
        const int node_index = on_my_node(w, recs, i) ? index++ : -1;
        if (t->direct)
            err = reach_control(w, t, &recs[i], node_index, me);
        else
            t->in = &w->private_slots[i];
    }
    return err;
}

static int make_private_slots(struct win *w)
{
    if (!w->npackets)
        return MRMA_SUCCESS;
    w->private_slots = aligned_alloc(MRMA_CACHE_LINE, (size_t)w->nproc * sizeof *w->private_slots);
    if (!w->private_slots)
        return MRMA_ERR_NO_MEM;
    memset(w->private_slots, 0, (size_t)w->nproc * sizeof *w->private_slots);
    return MRMA_SUCCESS;
}

int win_route(struct win *w, const struct win_record *recs, bool allow_cma, bool *refused)
{
    int err = MRMA_SUCCESS;
    *refused = false;
    for (int i = 0; !err && i < w->nproc; i++)
        err = connect_target(w, recs, i, allow_cma, refused);
    if (err)
        return err;
    list_direct(w);
    w->ring_takes = own_path(w, recs, allow_cma) == PATH_CMA;
    err = make_private_slots(w);
    if (!err)
        err = connect_control(w, recs);
    if (!err)
        w->lead = win_peek(w, w->direct[0])->ctl;
    acc_atomic_init(w);
    return err;
}

void win_unroute(struct win *w)
{
    struct rma_env *env = w->rma->env;
    for (int i = 0; i < w->nproc; i++) {
        struct rma_target *t = &w->target_block[i];
        if (w->queued && t->peer) /* after a peer has died */
            ch3_vc_drop(&t->peer->vc, &w->queued);
        issue_free_target(t);
        target_free_origin(t);
        region_free(t);
        if (t->map_handle)
            env->mem_unmap(env->ctx, t->map_handle);
        if (t->ctl_handle)
            env->mem_unmap(env->ctx, t->ctl_handle);
        if (t->peer)
            env->peer_put(env->ctx, t->peer);
        *t = (struct rma_target){.rank = i};
    }
    free(w->private_slots);
    w->private_slots = NULL;
}
