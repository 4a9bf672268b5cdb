/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_targets.c - makes the targets of a window on this node: it decides which path serves each
 * (doc/design.md: kinds of target), and finds their memory.
 *
 *   this process itself                          mapped
 *   another node, or packets asked for           packets, or rdma: target_set_path
 *   same node, memory it can map                 mapped
 *   same node, other memory that it can attach   mapped
 *   same node, any other memory                  kernel-assisted
 *   the same, but the kernel refuses it          packets, for all of the window
 *
 * Each process decides once whether its own memory can be mapped, and tells this in its notice
 * (win_own_path); a pair only has to find out whether the kernel lets one reach the other.
 * MPIRMA_PATH forces one where it is possible and is an error where it is not. Synchronization goes
 * through shared memory exactly for targets whose path is neither packets nor rdma: these are the
 * memory peers. That relation is symmetric, so they are the same set at all its members. Targets on
 * other nodes are not made here: remote.c. Locks: the engine's, for peers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/create/win_create.h"
#include "rma/notify/notify.h"
#include "rma/origin/pair.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/deferred.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/path/stage.h"
#include "rma/target/target.h"
#include "rma/win/first_number.h"
#include "rma/win/path_ops.h"
#include "rma/win/region.h"
#include "rma/win/remote.h"

static const struct rma_mem_loc nowhere;

static bool is_somewhere(const struct rma_mem_loc *loc)
{
    return memcmp(loc, &nowhere, sizeof nowhere) != 0;
}

enum rma_path win_own_path(const struct win *w, const struct rma_notice *notice)
{
    const enum conf_path forced = w->rma->conf->path;
    const bool mappable = is_somewhere(&notice->mem) || notice->exported ||
                          w->flavor == WIN_ALLOCATE_SHARED || (!w->size && !w->dynamic);
    if (forced == CONF_PATH_SHM_PACKETS || forced == CONF_PATH_NET_PACKETS)
        return PATH_PACKETS;
    return mappable && forced != CONF_PATH_ASSISTED ? PATH_MAPPED : PATH_ASSISTED;
}

/* The path for a peer on this node, or an error (negative). */
static int choose(const struct win *w, const struct rma_notice *notice, const struct rma_peer *peer,
                  struct win_plan *plan)
{
    const struct log *log = w->rma->log;
    const enum conf_path forced = w->rma->conf->path;
    /* Memory that is attached to a dynamic window may need the kernel later (path/xpmem_path.c). */
    if (notice->path != PATH_ASSISTED &&
        (notice->path != PATH_MAPPED || !w->dynamic || peer->assisted)) {
        plan->unattached |= notice->exported && !peer->attachable;
        return plan->packets_only ? PATH_PACKETS : (int)notice->path;
    }
    if (forced == CONF_PATH_MAPPED)
        return -log_fail(
            log, MRMA_ERR_RMA_FLAVOR,
            "MPIRMA_PATH=mapped is not possible: the window's memory at process %d is not shared "
            "(use MPI_Win_allocate or memory from MPI_Alloc_mem)",
            peer->pid);
    if (peer->assisted && !plan->packets_only)
        return PATH_ASSISTED;
    if (forced == CONF_PATH_ASSISTED)
        return -log_fail(log, MRMA_ERR_RMA_FLAVOR,
                         "MPIRMA_PATH=cma is not possible: cross-memory attach to process %d: %s",
                         peer->pid, strerror(peer->assisted_errno));
    plan->refused |= !plan->packets_only; /* otherwise it is known already */
    return PATH_PACKETS;
}

/* attach_memory attaches what the process of t has exported; if that fails, all processes are told
 * (plan->unattached). */
static void attach_memory(const struct win *w, struct rma_target *t,
                          const struct rma_notice *notice, struct win_plan *plan, void **at)
{
    const struct rma_env *env = w->rma->env;
    const struct rma_exported mem = {notice->segment, notice->vaddr, t->size};
    if (!env->attach || !t->peer->attachable ||
        env->attach->attach(env->ctx, t->peer, &mem, t, at, &t->created.attachment) != MRMA_SUCCESS)
        plan->unattached = true;
}

