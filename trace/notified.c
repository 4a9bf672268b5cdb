/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.c - see notified.h.
 */
#include "notified.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Window, target, number: what notifications that are counted together have in common. */
static int by_counter(const struct operation *x, const struct operation *y)
{
    if (x->win != y->win)
        return compare(x->win, y->win);
    if (x->target != y->target)
        return compare(x->target, y->target);
    return compare(x->notification, y->notification);
}

static int of_any(const void *a, const void *b)
{
    const struct operation *x = *(const struct operation *const *)a;
    const struct operation *y = *(const struct operation *const *)b;
    const int order = by_counter(x, y);

    return order ? order : compare(x->issue, y->issue);
}

static int of_source(const void *a, const void *b)
{
    const struct operation *x = *(const struct operation *const *)a;
    const struct operation *y = *(const struct operation *const *)b;
    const int order = by_counter(x, y);

    if (order)
        return order;
    return x->rank != y->rank ? compare(x->rank, y->rank) : compare(x->issue, y->issue);
}

/* All that is taken of one counter stands together, in order of time. */
static int by_time(const void *a, const void *b)
{
    const struct taking *x = *(const struct taking *const *)a;
    const struct taking *y = *(const struct taking *const *)b;

    if (x->win != y->win)
        return compare(x->win, y->win);
    if (x->rank != y->rank)
        return compare(x->rank, y->rank);
    if (x->number != y->number)
        return compare(x->number, y->number);
    return x->source != y->source ? compare(x->source, y->source) : compare(x->time, y->time);
}

/* against tells whether the operation is before, among or behind those that the taking's counter
 * counts. */
static int against(const struct operation *op, const struct taking *taking)
{
    const struct operation key = {
        .win = taking->win, .target = taking->rank, .notification = taking->number};
    const int order = by_counter(op, &key);

    if (order || taking->source == NONE)
        return order;
    return compare(op->rank, taking->source);
}

struct notified {
    const struct operation **any, **source; /* in the order of of_any, of of_source */
    size_t n;
};

/* last_of returns the operation that has raised the last of total notifications, or NULL if it is
 * not in the trace. */
static const struct operation *last_of(const struct notified *ops, const struct taking *taking,
                                       uint64_t total)
{
    const struct operation **list = taking->source == NONE ? ops->any : ops->source;
    size_t low = 0, high = ops->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (against(list[middle], taking) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (total == 0 || total > ops->n - low || against(list[low + total - 1], taking) != 0)
        return NULL;
    return list[low + total - 1];
}

static struct notified notified_ops(const struct trace *trace)
{
    struct notified ops = {.any = zalloc(trace->nops, sizeof *ops.any),
                           .source = zalloc(trace->nops, sizeof *ops.source)};

    for (size_t i = 0; i < trace->nops; i++)
        if (trace->op[i].notification != NONE) {
            ops.any[ops.n] = &trace->op[i];
            ops.source[ops.n++] = &trace->op[i];
        }
    sort(ops.any, ops.n, sizeof *ops.any, of_any);
    sort(ops.source, ops.n, sizeof *ops.source, of_source);
    return ops;
}

uint32_t *notified_last(const struct trace *trace)
{
    const struct taking **list = zalloc(trace->ntakings, sizeof *list);
    uint32_t *last = zalloc(trace->ntakings, sizeof *last);
    struct notified ops = notified_ops(trace);
    uint64_t total = 0;

    for (size_t i = 0; i < trace->ntakings; i++)
        list[i] = &trace->taking[i];
    sort(list, trace->ntakings, sizeof *list, by_time);
    for (size_t i = 0; i < trace->ntakings; i++) {
        const struct taking *taking = list[i], *before = i ? list[i - 1] : NULL;
        const bool same = before && before->win == taking->win && before->rank == taking->rank &&
                          before->number == taking->number && before->source == taking->source;

        total = (same ? total : 0) + taking->count;
        const struct operation *op = taking->count ? last_of(&ops, taking, total) : NULL;
        last[taking - trace->taking] = op ? (uint32_t)(op - trace->op) : NONE;
    }
    free(ops.any);
    free(ops.source);
    free(list);
    return last;
}
