/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timeline.c - see timeline.h.
 */
#include "timeline.h"

#include <stdlib.h>

#include "table.h"

/* ---- activities ---- */

struct build {
    struct timeline *line;
    size_t n, cap;       /* activities */
    struct table places; /* number of a call's function, window and site, */
    struct table kinds;  /* and of a kind, by those of the calls before and behind it */
};

/* The key of a call: its window, its site, its function. */
enum { CALL_BITS = 8, PART_BITS = 28, PART_MAX = (1 << PART_BITS) - 1 };
_Static_assert(TRACE_CALL_LAST <= 1 << CALL_BITS, "functions fit into their part of a key");

/* Numbers from 1 on for calls that are the same wherever they come: 0 is the begin of the run. */
static uint64_t place_of(struct build *build, uint32_t call)
{
    if (call == NONE)
        return 0;
    const struct call *at = &build->line->trace->call[call];
    const uint64_t key = (uint64_t)(at->win & PART_MAX) << (PART_BITS + CALL_BITS) |
                         (uint64_t)(at->site & PART_MAX) << CALL_BITS | at->call;
    uint64_t number = table_number(&build->places, key);

    if (number == TABLE_NONE) {
        number = build->places.n + 1;
        table_put_number(&build->places, key, number);
    }
    return number;
}

static uint32_t kind_of(struct build *build, struct kind kind)
{
    struct timeline *line = build->line;
    const uint64_t behind = kind.computes ? place_of(build, kind.before) : UINT32_MAX;
    const uint64_t key = place_of(build, kind.after) << 32 | behind;
    uint64_t number = table_number(&build->kinds, key);

    if (number == TABLE_NONE) {
        number = line->nkinds;
        line->kind = grow(line->kind, line->nkinds, &line->kinds_cap, sizeof kind);
        line->kind[line->nkinds++] = kind;
        table_put_number(&build->kinds, key, number);
    }
    return (uint32_t)number;
}

static void add_activity(struct build *build, struct activity activity)
{
    struct timeline *line = build->line;

    if (activity.end <= activity.begin)
        return;
    line->activity = grow(line->activity, build->n, &build->cap, sizeof activity);
    line->activity[build->n++] = activity;
}

/* One rank's: its calls come in order of their begin. */
static void add_rank(struct build *build, const uint32_t *call, size_t n)
{
    const struct trace *trace = build->line->trace;
    uint64_t done = 0;
    uint32_t last = NONE;

    for (size_t i = 0; i < n; i++) {
        const struct call *at = &trace->call[call[i]];

        if (at->enter > done)
            add_activity(build,
                         (struct activity){done, at->enter, NONE,
                                           kind_of(build, (struct kind){true, last, call[i]})});
        if (at->leave > done)
            add_activity(build,
                         (struct activity){u64_max(done, at->enter), at->leave, call[i],
                                           kind_of(build, (struct kind){false, call[i], call[i]})});
        done = u64_max(done, at->leave);
        last = call[i];
    }
}

static void find_activities(struct timeline *line)
{
    const struct trace *trace = line->trace;
    struct build build = {.line = line};
    size_t *next = zalloc(trace->nranks + 1, sizeof *next);
    uint32_t *call = zalloc(trace->ncalls, sizeof *call);

    for (size_t i = 0; i < trace->ncalls; i++)
        if (trace->call[i].outermost)
            next[trace->call[i].rank + 1]++;
    for (uint32_t r = 0; r < trace->nranks; r++)
        next[r + 1] += next[r];
    size_t *first = zalloc(trace->nranks + 1, sizeof *first);
    for (uint32_t r = 0; r <= trace->nranks; r++)
        first[r] = next[r];
    for (size_t i = 0; i < trace->ncalls; i++)
        if (trace->call[i].outermost)
            call[next[trace->call[i].rank]++] = (uint32_t)i;
    for (uint32_t r = 0; r < trace->nranks; r++) {
        line->first[r] = build.n;
        add_rank(&build, &call[first[r]], first[r + 1] - first[r]);
    }
    line->first[trace->nranks] = build.n;
    table_end(&build.places, NULL);
    table_end(&build.kinds, NULL);
    free(first);
    free(call);
    free(next);
}

/* ---- waits ---- */

