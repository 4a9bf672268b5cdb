/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc_records.c - see proc_records.h. Locks: the engine's around every change of
 * w->records.all, which handlers read.
 */
#include "rma/win/proc_records.h"

#include <string.h>

#include "base/err.h"
#include "rma/win/win.h"

static void use(struct win *w, const struct win_record *all)
{
    rma_enter(w->rma);
    w->records.all = all;
    rma_leave(w->rma);
}

int records_gather(struct win *w, struct boot *boot, const struct win_record *mine)
{
    struct boot_records *g = &w->records.gathered;
    const bool again = w->records.all != NULL;
    use(w, NULL);
    int err = again ? boot_gather_again(boot, mine, sizeof *mine, g)
                    : boot_gather(boot, mine, sizeof *mine, g);
    use(w, g->all);
    return err;
}

struct win_record *records_to_complete(struct win *w)
{
    return w->records.gathered.shared ? NULL : w->records.gathered.handle;
}

/* Does the node need a copy of its own? */
static bool wants_copy(const struct win *w)
{
    return w->npackets && w->nmemory > 1 && !w->records.gathered.shared;
}

int records_publish(struct win *w)
{
    struct rma_env *env = w->rma->env;
    const size_t bytes = (size_t)w->nproc * sizeof *w->records.all;
    if (!wants_copy(w) || w->memory_me != 0)
        return MRMA_SUCCESS;
    int err = env->mem_alloc(env->ctx, bytes, MRMA_CACHE_LINE, &w->records.own);
    if (err)
        return err;
    memcpy(w->records.own, w->records.all, bytes);
    return env->mem_find(env->ctx, w->records.own, bytes, &w->ctl->records) ? MRMA_SUCCESS
                                                                            : MRMA_ERR_INTERN;
}

void records_keep(struct win *w)
{
    struct rma_env *env = w->rma->env;
    void *at = w->records.own;
    rma_enter(w->rma);
    w->records.complete = true;
    rma_leave(w->rma);
    if (w->npackets && !wants_copy(w))
        return;
    if (w->npackets && !at) {
        int err = env->mem_map(env->ctx, &w->lead->records, &at, &w->records.mapped);
        if (err) {
            log_msg(w->rma->log, LOG_LEVEL_WARN,
                    "window %u: the node's records cannot be mapped, this process keeps its own",
                    w->index);
            return;
        }
    }
    use(w, at);
    boot_release(&w->records.gathered);
}

void records_unpublish(struct win *w)
{
    struct rma_env *env = w->rma->env;
    if (w->records.own)
        env->mem_free(env->ctx, w->records.own);
    w->records.own = NULL;
}

void records_drop(struct win *w)
{
    struct rma_env *env = w->rma->env;
    w->records.all = NULL;
    boot_release(&w->records.gathered);
    if (w->records.mapped)
        env->mem_unmap(env->ctx, w->records.mapped);
    w->records.mapped = NULL;
    records_unpublish(w);
}

bool win_on_node(const struct win *w, int rank)
{
    struct rma_env *env = w->rma->env;
    const int k = w->rma->conf->ranks_per_node;
    return rank == w->rank || ((!k || rank / k == w->rank / k) &&
                               env->record_same_node(env->ctx, &w->records.all[rank].proc));
}
