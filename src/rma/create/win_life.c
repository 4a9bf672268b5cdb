/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_life.c - the life of a window's structure: it is made, entered under an index, and freed in
 * order (MPI_Win_free) or dropped with everything that belongs to it. Locks: the engine's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/notify/notify_words.h"
#include "rma/origin/pair.h"
#include "rma/strict/strict.h"
#include "rma/sync/barrier.h"
#include "rma/sync/fence_counts.h"
#include "rma/sync/sync.h"
#include "rma/target/attach.h"
#include "rma/target/target.h"
#include "rma/win/ctl_blocks.h"
#include "rma/win/region.h"
#include "rma/create/abandoned.h"
#include "rma/create/win_create.h"

int win_take_place(struct win *w)
{
    struct rma *r = w->rma;
    uint32_t i = 0;
    rma_enter(r);
    while (i < r->nwins && r->wins[i])
        i++;
    if (i > WIN_INDEX_MAX) {
        rma_leave(r);
        return MRMA_ERR_NO_MEM;
    }
    if (i == r->nwins) {
        const uint32_t n = r->nwins ? 2 * r->nwins : 16;
        struct win **wins = calloc(n, sizeof(struct win *));
        uint32_t *gens = calloc(n, sizeof *gens);
        if (!wins || !gens) {
            free(wins);
            free(gens);
            rma_leave(r);
            return MRMA_ERR_NO_MEM;
        }
        if (r->nwins) {
            memcpy(wins, r->wins, r->nwins * sizeof *wins);
            memcpy(gens, r->win_gens, r->nwins * sizeof *gens);
        }
        free(r->wins);
        free(r->win_gens);
        r->wins = wins;
        r->win_gens = gens;
        r->nwins = n;
    }
    r->wins[i] = w;
    w->index = i;
    w->index_gen = r->win_gens[i] = ++r->last_gen;
    rma_leave(r);
    return MRMA_SUCCESS;
}

struct win *win_new(struct rma *r, const struct win_spec *spec)
{
    const int n = spec->boot->nproc;
    struct win *w = aligned_alloc(MRMA_CACHE_LINE, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct win){.rma = r,
                      .gen = 1,
                      .rank = spec->boot->rank,
                      .nproc = n,
                      .flavor = spec->flavor,
                      .hints = spec->hints,
                      .size = spec->size,
                      .disp_unit = spec->disp_unit,
                      .dynamic = spec->flavor == WIN_DYNAMIC,
                      .first_number = r->env->first_number,
                      .phase = r->env->first_number,
                      .phase_ended = r->env->first_number - 1,
                      .start_count = r->env->first_number};
    sync_first_win(&w->sync, w->first_number);
    w->base = spec->flavor == WIN_CREATE ? spec->base : NULL;
    const int bound = r->env->node_procs_bound;
    w->created.nslots = bound > 0 && bound < n ? bound : n;
    list_init(&w->remote);
    origin_window_init(w);
    target_init(w);
    return w;
}

void win_delete(struct win *w)
{
    struct rma *r = w->rma;
    struct rma_env *env = r->env;
    notify_words_end(w);
    if (w->abandoned)
        abandoned_keep(w);
    strict_free(w);
    fence_counts_free(w);
    win_free_targets(w);
    records_drop(w);
    if (w->index_gen)
        r->wins[w->index] = NULL;
    if (w->created.net_mem.channel) /* no peer may reach its memory any more */
        ch3_mem_release(w->created.net_mem.channel, w->created.net_mem.mem);
    target_regions_end(w);
    region_drop_all(w);
    if (!w->abandoned) {
        region_close_own(w->rma, w->regions);
        ctl_blocks_give(r, w->ctl);
        if (w->created.owned)
            env->mem_free(env->ctx, w->created.owned);
        if (w->created.exported)
            env->attach->remove(env->ctx, w->created.exported);
    }
    if (w->created.segment)
        env->mem_unmap(env->ctx, w->created.segment);
    target_table_fini(&w->targets);
    pscw_fini(w);
    free(w);
}

int win_free_begin(struct win *w)
{
    if (!win_has_lost(w) && !epoch_allows(&w->epoch, EPOCH_EV_FREE))
        return MRMA_ERR_RMA_SYNC;
    const int err = barrier_free(w);
    w->abandoned = err == MRMA_ERR_PROC_FAILED;
    return err;
}

void win_free_end(struct win *w)
{
    struct rma *r = w->rma;
    struct rma_env *env = r->env;
    const bool abandoned = w->abandoned;
    rma_enter(r);
    if (abandoned && epoch_is_passive(&w->epoch))
        r->passive--;
    win_delete(w);
    abandoned_sweep(r);
    if (abandoned && env->peers_sweep)
        env->peers_sweep(env->ctx);
    rma_leave(r);
}
