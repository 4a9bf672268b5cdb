/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_small.c - replaces many small operations by one, or many flushes that complete one small
 * operation each by one flush.
 */
#include "changes.h"

#include <stdlib.h>

#include "index.h"
#include "small.h"

/* What recording a call with an operation takes at the most, ns. */
enum { RECORDING = 100 };

/* ---- one operation ---- */

struct gathering {
    struct trying *trying;
    struct groups groups;
    size_t wanted;
    uint64_t recording;    /* ns of each call */
    struct spans *writing; /* of each rank, when it has written the trace */
    struct change *change;
};

static void find_group_of(void *data, const struct operation **list, size_t n)
{
    struct gathering *gathering = data;
    const size_t group =
        groups_of(&gathering->groups, gathering->trying->plan.trace, list[0]->win, list[0]->call);

    gathering->groups.group[group].number += n;
}

/* work_of returns how long a call takes itself, without the writing of the trace. */
static uint64_t work_of(const struct plan *plan, const struct spans *writing, size_t activity)
{
    const struct activity *at = &plan->line->activity[activity];
    const uint32_t rank = plan->trace->call[at->call].rank;

    return u64_minus(plan_work(plan, activity), spans_overlap(&writing[rank], at->begin, at->end));
}

/* One of the run's operations is left, which takes as long as their mean. The time that recording
 * the others took is not saved. */
static void gather(void *data, const struct operation **list, size_t n)
{
    struct gathering *gathering = data;
    const struct plan *plan = &gathering->trying->plan;
    uint64_t *work = gathering->change->work, sum = 0, all = 0, count = 0;
    size_t last = SIZE_MAX;

    if (groups_of(&gathering->groups, plan->trace, list[0]->win, list[0]->call) !=
        gathering->wanted)
        return;
    for (size_t i = 0; i < n; i++) {
        const size_t at = plan->activity[list[i]->call];

        if (at == SIZE_MAX)
            continue;
        sum += work_of(plan, gathering->writing, at);
        all += plan_work(plan, at);
        work[at] = 0;
        last = at;
        count++;
    }
    if (count > 0)
        work[last] = all - (count - 1) * u64_minus(sum / count, gathering->recording);
}

/* A call that does nothing, and only is recorded, takes no longer than the shortest call. */
static uint64_t recording_of(const struct plan *plan, const struct spans *writing)
{
    uint64_t least = RECORDING;

    for (size_t i = 0; i < plan->trace->nops; i++) {
        const uint32_t call = plan->trace->op[i].call;

        if (call != NONE && plan->activity[call] != SIZE_MAX)
            least = u64_min(least, work_of(plan, writing, plan->activity[call]));
    }
    return least;
}

static void gather_all(struct trying *trying)
{
    const struct trace *trace = trying->plan.trace;
    struct gathering gathering = {.trying = trying};

    if (trying->analysis->found[SMALL_OPERATIONS].total < trying->whatif->noise)
        return;
    gathering.writing = spans_of_ranks(trace, INDEX_WRITING);
    gathering.recording = recording_of(&trying->plan, gathering.writing);
    small_runs(trace, find_group_of, &gathering);
    for (size_t i = 0; i < gathering.groups.n; i++) {
        const struct group group = gathering.groups.group[i];
        struct change change = {.work = unchanged_work(&trying->plan)};
        char *where = call_of_window(trace, group.call, group.win);

        gathering.wanted = i;
        gathering.change = &change;
        small_runs(trace, gather, &gathering);
        try_change(
            trying, &change,
            (struct scenario){
                .key = "small_gathered",
                .what = text("one operation for each run of small ones to one target: %s", where),
                .assumes = "Each run takes as long as the longest of its operations; what "
                           "recording their calls has taken is saved, too.",
                .win = group.win,
                .rank = NONE,
                .call = group.call,
                .number = group.number});
        free(where);
    }
    spans_free(gathering.writing, trace->nranks);
    groups_free(&gathering.groups);
}

/* ---- one flush ---- */

static bool is_flush(const struct call *call)
{
    return call->call == TRACE_CALL_Win_flush || call->call == TRACE_CALL_Win_flush_all ||
           call->call == TRACE_CALL_Win_flush_local || call->call == TRACE_CALL_Win_flush_local_all;
}

