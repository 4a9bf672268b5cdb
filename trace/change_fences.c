/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_fences.c - replaces fences by MPI_Win_complete, MPI_Win_wait, MPI_Win_post and
 * MPI_Win_start between the ranks that have operations from one fence to the next.
 *
 * The second of two fences closes an operation between them: its target waits for the complete of
 * its origin. The first fence opens it: its target posts. MPI_Win_start need not wait for the post
 * (MPI 4.1, 12.5.2), and the library's does not; plan_waits_for_post says which call waits, and
 * where. Of another library's archive that is not known; there MPI_Win_start waits, in the first
 * fence. Fences that open and close the same operations are changed together, whatever their
 * places.
 */
#include "changes.h"

#include <stdlib.h>
#include <string.h>

/* An operation between two fences: those of its origin and of its target. */
struct between {
    uint32_t opens, closes;       /* at the origin; opens NONE: it comes before the first */
    uint32_t opens_at, closes_at; /* at the target */
};

struct fences {
    const struct trace *trace;
    struct groups groups; /* by window and place of the call */
    size_t *group;        /* of each call; SIZE_MAX: it is no fence */
    size_t *set;          /* of each group, one that it is changed together with: itself, or one
                             before it that leads to the first */
    struct table call;    /* of rank, window and number */
};

static uint64_t key_of(uint32_t rank, uint32_t win, uint32_t sequence)
{
    return (uint64_t)rank << 44 ^ (uint64_t)win << 28 ^ sequence;
}

static uint32_t fence_at(const struct fences *fences, uint32_t rank, uint32_t win,
                         uint32_t sequence)
{
    const uint64_t call = table_number(&fences->call, key_of(rank, win, sequence));

    return call == TABLE_NONE ? NONE : (uint32_t)call;
}

static bool is_between(const struct trace *trace, const struct operation *op)
{
    return op->rank != op->target && !op->starts && op->completer != NONE &&
           trace->call[op->completer].call == TRACE_CALL_Win_fence;
}

/* around finds the fences around an operation. It returns false if the fence that closes it is not
 * recorded at both ranks. */
static bool around(const struct fences *fences, const struct operation *op, struct between *between)
{
    const uint32_t n = op->fences;

    if (!is_between(fences->trace, op))
        return false;
    *between = (struct between){NONE, fence_at(fences, op->rank, op->win, n), NONE,
                                fence_at(fences, op->target, op->win, n)};
    if (n > 0) {
        between->opens = fence_at(fences, op->rank, op->win, n - 1);
        between->opens_at = fence_at(fences, op->target, op->win, n - 1);
    }
    return between->closes != NONE && between->closes_at != NONE;
}

static size_t set_of(struct fences *fences, size_t group)
{
    while (fences->set[group] != group)
        group = fences->set[group];
    return group;
}

static void join(struct fences *fences, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE)
        return;
    const size_t x = set_of(fences, fences->group[a]), y = set_of(fences, fences->group[b]);

    if (x != y)
        fences->set[x < y ? y : x] = x < y ? x : y;
}

static void fences_find(struct fences *fences, const struct trace *trace)
{
    *fences = (struct fences){.trace = trace, .group = zalloc(trace->ncalls, sizeof(size_t))};
    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];
        const bool is_fence = call->call == TRACE_CALL_Win_fence && call->win != NONE &&
                              call->sequence != NONE && call->outermost;

        fences->group[i] =
            is_fence ? groups_of(&fences->groups, trace, call->win, (uint32_t)i) : SIZE_MAX;
        if (!is_fence)
            continue;
        fences->groups.group[fences->group[i]].number++;
        table_put_number(&fences->call, key_of(call->rank, call->win, call->sequence), i);
    }
    fences->set = zalloc(fences->groups.n, sizeof *fences->set);
    for (size_t i = 0; i < fences->groups.n; i++)
        fences->set[i] = i;
    /* Ranks may be in the same fence at different places. */
    for (size_t i = 0; i < trace->ncalls; i++)
        if (fences->group[i] != SIZE_MAX)
            join(fences, (uint32_t)i,
                 fence_at(fences,
                          trace->window[trace->call[i].win].nranks
                              ? trace->window[trace->call[i].win].world[0]
                              : NONE,
                          trace->call[i].win, trace->call[i].sequence));
    for (size_t i = 0; i < trace->nops; i++) {
        struct between between;

        if (!around(fences, &trace->op[i], &between))
            continue;
        join(fences, between.closes, between.opens);
        join(fences, between.closes, between.closes_at);
    }
}

