/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_collective.c - finds Wait at Create, Wait at Free, Wait at Fence and Early Fence.
 */
#include <stdlib.h>

#include "analysis.h"
#include "index.h"

struct meeting {
    uint32_t win, sequence, call;
    uint8_t pattern;
};

static int by_meeting(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;

    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    if (x->pattern != y->pattern)
        return x->pattern < y->pattern ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

/* One collective call, of all that take part: whoever is early waits for the last. One that
 * returns before the last has come has not waited: the standard does not make every fence wait. */
static void one_meeting(struct analysis *analysis, const struct meeting *meeting, size_t n)
{
    const struct call *calls = analysis->trace->call;
    uint32_t last = meeting[0].call;

    for (size_t i = 1; i < n; i++)
        if (calls[meeting[i].call].enter > calls[last].enter)
            last = meeting[i].call;
    for (size_t i = 0; i < n; i++) {
        const struct call *call = &calls[meeting[i].call];

        if (call->unrecorded || !call->synchronizes || call->leave < calls[last].enter)
            continue;
        found(analysis, (struct instance){.pattern = meeting[i].pattern,
                                          .begin = call->enter,
                                          .end = calls[last].enter,
                                          .rank = call->rank,
                                          .cause = calls[last].rank,
                                          .win = call->win,
                                          .call = meeting[i].call,
                                          .cause_call = last});
    }
}

/* A fence's late operations: for each rank and fence the last that ends within it. */
struct late {
    uint64_t end;
    uint32_t cause;
};

static uint32_t fence_of(const struct meeting *meeting, size_t n, const struct trace *trace,
                         uint32_t rank, uint32_t sequence, uint32_t win)
{
    struct meeting key = {win, sequence, 0, WAIT_AT_FENCE};
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (by_meeting(&meeting[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && meeting[low].win == win && meeting[low].pattern == WAIT_AT_FENCE &&
           meeting[low].sequence == sequence;
         low++)
        if (trace->call[meeting[low].call].rank == rank)
            return meeting[low].call;
    return NONE;
}

static void note_late(struct late *late, const struct call *fence, uint64_t end, uint32_t cause)
{
    if (end > fence->enter && end > late->end && end <= fence->leave)
        *late = (struct late){end, cause};
}

static void find_early_fences(struct analysis *analysis, const struct meeting *meeting, size_t n)
{
    const struct trace *trace = analysis->trace;
    struct late *late = zalloc(trace->ncalls, sizeof *late);
    struct doings served = doings_by_rank(trace, OWN_SERVE);

    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];
        const struct call *completer = op->completer == NONE ? NULL : &trace->call[op->completer];

        if (!completer || completer->call != TRACE_CALL_Win_fence || op->rank == op->target)
            continue;
        uint32_t at = fence_of(meeting, n, trace, op->target, op->fences, op->win);
        if (at == NONE)
            continue;
        const struct call *fence = &trace->call[at];
        const struct doing *doing =
            doings_first(&served, op->target, op->rank, op->win, fence->enter);
        if (op->arrived && op->arrived < completer->leave)
            note_late(&late[at], fence, op->arrived, op->rank);
        if (doing)
            note_late(&late[at], fence, doing->end, op->rank);
    }
    for (size_t i = 0; i < trace->ncalls; i++)
        if (late[i].end)
            found(analysis, (struct instance){.pattern = EARLY_FENCE,
                                              .begin = trace->call[i].enter,
                                              .end = late[i].end,
                                              .rank = trace->call[i].rank,
                                              .cause = late[i].cause,
                                              .win = trace->call[i].win,
                                              .call = (uint32_t)i,
                                              .cause_call = NONE});
    free(served.doing);
    free(late);
}

void find_collective(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct meeting *meeting = zalloc(trace->ncalls, sizeof *meeting);
    size_t n = 0;

    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];
        uint8_t pattern = call->call == TRACE_CALL_Win_fence  ? WAIT_AT_FENCE
                          : call->call == TRACE_CALL_Win_free ? WAIT_AT_FREE
                                                              : WAIT_AT_CREATE;

        if (call->sequence != NONE && call->win != NONE)
            meeting[n++] = (struct meeting){call->win, call->sequence, (uint32_t)i, pattern};
    }
    sort(meeting, n, sizeof *meeting, by_meeting);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && meeting[end].win == meeting[i].win &&
                          meeting[end].pattern == meeting[i].pattern &&
                          meeting[end].sequence == meeting[i].sequence;)
            end++;
        one_meeting(analysis, &meeting[i], end - i);
    }
    find_early_fences(analysis, meeting, n);
    free(meeting);
}
