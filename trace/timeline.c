/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timeline.c - see timeline.h.
 */
#include "timeline.h"

#include <stdlib.h>

#include "table.h"

/* ---- activities ---- */

/* From some time on the first thread of a rank is in this region of the program. */
struct change {
    uint64_t time;
    uint32_t region; /* NONE: in none */
    bool unknown;    /* nothing is recorded */
};

struct changes {
    struct change *change; /* by time */
    size_t n, cap;
};

struct build {
    struct timeline *line;
    size_t n, cap;           /* activities */
    struct table places;     /* number of a call's function, window and site, */
    struct table pairs;      /* of two such numbers, */
    struct table kinds;      /* and of a kind, by what it does, such a pair, and its region */
    struct changes *of_rank; /* changes of region */
};

/* The key of a call: its window, its site, its function. */
enum { CALL_BITS = 12, PART_BITS = 26, PART_MAX = (1 << PART_BITS) - 1 };
_Static_assert(CALL_NAMES <= 1 << CALL_BITS, "functions fit into their part of a key");

/* number_of returns the number of a key, which is the next free one if the key is new. */
static uint64_t number_of(struct table *table, uint64_t key)
{
    uint64_t number = table_number(table, key);

    if (number == TABLE_NONE) {
        number = table->n;
        table_put_number(table, key, number);
    }
    return number;
}

/* Numbers from 1 on for calls that are the same wherever they come: 0 is the begin of the run. */
static uint64_t place_of(struct build *build, uint32_t call)
{
    if (call == NONE)
        return 0;
    const struct call *at = &build->line->trace->call[call];
    const uint64_t key = (uint64_t)(at->win & PART_MAX) << (PART_BITS + CALL_BITS) |
                         (uint64_t)(at->site & PART_MAX) << CALL_BITS | at->call;

    return 1 + number_of(&build->places, key);
}

