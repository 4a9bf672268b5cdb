/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc_table.h - the processes that this one knows: what each has told of itself (struct
 * rma_proc_record), kept from one creation of a window to the next, so that it is sent once.
 *
 * A table has the processes of one creation, this one among them, in the order of their ranks. It
 * is made by a creation in which some process did not know another one (create/win_exchange.c), and
 * serves all later windows whose processes are all in it. A node has one copy of its records, in a
 * segment of its own that lives while anybody has it mapped; a process that is alone on its node,
 * or whose window has no target on another node, has its own copy.
 *
 * The number of a table follows from its processes. A process that announces a number has the table
 * and is in it; so if all processes announce the same number they all know each other, and need not
 * ask.
 *
 * Tables that windows use are kept, and of the others the PROC_TABLES_KEPT that were used last. So
 * processes that come and go leave behind a bounded number of tables. Locks: the engine's around
 * the list; the records of a table do not change once it is in there.
 */
#ifndef MRMA_RMA_WIN_PROC_TABLE_H
#define MRMA_RMA_WIN_PROC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "boot/boot.h"
#include "rma/env.h"

struct rma;

enum { PROC_TABLES_KEPT = 8 };

struct proc_table {
    struct list_node link; /* in rma->tables, which begins with the table that was used last */
    uint64_t number;       /* not 0 */
    uint64_t communicator; /* boot.communicator of the creation that made or used it last */
    int n;
    bool addressed;   /* each record says how the network reaches its process */
    unsigned windows; /* how many windows use it, those that are being created included */
    const char *first;
    size_t stride; /* bytes from a record to the next */
    /* Where the records are: one of these. */
    struct boot_records gathered;
    void *own;                /* of malloc */
    void *segment;            /* handle of the segment with the node's copy, or NULL */
    struct rma_mem_loc where; /* where that copy is, set by the process that has made it */
};

/* proc_table_at returns the record of the i-th process. */
static inline const struct rma_proc_record *proc_table_at(const struct proc_table *t, int i)
{
    return (const void *)(t->first + (size_t)i * t->stride);
}

/* proc_table_set_number numbers the table by its processes, which must be in it. */
void proc_table_set_number(struct proc_table *t);

/* proc_tables_announce returns the table that this process announces in a creation on the
 * communicator with that number, and counts one use of the table. It is the table that was last
 * used on that communicator, else the one with the most processes. NULL: this process has no table.
 * Takes the engine's lock. */
struct proc_table *proc_tables_announce(struct rma *r, uint64_t communicator);

/* proc_table_enter puts a table that a creation has made into the list. The creation's use of the
 * table is counted already. Takes the engine's lock. */
void proc_table_enter(struct rma *r, struct proc_table *t, uint64_t communicator);

/* proc_table_leave ends one use. If the table is not in the list and has no other use, it is freed.
 * Under the engine's lock. */
void proc_table_leave(struct rma *r, struct proc_table *t);

/* proc_table_share replaces this process's own copy of the records by one in a segment for the
 * node; t->where says where it is. Returns the errors of env->segment_create, after which t is as
 * it was. */
int proc_table_share(struct rma *r, struct proc_table *t);

/* proc_table_map replaces this process's own copy of the records by the node's, which is at where.
 * If that cannot be mapped, which is logged, this process keeps its own copy. */
void proc_table_map(struct rma *r, struct proc_table *t, const struct rma_mem_loc *where);

/* proc_tables_find returns the record of the process with this number in any table; NULL: none has
 * it. It searches all tables: an index would take memory for every process of the job in every
 * process, and the function is called only when the first message of a process comes. Under the
 * engine's lock.
 */
const struct rma_proc_record *proc_tables_find(const struct rma *r, uint64_t uid);

/* proc_tables_fini frees all tables. No window uses any table then. Under the engine's lock. */
void proc_tables_fini(struct rma *r);

#endif