static int reach_memory(struct win *w, struct rma_target *t, const struct rma_notice *notice,
                        struct win_plan *plan)
{
    struct rma_env *env = w->rma->env;
    void *at = NULL;
    int err = MRMA_SUCCESS;
    if (t->peer->self)
        at = w->base;
    else if (is_somewhere(&notice->mem))
        err = env->mem_map(env->ctx, &notice->mem, &at, &t->created.map_handle);
    else if (notice->segment)
        attach_memory(w, t, notice, plan, &at);
    t->attaches = w->dynamic && t->path == PATH_MAPPED && !t->peer->self;
    if (err)
        return err;
    if (w->flavor != WIN_ALLOCATE_SHARED)
        t->shared_base = at;
    if (t->path == PATH_MAPPED && !w->dynamic && t->shared_base) {
        t->base = t->shared_base;
        atomic_init(&t->fast_size, t->size);
        atomic_init(&t->fast_units, t->size / t->disp_unit);
    }
    return MRMA_SUCCESS;
}

/* notice_of returns what the process of t tells of its part of w. */
static const struct rma_notice *notice_of(const struct win *w, const struct rma_target *t)
{
    return &t->peer->notices[record_of(w, t->rank).slot];
}

/* reach_control finds the control block of t. me is this process's index among the processes of the
 * node, its is the target's. */
static int reach_control(struct win *w, struct rma_target *t, int its, int me)
{
    struct rma_env *env = w->rma->env;
    void *at = w->ctl;
    int err = MRMA_SUCCESS;
    if (!t->peer->self)
        err = env->mem_map(env->ctx, &notice_of(w, t)->ctl, &at, &t->created.ctl_handle);
    if (err)
        return err;
    t->ctl = at;
    t->out = &t->ctl->slots[me].signals;
    t->in = &w->ctl->slots[its].signals;
    stage_attach(t, w->ctl, w->created.nslots, me, its);
    notify_attach(w, t, me, its);
    return w->dynamic ? region_open(w, t) : MRMA_SUCCESS;
}

/* take_part is for MPI_Win_allocate_shared, where all know the part of t, whatever the path. */
static void take_part(struct rma_target *t, const struct win_plan *plan)
{
    const struct win_part *part = &plan->parts[t->rank];
    t->vaddr = part->vaddr;
    t->shared_base = t->size ? plan->segment_base + part->offset : NULL;
}

static int connect_target(struct win *w, struct rma_target *t, struct win_plan *plan)
{
    struct rma_env *env = w->rma->env;
    int err = env->peer_get(env->ctx, record_proc(w, t->rank), true, &t->peer);
    if (err)
        return err;
    const struct rma_notice *notice = t->peer->self ? plan->notice : notice_of(w, t);
    target_describe(w, t);
    if (notice->gen != t->remote_gen)
        return log_fail(w->rma->log, MRMA_ERR_INTERN, "rank %d says nothing of window %u", t->rank,
                        w->index);
    t->vaddr = notice->vaddr;
    if (w->flavor == WIN_ALLOCATE_SHARED)
        take_part(t, plan);
    const int path = t->peer->self ? PATH_MAPPED : choose(w, notice, t->peer, plan);
    if (path < 0)
        return -path;
    if (path != PATH_MAPPED)
        err = env->peer_connect(env->ctx, t->peer);
    target_set_path(w, t, (enum rma_path)path);
    t->in = &t->signals;
    if (!err && (path != PATH_PACKETS || !plan->packets_only))
        err = reach_memory(w, t, notice, plan);
    return err ? err : target_table_put(&w->targets, t->rank, t);
}

/* make_local makes the targets of this node, and room for the ranks of the memory peers. */
static int make_local(struct win *w)
{
    int n = 0;
    for (int i = 0; i < w->nproc; i++)
        n += win_on_node(w, i, record_proc(w, i));
    w->local = aligned_alloc(MRMA_CACHE_LINE, (size_t)n * sizeof *w->local);
    w->memory_ranks = malloc((size_t)n * sizeof *w->memory_ranks);
    if (!w->local || !w->memory_ranks)
        return MRMA_ERR_NO_MEM;
    for (int i = 0; i < w->nproc; i++)
        if (win_on_node(w, i, record_proc(w, i)))
            w->local[w->nlocal++] = (struct rma_target){.rank = i};
    for (int i = 0; i < w->nlocal; i++)
        first_number_target(w, &w->local[i]);
    return MRMA_SUCCESS;
}

