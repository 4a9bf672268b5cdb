/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_table.c - see target_table.h. A page is no longer than there are ranks for it, so a small
 * window has a small page.
 */
#include "rma/win/target_table.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/win/win.h"

static const struct rma_target target_none;

#define NONE1 (struct rma_target *)&target_none
#define NONE4 NONE1, NONE1, NONE1, NONE1
#define NONE16 NONE4, NONE4, NONE4, NONE4
static const target_slot no_page[TARGET_PAGE] = {NONE16, NONE16, NONE16, NONE16};

static int pages_of(int nproc)
{
    return (int)(((unsigned)nproc + TARGET_PAGE - 1) >> TARGET_PAGE_SHIFT);
}

static target_slot *unused_page(void)
{
    return (target_slot *)no_page;
}

int target_table_init(struct target_table *tt, int nproc)
{
    const int n = pages_of(nproc);
    tt->nproc = nproc;
    tt->pages = malloc((size_t)n * sizeof *tt->pages);
    if (!tt->pages)
        return MRMA_ERR_NO_MEM;
    for (int i = 0; i < n; i++)
        atomic_init(&tt->pages[i], unused_page());
    return MRMA_SUCCESS;
}

void target_table_clear(struct target_table *tt)
{
    for (int i = 0; tt->pages && i < pages_of(tt->nproc); i++) {
        target_slot *page = atomic_load_explicit(&tt->pages[i], memory_order_relaxed);
        atomic_store_explicit(&tt->pages[i], unused_page(), memory_order_relaxed);
        if (page != unused_page())
            free(page);
    }
}

void target_table_fini(struct target_table *tt)
{
    target_table_clear(tt);
    free(tt->pages);
    tt->pages = NULL;
}

static target_slot *new_page(struct target_table *tt, int index)
{
    const int left = tt->nproc - index * TARGET_PAGE, n = left < TARGET_PAGE ? left : TARGET_PAGE;
    target_slot *page = malloc((size_t)n * sizeof *page);
    for (int i = 0; page && i < n; i++)
        atomic_init(&page[i], NONE1);
    if (page)
        atomic_store_explicit(&tt->pages[index], page,
                              memory_order_release); /* pairs with target_table_get */
    return page;
}

int target_table_put(struct target_table *tt, int rank, struct rma_target *t)
{
    const int index = rank >> TARGET_PAGE_SHIFT;
    target_slot *page = atomic_load_explicit(&tt->pages[index], memory_order_relaxed);
    if (page == unused_page())
        page = new_page(tt, index);
    if (!page)
        return MRMA_ERR_NO_MEM;
    atomic_store_explicit(&page[rank & (TARGET_PAGE - 1)], t,
                          memory_order_release); /* pairs with target_table_get */
    return MRMA_SUCCESS;
}
