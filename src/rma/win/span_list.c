/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span_list.c - see span_list.h. The list is an array, in which a look-up halves what is left.
 */
#include "rma/win/span_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* first_behind returns the index of the first span that ends behind addr. */
static uint32_t first_behind(const struct span_list *list, uint64_t addr)
{
    uint32_t lo = 0, hi = list->n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (list->at[mid]->addr + (list->at[mid]->len - 1) >= addr)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

struct span *span_list_find(const struct span_list *list, uint64_t addr)
{
    const uint32_t at = first_behind(list, addr);
    return at < list->n && list->at[at]->addr <= addr ? list->at[at] : NULL;
}

int span_list_add(struct span_list *list, struct span *span)
{
    const uint32_t at = first_behind(list, span->addr);
    const uint64_t last = span->addr + (span->len - 1);
    if (!span->len || last < span->addr || (at < list->n && list->at[at]->addr <= last))
        return MRMA_ERR_RMA_ATTACH;
    if (list->n == list->room) {
        const uint32_t room = list->room ? 2 * list->room : 4;
        struct span **grown = realloc(list->at, room * sizeof(struct span *));
        if (!grown)
            return MRMA_ERR_NO_MEM;
        list->at = grown;
        list->room = room;
    }
    memmove(&list->at[at + 1], &list->at[at], (list->n - at) * sizeof(struct span *));
    list->at[at] = span;
    list->n++;
    return MRMA_SUCCESS;
}

void span_list_remove(struct span_list *list, const struct span *span)
{
    const uint32_t at = first_behind(list, span->addr);
    list->n--;
    memmove(&list->at[at], &list->at[at + 1], (list->n - at) * sizeof(struct span *));
}

void span_list_end(struct span_list *list, void (*end)(void *arg, struct span *span), void *arg)
{
    for (uint32_t i = 0; i < list->n; i++)
        end(arg, list->at[i]);
    free(list->at);
    *list = (struct span_list){.n = 0};
}