static bool shares_memory(const struct rma_target *t)
{
    return t->path == PATH_MAPPED || t->path == PATH_ASSISTED;
}

static void list_direct(struct win *w)
{
    w->nmemory = 0;
    w->has_assisted = false;
    for (int i = 0; i < w->nlocal; i++) {
        const struct rma_target *t = &w->local[i];
        if (!shares_memory(t))
            continue;
        if (t->rank == w->rank)
            w->memory_me = w->nmemory;
        w->has_assisted |= t->path == PATH_ASSISTED;
        w->memory_ranks[w->nmemory++] = t->rank;
    }
    w->npackets = w->nproc - w->nmemory;
}

/* find_row looks whether the ranks of this node are consecutive, as they mostly are: then no table
 * is needed to find them. */
static void find_row(struct win *w)
{
    w->row_first = w->local[0].rank;
    while (w->row_len < (unsigned)w->nlocal &&
           w->local[w->row_len].rank == w->row_first + (int)w->row_len)
        w->row_len++;
}

static int connect_control(struct win *w)
{
    int me = 0, err = MRMA_SUCCESS;
    while (w->local[me].rank != w->rank)
        me++;
    for (int i = 0; !err && i < w->nlocal; i++)
        if (shares_memory(&w->local[i]))
            err = reach_control(w, &w->local[i], i, me);
    return err;
}

/* connect_origins connects to the processes whose memory is mapped here, since they may send
 * packets (assisted.c), which are answered. */
static int connect_origins(struct win *w)
{
    struct rma_env *env = w->rma->env;
    int err = MRMA_SUCCESS;
    for (int i = 0; !err && i < w->nlocal; i++)
        if (w->local[i].path == PATH_MAPPED && !w->local[i].peer->self)
            err = env->peer_connect(env->ctx, w->local[i].peer);
    return err;
}

int win_make_targets(struct win *w, struct win_plan *plan)
{
    plan->refused = plan->unattached = false;
    int err = make_local(w);
    if (!err && w->nlocal > w->created.nslots) {
        plan->slots = w->nlocal;
        return MRMA_AGAIN;
    }
    for (int i = 0; !err && i < w->nlocal; i++)
        err = connect_target(w, &w->local[i], plan);
    if (err)
        return err;
    find_row(w);
    list_direct(w);
    w->assisted = plan->notice->path == PATH_ASSISTED && !plan->packets_only;
    if (w->assisted)
        err = connect_origins(w);
    if (!err)
        err = connect_control(w);
    if (!err)
        err = notify_begin(w);
    if (!err)
        w->lead = win_peek(w, w->memory_ranks[0])->ctl;
    sync_first_arrivals(&w->ctl->sync, w->first_number, w->nmemory);
    w->acc_way = (uint8_t)acc_atomic_way(w);
    return err;
}

static void drop_target(struct win *w, struct rma_target *t)
{
    struct rma_env *env = w->rma->env;
    if (w->queued && t->peer) /* there may be some after a peer has died */
        ch3_vc_drop(&t->peer->vc, &w->queued);
    deferred_drop(t);
    joint_drop(w, t);
    assisted_drop(t);
    origin_pair_free(t);
    target_free_origin(t);
    notify_detach(t);
    region_close(w, t);
    if (t->created.map_handle)
        env->mem_unmap(env->ctx, t->created.map_handle);
    if (t->created.ctl_handle)
        env->mem_unmap(env->ctx, t->created.ctl_handle);
    if (t->created.attachment)
        env->attach->detach(env->ctx, t->created.attachment, false);
    if (t->attaches)
        env->attach->detach_group(env->ctx, t, NULL, NULL);
    if (t->peer && !t->created.peer_kept)
        env->peer_put(env->ctx, t->peer);
}

void win_free_targets(struct win *w)
{
    struct list_node *node;
    while ((node = list_pop_front(&w->remote)) != NULL) {
        struct rma_target *t = LIST_ENTRY(node, struct rma_target, remote_link);
        drop_target(w, t);
        free(t);
    }
    for (int i = 0; i < w->nlocal; i++)
        drop_target(w, &w->local[i]);
    joint_unmap(w->rma);
    target_table_clear(&w->targets);
    free(w->local);
    free(w->memory_ranks);
    w->local = NULL;
    w->memory_ranks = NULL;
    notify_end(w);
    w->nlocal = 0;
    w->row_len = 0;
}
