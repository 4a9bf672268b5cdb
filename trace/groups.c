/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.c - see groups.h.
 */
#include "groups.h"

enum { CALL_BITS = 12, PART_BITS = 26, PART_MAX = (1 << PART_BITS) - 1 };
_Static_assert(CALL_NAMES <= 1 << CALL_BITS, "functions fit into their part of a key");

size_t groups_of(struct groups *groups, const struct trace *trace, uint32_t win, uint32_t call)
{
    const struct call *at = &trace->call[call];
    const uint64_t key = (uint64_t)(win & PART_MAX) << (PART_BITS + CALL_BITS) |
                         (uint64_t)(at->site & PART_MAX) << CALL_BITS | at->call;
    uint64_t number = table_number(&groups->index, key);

    if (number == TABLE_NONE) {
        number = groups->n;
        groups->group = grow(groups->group, groups->n, &groups->cap, sizeof *groups->group);
        groups->group[groups->n++] = (struct group){.win = win, .call = call};
        table_put_number(&groups->index, key, number);
    }
    return number;
}

void groups_free(struct groups *groups)
{
    free(groups->group);
    table_end(&groups->index, NULL);
    *groups = (struct groups){0};
}
