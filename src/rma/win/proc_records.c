/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc_records.c - see proc_records.h. Locks: the engine's around every change of the records when
 * they are kept, since handlers read them.
 */
#include "rma/win/proc_records.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/win/proc_table.h"
#include "rma/win/win.h"

bool records_are_there(const struct win *w)
{
    return w->records.all || w->records.same;
}

struct win_record record_of(const struct win *w, int rank)
{
    struct win_record part;
    if (w->records.all)
        return w->records.all[rank];
    part = w->records.part;
    part.place = (uint32_t)rank;
    return part;
}

const struct rma_proc_record *record_proc(const struct win *w, int rank)
{
    const struct win_records *r = &w->records;
    if (!r->table)
        return w->rma->env->record;
    return proc_table_at(r->table, r->all ? (int)r->all[rank].place : rank);
}

struct rma_net_key record_key(const struct win *w, int rank)
{
    return w->records.keys ? w->records.keys[rank] : (struct rma_net_key){.vaddr = 0};
}

/* wants_copy returns whether the node keeps one copy of the window's parts for all of its
 * processes. */
static bool wants_copy(const struct win *w)
{
    return w->npackets && w->nmemory > 1 && !w->records.gathered.shared;
}

/* The copy has the parts, unless all are the same, and behind them the keys, if there are any. */
static size_t copy_bytes(const struct win *w)
{
    const struct win_records *r = &w->records;
    const size_t n = (size_t)w->nproc;
    return (r->same ? 0 : n * sizeof *r->all) + (r->keys ? n * sizeof *r->keys : 0);
}

static int publish_parts(struct win *w, size_t bytes)
{
    struct rma_env *env = w->rma->env;
    struct win_records *r = &w->records;
    const size_t parts = r->same ? 0 : (size_t)w->nproc * sizeof *r->all;
    int err = env->mem_alloc(env->ctx, bytes, MRMA_CACHE_LINE, &r->own);
    if (err)
        return err;
    if (parts)
        memcpy(r->own, r->all, parts);
    if (r->keys)
        memcpy((char *)r->own + parts, r->keys, bytes - parts);
    return env->mem_find(env->ctx, r->own, bytes, &w->ctl->records) ? MRMA_SUCCESS
                                                                    : MRMA_ERR_INTERN;
}

int records_publish(struct win *w, bool new_table)
{
    const size_t bytes = copy_bytes(w);
    if (!wants_copy(w) || w->memory_me != 0)
        return MRMA_SUCCESS;
    int err = bytes ? publish_parts(w, bytes) : MRMA_SUCCESS;
    if (!err && new_table)
        err = proc_table_share(w->rma, w->records.table);
    if (!err && new_table)
        w->ctl->processes = w->records.table->where;
    return err;
}

static void give_back_gathered(struct win *w)
{
    boot_release(&w->records.gathered);
    free(w->records.own_keys);
    w->records.own_keys = NULL;
}

/* at: the node's copy. */
static void use_copy(struct win *w, void *at)
{
    struct win_records *r = &w->records;
    rma_enter(w->rma);
    r->all = r->same ? NULL : at;
    if (r->keys)
        r->keys = (const void *)((char *)at + (r->same ? 0 : (size_t)w->nproc * sizeof *r->all));
    rma_leave(w->rma);
    give_back_gathered(w);
}

static void keep_parts(struct win *w)
{
    struct rma_env *env = w->rma->env;
    void *at = w->records.own;
    if (!wants_copy(w) || !copy_bytes(w)) {
        if (w->records.same) {
            rma_enter(w->rma);
            w->records.all = NULL;
            rma_leave(w->rma);
            boot_release(&w->records.gathered);
        }
        return;
    }
    if (!at && env->mem_map(env->ctx, &w->lead->records, &at, &w->records.mapped) != MRMA_SUCCESS)
        log_msg(w->rma->log, LOG_LEVEL_WARN,
                "window %u: the node's records cannot be mapped, this process keeps its own",
                w->index);
    else
        use_copy(w, at);
}

void records_keep(struct win *w, bool new_table, uint64_t communicator)
{
    static const struct rma_mem_loc nowhere;
    struct proc_table *t = w->records.table;
    if (t && new_table && wants_copy(w) && w->memory_me != 0 &&
        memcmp(&w->lead->processes, &nowhere, sizeof nowhere) != 0)
        proc_table_map(w->rma, t, &w->lead->processes);
    if (t)
        proc_table_enter(w->rma, t, communicator);
    if (w->npackets) {
        keep_parts(w);
        return;
    }
    rma_enter(w->rma); /* all targets are made */
    records_drop(w);
    rma_leave(w->rma);
}

void records_unpublish(struct win *w)
{
    struct rma_env *env = w->rma->env;
    if (w->records.own)
        env->mem_free(env->ctx, w->records.own);
    w->records.own = NULL;
}

void records_close(struct win *w)
{
    w->records.all = NULL;
    w->records.keys = NULL;
    w->records.same = false;
}

void records_drop(struct win *w)
{
    struct rma_env *env = w->rma->env;
    records_close(w);
    give_back_gathered(w);
    if (w->records.mapped)
        env->mem_unmap(env->ctx, w->records.mapped);
    w->records.mapped = NULL;
    records_unpublish(w);
    if (w->records.table)
        proc_table_leave(w->rma, w->records.table);
    w->records.table = NULL;
}

bool win_on_node(const struct win *w, int rank, const struct rma_proc_record *proc)
{
    struct rma_env *env = w->rma->env;
    const int k = w->rma->conf->ranks_per_node;
    return rank == w->rank ||
           ((!k || rank / k == w->rank / k) && env->record_same_node(env->ctx, proc));
}
