/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_order.c - lets a call and the computation beside it change places: MPI_Win_complete and
 * unlock come right after the last operation, MPI_Win_post before a computation, MPI_Win_wait
 * after one.
 */
#include "changes.h"

#include <stdlib.h>

struct move {
    const char *key, *where, *assumes;
    bool earlier; /* before the computation in front of it; else behind the one that follows */
    uint16_t call[2];
    uint8_t pattern; /* without which nothing would be gained */
};

static const struct move moves[] = {
    {"complete_earlier",
     "right after the call before it, ahead of the computation between them",
     "That computation does not change what the operations of the epoch have sent or received.",
     true,
     {TRACE_CALL_Win_complete, 0},
     LATE_COMPLETE},
    {"unlock_earlier",
     "right after the call before it, ahead of the computation between them",
     "That computation needs neither the lock nor the window.",
     true,
     {TRACE_CALL_Win_unlock, TRACE_CALL_Win_unlock_all},
     LOCK_CONTENTION},
    {"post_earlier",
     "ahead of the computation in front of it",
     "That computation does not need what other ranks then change in the window.",
     true,
     {TRACE_CALL_Win_post, 0},
     LATE_POST},
    {"wait_later",
     "after the computation that follows it",
     "That computation does not need what other ranks put into the window; where a part of it "
     "does, less is saved.",
     false,
     {TRACE_CALL_Win_wait, 0},
     EARLY_WAIT},
};

/* unlocks_itself returns whether the call gives back a lock on the rank's own memory. What the rank
 * computes before such a call may load and store. */
static bool unlocks_itself(const struct plan *plan, uint32_t call)
{
    for (size_t i = plan->first_happening[call]; i < plan->first_happening[call + 1]; i++) {
        const struct happening *happening = &plan->happening[i];

        if (happening->kind == STEP_RELEASE &&
            plan->lock[happening->ref].target == plan->trace->call[call].rank)
            return true;
    }
    return false;
}

/* Whether an activity is such a call, with a computation beside it that it can change places with;
 * before a call that is moved ahead, there must be one of its own epoch. */
static bool can_move(const struct plan *plan, const struct move *move, size_t i, uint32_t rank)
{
    const struct timeline *line = plan->line;
    const struct activity *at = &line->activity[i];

    if (at->call == NONE || plan->trace->call[at->call].unrecorded)
        return false;
    const struct call *call = &plan->trace->call[at->call];
    if (call->call != move->call[0] && call->call != move->call[1])
        return false;
    if (!move->earlier)
        return i + 2 < line->first[rank + 1] && at[1].call == NONE;
    if (i < line->first[rank] + 2 || at[-1].call != NONE || unlocks_itself(plan, at->call))
        return false;
    const struct call *before = at[-2].call == NONE ? NULL : &plan->trace->call[at[-2].call];
    return before && (move->pattern == LATE_POST || before->win == call->win);
}

static void swap(size_t *order, size_t i)
{
    const size_t first = order[i];

    order[i] = order[i + 1];
    order[i + 1] = first;
}

static void one_group(struct trying *trying, const struct move *move, struct groups *groups,
                      size_t wanted)
{
    const struct plan *plan = &trying->plan;
    const struct timeline *line = plan->line;
    const struct group group = groups->group[wanted];
    const size_t n = line->first[plan->trace->nranks];
    struct change change = {.order = zalloc(n, sizeof *change.order)};

    for (size_t i = 0; i < n; i++)
        change.order[i] = i;
    for (uint32_t rank = 0; rank < plan->trace->nranks; rank++)
        for (size_t i = line->first[rank]; i < line->first[rank + 1]; i++)
            if (can_move(plan, move, i, rank) &&
                groups_of(groups, plan->trace, group.win, line->activity[i].call) == wanted)
                swap(change.order, move->earlier ? i - 1 : i);
    char *where = call_of_window(plan->trace, group.call, group.win);
    struct scenario scenario = {.key = move->key,
                                .assumes = move->assumes,
                                .win = group.win,
                                .rank = NONE,
                                .call = group.call,
                                .number = group.number};
    scenario.what = text("%s, %s", where, move->where);
    free(where);
    try_change(trying, &change, scenario);
}

void change_order(struct trying *trying)
{
    const struct plan *plan = &trying->plan;
    const struct timeline *line = plan->line;

    for (size_t m = 0; m < sizeof moves / sizeof *moves; m++) {
        struct groups groups = {0};

        if (trying->analysis->found[moves[m].pattern].total == 0)
            continue;
        for (uint32_t rank = 0; rank < plan->trace->nranks; rank++)
            for (size_t i = line->first[rank]; i < line->first[rank + 1]; i++)
                if (can_move(plan, &moves[m], i, rank)) {
                    const uint32_t call = line->activity[i].call;
                    const size_t group =
                        groups_of(&groups, plan->trace, plan->trace->call[call].win, call);

                    groups.group[group].number++;
                }
        for (size_t i = 0, found = groups.n; i < found; i++)
            one_group(trying, &moves[m], &groups, i);
        groups_free(&groups);
    }
}