/* Of wait states that begin together, the one that the other is part of comes first. */
static int by_rank_and_begin(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->instance < y->instance ? -1 : x->instance > y->instance;
}

static void find_waits(struct timeline *line, const struct analysis *analysis)
{
    size_t n = 0, kept = 0;

    line->wait = zalloc(analysis->ninstances, sizeof *line->wait);
    for (size_t i = 0; i < analysis->ninstances; i++) {
        const struct instance *instance = &analysis->instance[i];

        if (pattern_info[instance->pattern].waits && instance->rank < line->trace->nranks)
            line->wait[n++] = (struct waiting){.begin = instance->begin,
                                               .end = instance->end,
                                               .rank = instance->rank,
                                               .cause = instance->cause,
                                               .instance = (uint32_t)i};
    }
    sort(line->wait, n, sizeof *line->wait, by_rank_and_begin);
    for (size_t i = 0; i < n; i++) {
        struct waiting wait = line->wait[i];
        const struct waiting *last = kept ? &line->wait[kept - 1] : NULL;

        if (last && last->rank == wait.rank) {
            wait.begin = u64_max(wait.begin, last->end);
            wait.sum = last->sum + (last->end - last->begin);
        }
        if (wait.end <= wait.begin)
            continue;
        line->wait[kept++] = wait;
        line->first_wait[wait.rank + 1] = kept;
    }
    for (uint32_t r = 0; r < line->trace->nranks; r++)
        line->first_wait[r + 1] = line->first_wait[r + 1] > line->first_wait[r]
                                      ? line->first_wait[r + 1]
                                      : line->first_wait[r];
}

size_t timeline_waits_before(const struct timeline *line, uint32_t rank, uint64_t time)
{
    size_t low = line->first_wait[rank], high = line->first_wait[rank + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (line->wait[middle].end < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How long the rank has waited up to a time. */
static uint64_t waited_until(const struct timeline *line, uint32_t rank, uint64_t time)
{
    const size_t first = line->first_wait[rank], at = timeline_waits_before(line, rank, time);
    const struct waiting *last = at > first ? &line->wait[at - 1] : NULL;
    uint64_t sum = last ? last->sum + (last->end - last->begin) : 0;

    if (at < line->first_wait[rank + 1])
        sum += u64_minus(time, line->wait[at].begin);
    return sum;
}

uint64_t timeline_waited(const struct timeline *line, uint32_t rank, uint64_t begin, uint64_t end)
{
    return end > begin ? waited_until(line, rank, end) - waited_until(line, rank, begin) : 0;
}

uint64_t timeline_busy(const struct timeline *line, uint32_t rank, const struct activity *activity,
                       uint64_t begin, uint64_t end)
{
    begin = u64_max(begin, activity->begin);
    end = u64_min(end, activity->end);
    return end > begin ? end - begin - timeline_waited(line, rank, begin, end) : 0;
}

size_t timeline_at(const struct timeline *line, uint32_t rank, uint64_t time)
{
    size_t low = line->first[rank], high = line->first[rank + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (line->activity[middle].end <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static char *text_of_call(const struct timeline *line, uint32_t call)
{
    const struct call *at = &line->trace->call[call];

    return call_text(line->trace, at->call, at->site, true);
}

char *timeline_kind_text(const struct timeline *line, uint32_t kind)
{
    const struct kind *at = &line->kind[kind];
    char *before = at->before == NONE ? NULL : text_of_call(line, at->before);
    char *after = at->after == NONE ? NULL : text_of_call(line, at->after);
    char *all = !at->computes ? text("in %s", after)
                : after       ? text("computing between %s and %s", after, before)
                              : text("computing before its first call, %s", before);

    free(before);
    free(after);
    return all;
}

void timeline_find(struct timeline *line, const struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;

    *line = (struct timeline){.trace = trace};
    line->first = zalloc(trace->nranks + 1, sizeof *line->first);
    line->first_wait = zalloc(trace->nranks + 1, sizeof *line->first_wait);
    find_activities(line);
    find_waits(line, analysis);
}

void timeline_free(struct timeline *line)
{
    free(line->activity);
    free(line->first);
    free(line->wait);
    free(line->first_wait);
    free(line->kind);
    *line = (struct timeline){0};
}
