/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.h - groups of calls: those of one function at one place in the program on one window.
 */
#ifndef MRMA_TRACE_GROUPS_H
#define MRMA_TRACE_GROUPS_H

#include "model.h"
#include "table.h"

struct group {
    uint32_t win, call; /* call: the first of them */
    uint64_t number;    /* for who makes the groups */
};

/* Without any the struct is all zeros. */
struct groups {
    struct group *group;
    size_t n, cap;
    struct table index; /* by window and place in the program */
};

/* groups_of returns the number of the group of a call by its window, function and place, which is
 * made if it is the first of it. */
size_t groups_of(struct groups *groups, const struct trace *trace, uint32_t win, uint32_t call);
void groups_free(struct groups *groups);

#endif
