/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_table.h - from a rank to its target: two levels, pages of ranks made on
 * first use.
 *
 * Invariants
 * - Every rank below nproc has an entry. An unused one is target_none, which is not accessible in
 *   any epoch, and has no control block, no memory and no peer; so code that looks at an entry
 *   without making its target needs no test for NULL. Nobody writes to target_none.
 * - An entry changes once, from target_none to its target, under the engine's
 *   lock; it is read without (release, acquire).
 * The table owns its pages, not the targets.
 */
#ifndef MRMA_RMA_WIN_TARGET_TABLE_H
#define MRMA_RMA_WIN_TARGET_TABLE_H

#include "base/atomic.h"

struct rma_target;

enum { TARGET_PAGE_SHIFT = 6, TARGET_PAGE = 1 << TARGET_PAGE_SHIFT };

typedef _Atomic(struct rma_target *) target_slot;

struct target_table {
    _Atomic(target_slot *) *pages;
    int nproc;
};

/* target_table_init makes a table for ranks below nproc, all of which have target_none. Returns
 * MRMA_SUCCESS, or MRMA_ERR_NO_MEM; target_table_fini may follow in both cases. */
int target_table_init(struct target_table *tt, int nproc);

/* target_table_fini frees the pages of the table, not the targets. Nothing happens for a table that
 * is all zero. */
void target_table_fini(struct target_table *tt);

/* target_table_clear makes all entries target_none again, while nobody else looks. The targets are
 * not freed. */
void target_table_clear(struct target_table *tt);

/* target_table_get returns the target of rank, or target_none. Any thread, with or without the
 * engine's lock. */
static inline struct rma_target *target_table_get(const struct target_table *tt, int rank)
{
    target_slot *page =
        atomic_load_explicit(&tt->pages[(unsigned)rank >> TARGET_PAGE_SHIFT],
                             memory_order_acquire); /* pairs with target_table_put */
    return atomic_load_explicit(&page[rank & (TARGET_PAGE - 1)], memory_order_acquire);
}

/* target_table_put enters the target of a rank that has none. MRMA_ERR_NO_MEM: no page for it.
 * Under the engine's lock. */
int target_table_put(struct target_table *tt, int rank, struct rma_target *t);

#endif
