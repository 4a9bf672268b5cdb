/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regions.c - finds what happens in each region of the program; see causes.h.
 */
#include "causes.h"

/* of_region returns where to sum up what belongs to a region, or to none. */
static struct share_of_region *of_region(struct share_of_region *share, const struct trace *trace,
                                         uint32_t region)
{
    return &share[region == NONE ? trace->nregions : region];
}

static struct share_of_region *of_call(struct share_of_region *share, const struct trace *trace,
                                       uint32_t call)
{
    const uint32_t visit = call == NONE ? NONE : trace->call[call].visit;

    return of_region(share, trace, visit == NONE ? NONE : trace->visit[visit].region);
}

/* is_repeated returns whether a visit lies in another visit of the same region. */
static bool is_repeated(const struct trace *trace, const struct visit *visit)
{
    for (uint32_t at = visit->within; at != NONE; at = trace->visit[at].within)
        if (trace->visit[at].region == visit->region)
            return true;
    return false;
}

static void add_visits(struct share_of_region *share, const struct trace *trace)
{
    for (size_t i = 0; i < trace->nvisits; i++) {
        const struct visit *visit = &trace->visit[i];
        struct share_of_region *region = of_region(share, trace, visit->region);

        if (is_repeated(trace, visit))
            continue;
        region->visits++;
        region->time += visit->end - visit->begin;
        region->longest = u64_max(region->longest, visit->end - visit->begin);
    }
}

struct share_of_region *regions_share(const struct analysis *analysis, const struct causes *causes)
{
    const struct trace *trace = analysis->trace;
    const struct timeline *line = &causes->line;
    struct share_of_region *share = zalloc(trace->nregions + 1, sizeof *share);

    add_visits(share, trace);
    for (size_t i = 0; i < trace->ncalls; i++)
        if (trace->call[i].top)
            of_call(share, trace, (uint32_t)i)->calls +=
                u64_minus(trace->call[i].leave, trace->call[i].enter);
    for (size_t i = 0; i < line->first[trace->nranks]; i++) {
        const struct activity *activity = &line->activity[i];
        const struct kind *kind = &line->kind[activity->kind];

        if (kind->does == DOES_COMPUTE)
            of_region(share, trace, kind->region)->computes += activity->end - activity->begin;
    }
    for (size_t i = 0; i < line->first_wait[trace->nranks]; i++) {
        const struct waiting *wait = &line->wait[i];

        of_call(share, trace, analysis->instance[wait->instance].call)->waits +=
            wait->end - wait->begin;
    }
    for (size_t i = 0; i < causes->n; i++)
        of_region(share, trace, line->kind[causes->cause[i].kind].region)->costs +=
            cause_cost(&causes->cause[i]);
    return share;
}