static bool is_same_call(const struct call *a, const struct call *b)
{
    return a->call == b->call && a->win == b->win && a->site == b->site;
}

/* has_results returns whether the process has the results of a call only behind the flush, and may
 * need them then. */
static bool has_results(const struct call *call)
{
    switch (call->call) {
    case TRACE_CALL_Get:
    case TRACE_CALL_Get_accumulate:
    case TRACE_CALL_Fetch_and_op:
    case TRACE_CALL_Compare_and_swap:
        return true;
    default:
        return false;
    }
}

/* A run of flushes: they follow one another, with the same operation between each two. */
struct flushes {
    size_t op, flush; /* the last operation, and the last flush; SIZE_MAX: none */
    uint64_t sum;     /* ns, of the flushes so far */
    uint64_t number;
};

/* The last flush of a run takes as long as their mean, and the others take no time. */
static void next_flush(const struct plan *plan, struct flushes *run, size_t flush, uint64_t *work)
{
    if (run->number > 0)
        work[run->flush] = 0;
    run->sum += plan_work(plan, flush);
    run->number++;
    work[flush] = run->sum / run->number;
    run->flush = flush;
}

/* The runs of one rank whose flushes are of a group; with groups->n == 0 before, finds the groups:
 * work is NULL then. */
static void flushes_of_rank(struct trying *trying, uint32_t rank, struct groups *groups,
                            size_t wanted, uint64_t *work)
{
    const struct plan *plan = &trying->plan;
    const struct timeline *line = plan->line;
    const struct trace *trace = plan->trace;
    struct flushes run = {SIZE_MAX, SIZE_MAX, 0, 0};

    for (size_t i = line->first[rank]; i < line->first[rank + 1]; i++) {
        const uint32_t call = line->activity[i].call;
        const struct call *at = call == NONE ? NULL : &trace->call[call];

        if (!at)
            continue;
        if (!is_flush(at)) {
            if (run.op == SIZE_MAX || !is_same_call(at, &trace->call[line->activity[run.op].call]))
                run = (struct flushes){SIZE_MAX, SIZE_MAX, 0, 0};
            run.op = has_results(at) ? SIZE_MAX : i;
            continue;
        }
        if (run.op == SIZE_MAX || trace->call[line->activity[run.op].call].win != at->win ||
            (run.number > 0 && (run.flush > run.op ||
                                !is_same_call(at, &trace->call[line->activity[run.flush].call])))) {
            run = (struct flushes){SIZE_MAX, SIZE_MAX, 0, 0};
            continue;
        }
        const size_t group = groups_of(groups, trace, at->win, call);
        if (!work)
            groups->group[group].number++;
        if (work && group == wanted)
            next_flush(plan, &run, i, work);
        else {
            run.flush = i;
            run.number++;
        }
    }
}

static void one_flush(struct trying *trying)
{
    const struct trace *trace = trying->plan.trace;
    struct groups groups = {0};

    for (uint32_t rank = 0; rank < trace->nranks; rank++)
        flushes_of_rank(trying, rank, &groups, SIZE_MAX, NULL);
    for (size_t i = 0; i < groups.n; i++) {
        const struct group group = groups.group[i];
        struct change change = {.work = unchanged_work(&trying->plan)};
        char *where = call_of_window(trace, group.call, group.win);

        for (uint32_t rank = 0; rank < trace->nranks; rank++)
            flushes_of_rank(trying, rank, &groups, i, change.work);
        try_change(trying, &change,
                   (struct scenario){
                       .key = "flush_once",
                       .what = text("one flush after the last of several operations instead of "
                                    "one after each: %s",
                                    where),
                       .assumes = "Nobody needs one of the operations to be complete before the "
                                  "last; the flush takes as long as the mean of them did.",
                       .win = group.win,
                       .rank = NONE,
                       .call = group.call,
                       .number = group.number});
        free(where);
    }
    groups_free(&groups);
}

void change_small(struct trying *trying)
{
    gather_all(trying);
    one_flush(trying);
}
