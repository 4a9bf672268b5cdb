/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc_table.c - see proc_table.h. Locks: the engine's around the list.
 */
#include "rma/win/proc_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/win/win.h"

/* The order counts: two communicators of the same processes may have two tables. Each step is
 * one-to-one in what has come before, so tables of one length that differ in one process never
 * have the same number. */
void proc_table_set_number(struct proc_table *t)
{
    uint64_t number = (uint64_t)t->n;
    for (int i = 0; i < t->n; i++) {
        number = (number ^ proc_table_at(t, i)->uid) * UINT64_C(0x9e3779b97f4a7c15);
        number ^= number >> 29;
    }
    t->number = number ? number : 1;
}

static void drop_copy(struct rma *r, struct proc_table *copy)
{
    boot_release(&copy->gathered);
    free(copy->own);
    if (copy->segment)
        r->env->mem_unmap(r->env->ctx, copy->segment);
}

/* Handlers may look into the table, so the change is under the engine's lock. */
static void use_segment(struct rma *r, struct proc_table *t, const void *base, void *segment)
{
    struct proc_table before;
    rma_enter(r);
    before = *t;
    t->gathered = (struct boot_records){.all = NULL};
    t->own = NULL;
    t->segment = segment;
    t->first = base;
    t->stride = sizeof(struct rma_proc_record);
    rma_leave(r);
    drop_copy(r, &before);
}

static void free_table(struct rma *r, struct proc_table *t)
{
    if (list_node_queued(&t->link))
        list_remove(&t->link);
    drop_copy(r, t);
    free(t);
}

/* sweep frees the tables that no window uses, except for the few that were used last. */
static void sweep(struct rma *r)
{
    int unused = 0;
    LIST_EACH_SAFE (node, &r->tables) {
        struct proc_table *t = LIST_ENTRY(node, struct proc_table, link);
        if (!t->windows && ++unused > PROC_TABLES_KEPT)
            free_table(r, t);
    }
}

struct proc_table *proc_tables_announce(struct rma *r, uint64_t communicator)
{
    struct proc_table *best = NULL;
    rma_enter(r);
    LIST_EACH (node, &r->tables) {
        struct proc_table *t = LIST_ENTRY(node, struct proc_table, link);
        if (communicator && t->communicator == communicator) {
            best = t;
            break;
        }
        if (!best || t->n > best->n)
            best = t;
    }
    if (best)
        best->windows++;
    rma_leave(r);
    return best;
}

void proc_table_enter(struct rma *r, struct proc_table *t, uint64_t communicator)
{
    rma_enter(r);
    if (list_node_queued(&t->link))
        list_remove(&t->link);
    t->communicator = communicator;
    list_push_front(&r->tables, &t->link);
    sweep(r);
    rma_leave(r);
}

void proc_table_leave(struct rma *r, struct proc_table *t)
{
    if (--t->windows == 0 && !list_node_queued(&t->link))
        free_table(r, t);
}

int proc_table_share(struct rma *r, struct proc_table *t)
{
    struct rma_env *env = r->env;
    const size_t bytes = (size_t)t->n * sizeof(struct rma_proc_record);
    void *base, *segment;
    if (t->segment)
        return MRMA_SUCCESS;
    int err = env->segment_create(env->ctx, bytes, &base, &segment, &t->where);
    if (err)
        return err;
    err = env->segment_commit(env->ctx, segment, 0, bytes);
    if (err) {
        env->mem_unmap(env->ctx, segment);
        return err;
    }
    for (int i = 0; i < t->n; i++)
        memcpy((char *)base + (size_t)i * sizeof(struct rma_proc_record), proc_table_at(t, i),
               sizeof(struct rma_proc_record));
    use_segment(r, t, base, segment);
    return MRMA_SUCCESS;
}

void proc_table_map(struct rma *r, struct proc_table *t, const struct rma_mem_loc *where)
{
    struct rma_env *env = r->env;
    void *base, *segment;
    if (env->mem_map(env->ctx, where, &base, &segment) != MRMA_SUCCESS) {
        log_msg(r->log, LOG_LEVEL_WARN,
                "the node's records of %d processes cannot be mapped, this process keeps its own",
                t->n);
        return;
    }
    use_segment(r, t, base, segment);
}

const struct rma_proc_record *proc_tables_find(const struct rma *r, uint64_t uid)
{
    LIST_EACH (node, &r->tables) {
        const struct proc_table *t = LIST_ENTRY(node, struct proc_table, link);
        for (int i = 0; i < t->n; i++)
            if (proc_table_at(t, i)->uid == uid)
                return proc_table_at(t, i);
    }
    return NULL;
}

void proc_tables_fini(struct rma *r)
{
    LIST_EACH_SAFE (node, &r->tables)
        free_table(r, LIST_ENTRY(node, struct proc_table, link));
}
