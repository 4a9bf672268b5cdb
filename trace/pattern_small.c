/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_small.c - finds many small operations: runs of at least RUN_MIN operations of one kind,
 * each of at most SMALL bytes, from one origin to one target, that the same call completes. The
 * time of a run is that of its calls but for the longest, since one operation would remain.
 */
#include <stdlib.h>

#include "small.h"

enum { RUN_MIN = 16, SMALL = 512 };

static int by_run(const void *a, const void *b)
{
    const struct operation *x = *(const struct operation *const *)a;
    const struct operation *y = *(const struct operation *const *)b;

    if (x->completer != y->completer)
        return x->completer < y->completer ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->issue < y->issue ? -1 : x->issue > y->issue;
}

static bool same_run(const struct operation *a, const struct operation *b)
{
    return a->completer == b->completer && a->rank == b->rank && a->target == b->target &&
           a->win == b->win && a->op == b->op;
}

static void one_run(void *data, const struct operation **list, size_t n)
{
    struct analysis *analysis = data;
    const struct trace *trace = analysis->trace;
    uint64_t sum = 0, longest = 0;

    for (size_t i = 0; i < n; i++) {
        const struct call *call = &trace->call[list[i]->call];
        uint64_t ns = call->leave - call->enter;

        sum += ns;
        longest = u64_max(longest, ns);
    }
    uint64_t begin = trace->call[list[0]->call].enter;
    found(analysis, (struct instance){.pattern = SMALL_OPERATIONS,
                                      .begin = begin,
                                      .end = begin + sum - longest,
                                      .rank = list[0]->rank,
                                      .cause = list[0]->target,
                                      .win = list[0]->win,
                                      .call = list[0]->call,
                                      .cause_call = list[0]->completer,
                                      .count = (uint32_t)n});
}

void small_runs(const struct trace *trace, small_run *each, void *data)
{
    const struct operation **list = zalloc(trace->nops, sizeof *list);
    size_t n = 0;

    for (size_t i = 0; i < trace->nops; i++)
        if (trace->op[i].bytes <= SMALL && trace->op[i].call != NONE &&
            trace->op[i].completer != NONE && !trace->op[i].request)
            list[n++] = &trace->op[i];
    sort(list, n, sizeof *list, by_run);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same_run(list[i], list[end]);)
            end++;
        if (end - i >= RUN_MIN)
            each(data, &list[i], end - i);
    }
    free(list);
}

void find_small(struct analysis *analysis)
{
    small_runs(analysis->trace, one_run, analysis);
}
