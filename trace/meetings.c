/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meetings.c - see meetings.h.
 */
#include "meetings.h"

#include <stdlib.h>

#include "analysis.h"

enum { LOOK_BACK = 1000 }; /* meetings of others between two of the same ranks, at the most */

/* What kind of collective call it is: those of one kind are numbered at each rank. */
static uint16_t kind_of(unsigned call)
{
    return call == TRACE_CALL_Win_fence || call == TRACE_CALL_Win_free ? (uint16_t)call
                                                                       : TRACE_CALL_Win_create;
}

static bool same(const struct meeting *a, const struct meeting *b)
{
    return a->win == b->win && a->call == b->call && a->sequence == b->sequence;
}

static int by_number(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;

    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static int by_time(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;

    return x->time < y->time ? -1 : x->time > y->time;
}

/* Of the calls of all ranks that are one meeting, the last; none where one need not wait. */
static void keep_last(struct meetings *meetings, const bool *waits)
{
    struct meeting *meeting = meetings->meeting;
    size_t kept = 0;

    for (size_t i = 0, end; i < meetings->n; i = end) {
        struct meeting last = meeting[i];

        for (end = i + 1; end < meetings->n && same(&meeting[i], &meeting[end]); end++)
            last.time = u64_max(last.time, meeting[end].time);
        if (waits[last.win] || last.call != TRACE_CALL_Win_fence)
            meeting[kept++] = last;
    }
    meetings->n = kept;
}

static void add_operations(struct meetings *meetings, const struct trace *trace)
{
    for (size_t i = 0; i < trace->ntogethers; i++) {
        const struct together *at = &trace->together[i];
        const unsigned pattern = pattern_of_together(at->op);

        if ((pattern == WAIT_AT_BARRIER || pattern == WAIT_AT_NXN) &&
            !trace->call[at->call].unrecorded)
            meetings->meeting[meetings->n++] =
                (struct meeting){trace->call[at->call].enter, (uint32_t)trace->nwindows + at->comm,
                                 at->sequence, TRACE_CALL_LAST};
    }
}

void meetings_find(struct meetings *meetings, const struct trace *trace)
{
    bool *waits = zalloc(trace->nwindows + trace->ncomms, sizeof *waits);

    *meetings = (struct meetings){.nranks = trace->nranks};
    meetings->meeting = zalloc(trace->ncalls + trace->ntogethers, sizeof *meetings->meeting);
    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];

        if (call->sequence == NONE || call->win == NONE || !call->synchronizes || call->unrecorded)
            continue;
        meetings->meeting[meetings->n++] =
            (struct meeting){call->enter, call->win, call->sequence, kind_of(call->call)};
        waits[call->win] = true;
    }
    add_operations(meetings, trace);
    sort(meetings->meeting, meetings->n, sizeof *meetings->meeting, by_number);
    keep_last(meetings, waits);
    sort(meetings->meeting, meetings->n, sizeof *meetings->meeting, by_time);
    meetings->member =
        zalloc((trace->nwindows + trace->ncomms) * trace->nranks, sizeof *meetings->member);
    for (size_t w = 0; w < trace->nwindows; w++)
        for (uint32_t k = 0; k < trace->window[w].nranks; k++)
            if (trace->window[w].world[k] < trace->nranks)
                meetings->member[w * trace->nranks + trace->window[w].world[k]] = true;
    for (size_t c = 0; c < trace->ncomms; c++)
        for (uint32_t k = 0; trace->comm[c] != NONE && k < trace->group[trace->comm[c]].n; k++)
            meetings->member[(trace->nwindows + c) * trace->nranks +
                             trace->group[trace->comm[c]].rank[k]] = true;
    free(waits);
}

void meetings_free(struct meetings *meetings)
{
    free(meetings->meeting);
    free(meetings->member);
}

uint64_t meetings_before(const struct meetings *meetings, uint32_t a, uint32_t b, uint64_t time)
{
    size_t low = 0, high = meetings->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (meetings->meeting[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t tries = 0; low-- > 0 && tries < LOOK_BACK; tries++) {
        const bool *member = &meetings->member[meetings->meeting[low].win * meetings->nranks];

        if (member[a] && member[b])
            return meetings->meeting[low].time;
    }
    return 0;
}