static uint32_t kind_of(struct build *build, struct kind kind)
{
    struct timeline *line = build->line;
    const uint64_t pair =
        number_of(&build->pairs, place_of(build, kind.after) << 32 | place_of(build, kind.before));
    const uint64_t region = kind.region == NONE ? 0 : (uint64_t)kind.region + 1;
    const uint64_t number =
        number_of(&build->kinds, pair << 32 | region << 2 | (uint64_t)kind.does);

    if (number == line->nkinds) {
        line->kind = grow(line->kind, line->nkinds, &line->kinds_cap, sizeof kind);
        line->kind[line->nkinds++] = kind;
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

/* add_between adds what is between two calls, from begin to end, by the changes from *at on. */
static void add_between(struct build *build, const struct changes *changes, size_t *at,
                        uint64_t begin, uint64_t end, struct kind kind)
{
    while (begin < end) {
        while (*at < changes->n && changes->change[*at].time <= begin)
            ++*at;
        const struct change *now = *at ? &changes->change[*at - 1] : NULL;
        const uint64_t next = *at < changes->n ? u64_min(end, changes->change[*at].time) : end;

        kind.region = now ? now->region : NONE;
        kind.does = now && now->unknown ? DOES_UNKNOWN : DOES_COMPUTE;
        add_activity(build, (struct activity){begin, next, NONE, kind_of(build, kind)});
        begin = next;
    }
}

/* One rank's: its calls come in order of their begin. */
static void add_rank(struct build *build, uint32_t rank, const uint32_t *call, size_t n)
{
    const struct trace *trace = build->line->trace;
    uint64_t done = 0;
    uint32_t last = NONE;
    size_t change = 0;

    for (size_t i = 0; i < n; i++) {
        const struct call *at = &trace->call[call[i]];
        const uint32_t region = at->visit == NONE ? NONE : trace->visit[at->visit].region;

        add_between(build, &build->of_rank[rank], &change, done, at->enter,
                    (struct kind){.after = last, .before = call[i]});
        if (at->leave > done)
            add_activity(build, (struct activity){u64_max(done, at->enter), at->leave, call[i],
                                                  kind_of(build, (struct kind){DOES_CALL, call[i],
                                                                               call[i], region})});
        done = u64_max(done, at->leave);
        last = call[i];
    }
}

/* ---- changes of region ---- */

static void add_change(struct changes *changes, struct change change)
{
    changes->change = grow(changes->change, changes->n, &changes->cap, sizeof *changes->change);
    changes->change[changes->n++] = change;
}

/* end_visits ends the regions of a rank that end up to a time, from the innermost that is open. It
 * returns the innermost that stays open. */
static uint32_t end_visits(struct changes *changes, const struct trace *trace, uint32_t open,
                           uint64_t time)
{
    while (open != NONE && trace->visit[open].end <= time) {
        const struct visit *visit = &trace->visit[open];

        open = visit->within;
        add_change(
            changes,
            (struct change){visit->end, open == NONE ? NONE : trace->visit[open].region, false});
    }
    return open;
}

/* The changes of a rank with those that a stop of the recording brings, as far as they are there.
 * */
struct cut {
    struct changes changes;
    size_t at;       /* of the rank's changes: the first that is not there */
    uint32_t region; /* of the last that is */
};

/* What changes up to a time, or until nothing does any more; seen: it is recorded. */
static void cut_until(struct cut *cut, const struct changes *changes, uint64_t time, bool seen)
{
    for (; cut->at < changes->n && changes->change[cut->at].time <= time; cut->at++) {
        cut->region = changes->change[cut->at].region;
        if (seen)
            add_change(&cut->changes, changes->change[cut->at]);
    }
}

static void cut_stops(struct build *build, const uint32_t *home)
{
    const struct trace *trace = build->line->trace;
    struct cut *cuts = zalloc(trace->nranks, sizeof *cuts);

    for (uint32_t r = 0; r < trace->nranks; r++)
        cuts[r].region = NONE;
    for (size_t i = 0; i < trace->ndoings; i++) {
        const struct doing *stop = &trace->doing[i];
        struct cut *cut = &cuts[stop->rank];

        if (stop->kind != OWN_STOPPED || stop->place != home[stop->rank])
            continue;
        cut_until(cut, &build->of_rank[stop->rank], stop->begin, true);
        add_change(&cut->changes, (struct change){stop->begin, NONE, true});
        cut_until(cut, &build->of_rank[stop->rank], stop->end, false);
        add_change(&cut->changes, (struct change){stop->end, cut->region, false});
    }
    for (uint32_t r = 0; r < trace->nranks; r++) {
        cut_until(&cuts[r], &build->of_rank[r], UINT64_MAX, true);
        free(build->of_rank[r].change);
        build->of_rank[r] = cuts[r].changes;
    }
    free(cuts);
}

static void find_changes(struct build *build)
{
    const struct trace *trace = build->line->trace;
    uint32_t *home = zalloc(trace->nranks, sizeof *home);
    uint32_t *open = zalloc(trace->nranks, sizeof *open);

    for (uint32_t r = 0; r < trace->nranks; r++)
        home[r] = open[r] = NONE;
    for (size_t i = trace->nplaces; i-- > 0;)
        if (trace->place[i].rank != NONE && !trace->place[i].is_agent && !trace->place[i].is_queue)
            home[trace->place[i].rank] = (uint32_t)i;
    for (size_t i = 0; i < trace->nvisits; i++) {
        const struct visit *visit = &trace->visit[i];
        const uint32_t r = visit->rank;

        if (r == NONE || visit->place != home[r])
            continue;
        (void)end_visits(&build->of_rank[r], trace, open[r], visit->begin);
        add_change(&build->of_rank[r], (struct change){visit->begin, visit->region, false});
        open[r] = (uint32_t)i;
    }
    for (uint32_t r = 0; r < trace->nranks; r++)
        (void)end_visits(&build->of_rank[r], trace, open[r], UINT64_MAX);
    cut_stops(build, home);
    free(home);
    free(open);
}

static void find_activities(struct timeline *line)
{
    const struct trace *trace = line->trace;
    struct build build = {.line = line, .of_rank = zalloc(trace->nranks, sizeof *build.of_rank)};
    size_t *next = zalloc(trace->nranks + 1, sizeof *next);
    uint32_t *call = zalloc(trace->ncalls, sizeof *call);

    find_changes(&build);
    for (size_t i = 0; i < trace->ncalls; i++)
        if (trace->call[i].top)
            next[trace->call[i].rank + 1]++;
    for (uint32_t r = 0; r < trace->nranks; r++)
        next[r + 1] += next[r];
    size_t *first = zalloc(trace->nranks + 1, sizeof *first);
    for (uint32_t r = 0; r <= trace->nranks; r++)
        first[r] = next[r];
    for (size_t i = 0; i < trace->ncalls; i++)
        if (trace->call[i].top)
            call[next[trace->call[i].rank]++] = (uint32_t)i;
    for (uint32_t r = 0; r < trace->nranks; r++) {
        line->first[r] = build.n;
        add_rank(&build, r, &call[first[r]], first[r + 1] - first[r]);
    }
    line->first[trace->nranks] = build.n;
    for (uint32_t r = 0; r < trace->nranks; r++)
        free(build.of_rank[r].change);
    free(build.of_rank);
    table_end(&build.places, NULL);
    table_end(&build.pairs, NULL);
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

/* waited_until returns how long the rank has waited up to a time. */
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
    char *in =
        at->region == NONE ? text("%s", "") : text(" in \"%s\"", line->trace->region[at->region]);
    const char *does = at->does == DOES_COMPUTE ? "computing" : "not recorded";
    char *all = at->does == DOES_CALL ? text("in %s%s", after, in)
                : after               ? text("%s%s between %s and %s", does, in, after, before)
                                      : text("%s%s before its first call, %s", does, in, before);

    free(before);
    free(after);
    free(in);
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
