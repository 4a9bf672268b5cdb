/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_late.c - shortens the computation of a rank for which others wait to that of the other
 * ranks between the same two calls; and lets all ranks share that computation evenly.
 *
 * Computations are compared by their number: the third of one rank with the third of another.
 * Where no other rank has any of the kind, the time is left out in which another rank waits for
 * this one.
 */
#include "changes.h"

#include <stdlib.h>

/* TOO_SHORT: the least mean length of computations that are compared, ns; recording the calls
 * around them takes a part of less. */
enum { CAUSES_TRIED = 12, TOO_SHORT = 1000 };

/* The computations of one kind: of rank r, activity[first[r]] to activity[first[r + 1]]. */
struct same {
    size_t *activity, *first;
    uint32_t nranks;
};

static struct same same_kind(const struct timeline *line, uint32_t kind)
{
    const uint32_t nranks = line->trace->nranks;
    struct same same = {zalloc(line->first[nranks], sizeof *same.activity),
                        zalloc(nranks + 1, sizeof *same.first), nranks};
    size_t n = 0;

    for (uint32_t rank = 0; rank < nranks; rank++) {
        same.first[rank] = n;
        for (size_t i = line->first[rank]; i < line->first[rank + 1]; i++)
            if (line->activity[i].kind == kind)
                same.activity[n++] = i;
    }
    same.first[nranks] = n;
    return same;
}

static void same_free(struct same *same)
{
    free(same->activity);
    free(same->first);
}

static int by_length(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* lengths gathers the lengths of the computations with this number, of all ranks but one (NONE: of
 * all ranks). */
static uint32_t lengths(const struct timeline *line, const struct same *same, size_t number,
                        uint32_t but, uint64_t *length)
{
    uint32_t n = 0;

    for (uint32_t rank = 0; rank < same->nranks; rank++) {
        const size_t at = same->first[rank] + number;

        if (rank != but && at < same->first[rank + 1]) {
            const struct activity *activity = &line->activity[same->activity[at]];

            length[n++] = activity->end - activity->begin;
        }
    }
    return n;
}

/* leave_out_waited computes how long the rank's computations that have no counterpart would be
 * without the time that others wait for them. */
static void leave_out_waited(const struct timeline *line, uint32_t rank, uint32_t kind,
                             uint64_t *work)
{
    for (size_t i = 0; i < line->first_wait[line->trace->nranks]; i++) {
        const struct waiting *wait = &line->wait[i];

        if (wait->cause != rank)
            continue;
        for (size_t k = timeline_at(line, rank, wait->begin);
             k < line->first[rank + 1] && line->activity[k].begin < wait->end; k++) {
            const struct activity *activity = &line->activity[k];
            const uint64_t waited =
                u64_min(activity->end, wait->end) - u64_max(activity->begin, wait->begin);

            if (activity->kind == kind)
                work[k] = u64_min(work[k], activity->end - activity->begin - waited);
        }
    }
}

static void not_late(struct trying *trying, const struct cause *cause)
{
    const struct timeline *line = trying->plan.line;
    const uint32_t rank = cause->rank;
    struct same same = same_kind(line, cause->kind);
    uint64_t *length = zalloc(same.nranks, sizeof *length);
    struct change change = {.work = unchanged_work(&trying->plan)};
    struct scenario scenario = {.key = "not_late",
                                .win = NONE,
                                .rank = rank,
                                .call = line->kind[cause->kind].before,
                                .number = same.first[rank + 1] - same.first[rank]};
    char *what = timeline_kind_text(line, cause->kind);
    const bool is_alone = scenario.number == same.first[same.nranks];

    for (size_t i = 0; !is_alone && i < scenario.number; i++) {
        const size_t at = same.activity[same.first[rank] + i];
        const uint32_t n = lengths(line, &same, i, rank, length);

        sort(length, n, sizeof *length, by_length);
        if (n > 0)
            change.work[at] = u64_min(line->activity[at].end - line->activity[at].begin,
                                      (length[(n - 1) / 2] + length[n / 2]) / 2);
    }
    if (is_alone)
        leave_out_waited(line, rank, cause->kind, change.work);
    scenario.what = text(is_alone ? "rank %u, %s, without the time in which others wait for it"
                                  : "rank %u, %s, for as long as the median of the other ranks",
                         rank, what);
    scenario.assumes = "What the rank does longer there is not needed, or is done where nobody "
                       "waits for it.";
    try_change(trying, &change, scenario);
    free(what);
    free(length);
    same_free(&same);
}

/* evenly distributes the work of a kind, as it is, evenly on all ranks that do it. */
static void evenly(struct trying *trying, uint32_t kind)
{
    const struct timeline *line = trying->plan.line;
    struct same same = same_kind(line, kind);
    uint64_t *length = zalloc(same.nranks, sizeof *length);
    struct change change = {.work = unchanged_work(&trying->plan)};
    char *what = timeline_kind_text(line, kind);

    for (uint32_t rank = 0; rank < same.nranks; rank++)
        for (size_t i = same.first[rank]; i < same.first[rank + 1]; i++) {
            const uint32_t n = lengths(line, &same, i - same.first[rank], NONE, length);
            uint64_t sum = 0;

            for (uint32_t k = 0; k < n; k++)
                sum += length[k];
            change.work[same.activity[i]] = sum / n;
        }
    try_change(trying, &change,
               (struct scenario){
                   .key = "balanced",
                   .what = text("all ranks, %s, for as long as their mean", what),
                   .assumes = "The work between these calls can be shared out evenly; it takes as "
                              "long in all as it did.",
                   .win = NONE,
                   .rank = NONE,
                   .call = line->kind[kind].before,
                   .number = same.first[same.nranks]});
    free(what);
    free(length);
    same_free(&same);
}

/* is_short returns whether a rank's computations of a kind are no more than what is between two
 * calls of a loop. */
static bool is_short(const struct timeline *line, const struct cause *cause)
{
    uint64_t sum = 0, n = 0;

    for (size_t i = line->first[cause->rank]; i < line->first[cause->rank + 1]; i++)
        if (line->activity[i].kind == cause->kind) {
            sum += line->activity[i].end - line->activity[i].begin;
            n++;
        }
    return sum < n * TOO_SHORT;
}

/* What computations of a kind cost, of all ranks together. */
static double cost_of_kind(const struct causes *causes, uint32_t kind)
{
    double sum = 0;

    for (size_t i = 0; i < causes->n; i++)
        if (causes->cause[i].kind == kind)
            sum += cause_cost(&causes->cause[i]);
    return sum;
}

/* If one rank has most of what a kind of computation costs, that rank is late. Otherwise all ranks
 * take turns. */
void change_late(struct trying *trying)
{
    const struct causes *causes = trying->causes;
    const struct timeline *line = trying->plan.line;
    bool *tried = zalloc(line->nkinds, sizeof *tried);

    for (size_t i = 0; i < causes->n && i < CAUSES_TRIED; i++) {
        const uint32_t kind = causes->cause[i].kind;

        /* Before the first call there is the start of the job. */
        if (line->kind[kind].does != DOES_COMPUTE || line->kind[kind].after == NONE ||
            tried[kind] || is_short(line, &causes->cause[i]))
            continue;
        tried[kind] = true;
        if (cause_cost(&causes->cause[i]) * 2 >= cost_of_kind(causes, kind))
            not_late(trying, &causes->cause[i]);
        evenly(trying, kind);
    }
    free(tried);
}
