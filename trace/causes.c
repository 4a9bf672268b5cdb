/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * causes.c - delay costs (see causes.h), after Boehme, Geimer, Arnold, Voigtlaender and Wolf,
 * "Identifying the Root Causes of Wait States in Large-Scale Parallel Applications".
 *
 *     in step t0                       b                 e
 *     waiting rank  ---- does, waits --|==== waits ======|----
 *     late rank     ---- does, waits --------------------|----
 *
 * From the time t0 when both were last in step, the late rank has needed e - b longer than the one
 * that waits for it: it has done more, or it has waited longer for others, or both. In this
 * proportion the time is charged to what it did and to its own waits. These get it in addition to
 * their own length, and hand on both to whom they waited for: so waits are taken from the last of
 * the run to the first.
 *
 * What it did more is looked for backwards from e, and only in kinds of activity of which it has
 * more than the waiting rank.
 */
#include "causes.h"

#include <stdlib.h>

#include "meetings.h"
#include "table.h"

enum { LOOK_BACK = 1000 }; /* activities of a rank, at the most */

/* A share has the cost of a wait, and the wait of the same two ranks before it. */
struct share {
    double own, received;
    size_t before; /* of blame->order, + 1; 0: none */
    size_t place;  /* in blame->order */
};

/* A part of a wait compares the time from begin to end at the late rank with the time from begin to
 * waits at the waiting rank. */
struct part {
    uint32_t late, waiting;
    uint64_t begin, end, waits;
};

/* A wait, for their order in time. */
struct ordered {
    uint64_t begin, end;
    size_t wait; /* of line->wait */
};

struct charge {
    double direct, passed_on;
};

struct blame {
    struct causes *causes;
    const struct timeline *line;
    const struct analysis *analysis;
    struct meetings meetings;
    struct share *share;   /* of each wait */
    struct ordered *order; /* the waits by their end */
    size_t nwaits;
    uint64_t *more;        /* of each kind, what the late rank has done more */
    struct charge *charge; /* to each activity */
};

/* ---- who waited last for whom ---- */