static void fences_free(struct fences *fences)
{
    groups_free(&fences->groups);
    table_end(&fences->call, NULL);
    free(fences->group);
    free(fences->set);
}

/* "MPI_Win_fence at halo.c:88 (exchange) and 2 other places, halo". */
static char *places(struct fences *fences, size_t set)
{
    const struct group *first = &fences->groups.group[set];
    const struct call *call = &fences->trace->call[first->call];
    char *where = call_text(fences->trace, call->call, call->site, false);
    unsigned others = 0;

    for (size_t i = 0; i < fences->groups.n; i++)
        others += i != set && set_of(fences, i) == set;
    char *all = others ? text("%s and %u other place%s, %s", where, others, others == 1 ? "" : "s",
                              fences->trace->window[first->win].name)
                       : text("%s, %s", where, fences->trace->window[first->win].name);
    free(where);
    return all;
}

/* make_change makes the change of the fences of one set. It returns false if no operation is
 * between them. */
static bool make_change(struct fences *fences, size_t set, struct change *change)
{
    const struct trace *trace = fences->trace;

    change->pairwise = zalloc(trace->ncalls, sizeof *change->pairwise);
    for (size_t i = 0; i < trace->ncalls; i++)
        change->pairwise[i] =
            fences->group[i] != SIZE_MAX && set_of(fences, fences->group[i]) == set;
    for (size_t i = 0; i < trace->nops; i++) {
        struct between between;

        if (!around(fences, &trace->op[i], &between) || !change->pairwise[between.closes])
            continue;
        links_add(&change->completes, between.closes_at, between.closes);
        const uint32_t call =
            trace->ours ? plan_waits_for_post(&trace->op[i], between.closes) : between.opens;
        if (call != NONE && between.opens_at != NONE)
            links_add(&change->posts, call, between.opens_at);
    }
    links_sort(&change->completes);
    links_sort(&change->posts);
    return change->completes.n > 0;
}

static void one_set(struct trying *trying, struct fences *fences, size_t set)
{
    struct change change = {0};
    uint64_t number = 0;

    for (size_t i = 0; i < fences->groups.n; i++)
        if (set_of(fences, i) == set)
            number += fences->groups.group[i].number;
    if (!make_change(fences, set, &change)) {
        change_free(&change);
        return;
    }
    char *where = places(fences, set);
    const double each = (double)change.completes.n / (double)number;
    struct scenario scenario = {
        .key = "fence_as_pscw",
        .what = text("%s, as MPI_Win_post, start, complete and wait between the ranks that "
                     "exchange data (each with %.1f others in the mean)",
                     where, each),
        .assumes = "Ranks that exchange nothing need not be in step there, and the four calls take "
                   "as long as the fence without its waiting.",
        .win = fences->groups.group[set].win,
        .rank = NONE,
        .call = fences->groups.group[set].call,
        .number = number};
    free(where);
    try_change(trying, &change, scenario);
}

void change_fences(struct trying *trying)
{
    struct fences fences;

    if (trying->analysis->found[WAIT_AT_FENCE].total == 0)
        return;
    fences_find(&fences, trying->plan.trace);
    for (size_t i = 0; i < fences.groups.n; i++)
        if (fences.set[i] == i)
            one_set(trying, &fences, i);
    fences_free(&fences);
}