static int by_end(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;

    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void order_waits(struct blame *blame)
{
    const struct timeline *line = blame->line;
    struct table pairs = {0};

    blame->nwaits = line->first_wait[line->trace->nranks];
    blame->order = zalloc(blame->nwaits, sizeof *blame->order);
    blame->share = zalloc(blame->nwaits, sizeof *blame->share);
    for (size_t i = 0; i < blame->nwaits; i++)
        blame->order[i] = (struct ordered){line->wait[i].begin, line->wait[i].end, i};
    sort(blame->order, blame->nwaits, sizeof *blame->order, by_end);
    for (size_t k = 0; k < blame->nwaits; k++) {
        const struct waiting *wait = &line->wait[blame->order[k].wait];
        struct share *share = &blame->share[blame->order[k].wait];
        const uint32_t low = wait->rank < wait->cause ? wait->rank : wait->cause;
        const uint64_t pair = (uint64_t)low << 32 | (low ^ wait->rank ^ wait->cause);
        const uint64_t before = table_number(&pairs, pair);

        *share = (struct share){.own = (double)(wait->end - wait->begin), .place = k};
        share->before = before == TABLE_NONE ? 0 : before;
        table_put_number(&pairs, pair, k + 1);
        blame->causes->waiting += wait->end - wait->begin;
    }
    table_end(&pairs, NULL);
}

/* of_the_moment returns whether all that counts is what the late rank does while the other one
 * waits, whatever was before. */
static bool of_the_moment(unsigned pattern)
{
    return pattern == LOCK_CONTENTION || pattern == WAIT_FOR_PROGRESS ||
           pattern == SERIALIZED_ACCUMULATES || pattern == CREDIT_STALLS;
}

static uint64_t not_too_far(const struct timeline *line, uint32_t rank, uint64_t begin,
                            uint64_t end)
{
    const size_t at = timeline_at(line, rank, end), first = line->first[rank];

    return at > first + LOOK_BACK ? u64_max(begin, line->activity[at - LOOK_BACK].begin) : begin;
}

/* in_step returns the time at which both ranks were last in step: when one had waited for the
 * other, or both were in a collective call. */
static uint64_t in_step(const struct blame *blame, size_t i)
{
    const struct waiting *wait = &blame->line->wait[i];
    size_t k = blame->share[i].before;

    if (of_the_moment(blame->analysis->instance[wait->instance].pattern))
        return wait->begin;
    while (k && blame->order[k - 1].end > wait->begin)
        k = blame->share[blame->order[k - 1].wait].before;
    uint64_t time = k ? blame->order[k - 1].end : 0;
    time = u64_max(time, meetings_before(&blame->meetings, wait->rank, wait->cause, wait->begin));
    time = not_too_far(blame->line, wait->rank, time, wait->begin);
    return not_too_far(blame->line, wait->cause, time, wait->end);
}

/* ---- what the late rank did more ---- */

/* count_kinds adds what a rank did of each kind in some time to the counts, or takes it from
 * them. */
static void count_kinds(struct blame *blame, uint32_t rank, uint64_t begin, uint64_t end, bool late)
{
    const struct timeline *line = blame->line;

    for (size_t i = timeline_at(line, rank, begin);
         i < line->first[rank + 1] && line->activity[i].begin < end; i++) {
        const struct activity *activity = &line->activity[i];
        const uint64_t busy = timeline_busy(line, rank, activity, begin, end);
        uint64_t *more = &blame->more[activity->kind];

        *more = late ? *more + busy : u64_minus(*more, busy);
    }
}

/* charge_done charges what the late rank did more than the other rank, which is left ns in all. */
static void charge_done(struct blame *blame, const struct part *part, uint64_t left, double direct,
                        double passed_on)
{
    const struct timeline *line = blame->line;
    const uint32_t rank = part->late;
    const double all = (double)left;
    const size_t first = timeline_at(line, rank, part->begin);
    size_t i = first;

    count_kinds(blame, rank, part->begin, part->end, true);
    count_kinds(blame, part->waiting, part->begin, part->waits, false);
    while (i < line->first[rank + 1] && line->activity[i].begin < part->end)
        i++;
    const size_t last = i;
    for (; i-- > first && left > 0;) {
        const struct activity *activity = &line->activity[i];
        uint64_t busy = timeline_busy(line, rank, activity, part->begin, part->end);

        busy = u64_min(u64_min(busy, left), blame->more[activity->kind]);
        if (busy == 0)
            continue;
        blame->more[activity->kind] -= busy;
        left -= busy;
        blame->charge[i].direct += direct * (double)busy / all;
        blame->charge[i].passed_on += passed_on * (double)busy / all;
    }
    blame->causes->unknown += (direct + passed_on) * (double)left / all;
    for (i = first; i < last; i++)
        blame->more[line->activity[i].kind] = 0;
}

/* ---- what it has waited for itself ---- */

static void pass_on(struct blame *blame, const struct part *part, size_t place, double cost)
{
    const struct timeline *line = blame->line;
    const size_t first = timeline_waits_before(line, part->late, part->begin + 1);
    const size_t end = line->first_wait[part->late + 1];
    uint64_t sum = 0;

    for (int give = 0; give < 2; give++)
        for (size_t i = first; i < end && line->wait[i].begin < part->end; i++) {
            const struct waiting *wait = &line->wait[i];
            const uint64_t length =
                u64_min(wait->end, part->end) - u64_max(wait->begin, part->begin);

            if (blame->share[i].place >= place) /* taken already: the clocks do not agree */
                continue;
            if (give)
                blame->share[i].received += cost * (double)length / (double)sum;
            else
                sum += length;
        }
    if (sum == 0)
        blame->causes->unknown += cost;
}

static void one_wait(struct blame *blame, size_t place)
{
    const struct timeline *line = blame->line;
    const size_t i = blame->order[place].wait;
    const struct waiting *wait = &line->wait[i];
    const struct share *share = &blame->share[i];
    struct part part = {wait->cause, wait->rank, 0, wait->end, wait->begin};
    uint64_t did = 0, waited = 0;

    if (wait->cause >= line->trace->nranks || wait->cause == wait->rank) {
        blame->causes->unknown += share->own + share->received;
        return;
    }
    part.begin = in_step(blame, i);
    for (int tries = 0; tries < 2 && did + waited == 0; tries++) {
        const uint64_t late = timeline_waited(line, part.late, part.begin, part.end);
        const uint64_t other = timeline_waited(line, part.waiting, part.begin, part.waits);

        did = u64_minus(part.end - part.begin - late, part.waits - part.begin - other);
        waited = u64_minus(late, other);
        if (did + waited == 0) /* the clocks do not agree: what it did meanwhile */
            part.begin = part.waits;
    }
    const double doing = (double)did / (double)(did + waited);
    if (did > 0)
        charge_done(blame, &part, did, share->own * doing, share->received * doing);
    if (waited > 0)
        pass_on(blame, &part, place, (share->own + share->received) * (1 - doing));
}

/* ---- causes of what was charged ---- */

/* sum_up makes the causes of one rank. at[kind] is 1 + the index of the cause of that kind. */
static void sum_up(struct blame *blame, uint32_t rank, size_t *at)
{
    const struct timeline *line = blame->line;
    struct causes *causes = blame->causes;

    for (size_t i = line->first[rank]; i < line->first[rank + 1]; i++) {
        const struct activity *activity = &line->activity[i];
        const struct charge *charge = &blame->charge[i];
        const double cost = charge->direct + charge->passed_on;

        if (!(cost > 0))
            continue;
        if (at[activity->kind] == 0) {
            causes->cause = grow(causes->cause, causes->n, &causes->cap, sizeof *causes->cause);
            causes->cause[causes->n++] = (struct cause){.rank = rank, .kind = activity->kind};
            at[activity->kind] = causes->n;
        }
        struct cause *cause = &causes->cause[at[activity->kind] - 1];
        cause->direct += charge->direct;
        cause->passed_on += charge->passed_on;
        cause->number++;
        if (cost <= cause->worst)
            continue;
        cause->worst = cost;
        cause->begin = activity->begin;
        cause->end = activity->end;
    }
    for (size_t i = line->first[rank]; i < line->first[rank + 1]; i++)
        at[line->activity[i].kind] = 0;
}

static int by_cost(const void *a, const void *b)
{
    const struct cause *x = a, *y = b;
    const double p = cause_cost(x), q = cause_cost(y);

    if (p != q)
        return p > q ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* share_out adds up for each rank how long it computes and waits, and what its causes cost
 * others. */
static void share_out(struct causes *causes)
{
    const struct timeline *line = &causes->line;

    causes->rank = zalloc(line->trace->nranks, sizeof *causes->rank);
    for (uint32_t r = 0; r < line->trace->nranks; r++) {
        for (size_t i = line->first[r]; i < line->first[r + 1]; i++)
            if (line->kind[line->activity[i].kind].does == DOES_COMPUTE)
                causes->rank[r].computes += line->activity[i].end - line->activity[i].begin;
        for (size_t i = line->first_wait[r]; i < line->first_wait[r + 1]; i++)
            causes->rank[r].waits += line->wait[i].end - line->wait[i].begin;
    }
    for (size_t i = 0; i < causes->n; i++)
        causes->rank[causes->cause[i].rank].costs += cause_cost(&causes->cause[i]);
}

void causes_find(struct causes *causes, const struct analysis *analysis)
{
    struct blame blame = {.causes = causes, .line = &causes->line, .analysis = analysis};
    const struct timeline *line = &causes->line;

    *causes = (struct causes){0};
    timeline_find(&causes->line, analysis);
    size_t *at = zalloc(line->nkinds, sizeof *at);
    blame.more = zalloc(line->nkinds, sizeof *blame.more);
    blame.charge = zalloc(line->first[line->trace->nranks], sizeof *blame.charge);
    meetings_find(&blame.meetings, line->trace);
    order_waits(&blame);
    for (size_t place = blame.nwaits; place-- > 0;)
        one_wait(&blame, place);
    for (uint32_t rank = 0; rank < line->trace->nranks; rank++)
        sum_up(&blame, rank, at);
    sort(causes->cause, causes->n, sizeof *causes->cause, by_cost);
    share_out(causes);
    causes->region = regions_share(analysis, causes);
    meetings_free(&blame.meetings);
    free(at);
    free(blame.charge);
    free(blame.more);
    free(blame.share);
    free(blame.order);
}

void causes_free(struct causes *causes)
{
    timeline_free(&causes->line);
    free(causes->cause);
    free(causes->rank);
    free(causes->region);
    *causes = (struct causes){0};
}
