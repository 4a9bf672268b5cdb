/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_locks.c - makes exclusive locks shared ones, where the operations under them allow it:
 * only gets, or only atomic operations. The ranges of puts are not recorded, so locks with puts
 * stay exclusive. So do locks of a rank on its own memory without an operation, since that rank
 * loads and stores without a call.
 *
 * A place in the program is changed only if all its locks allow it. The places of a window whose
 * locks have gets alone are changed together, and so are those whose locks have atomic operations.
 */
#include "changes.h"

#include <stdlib.h>

enum what { NOTHING = 0, GETS = 1, ATOMICS = 2, OTHERS = 4 };

static int by_holder(const void *a, const void *b)
{
    const struct lock_use *x = *(const struct lock_use *const *)a;
    const struct lock_use *y = *(const struct lock_use *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return x->request < y->request ? -1 : x->request > y->request;
}

/* The lock that an operation is under, the last that was asked for before it; NULL: none. */
static const struct lock_use *lock_of(const struct lock_use **list, size_t n,
                                      const struct operation *op)
{
    const struct lock_use wanted = {.rank = op->rank,
                                    .win = op->win,
                                    .target = op->target,
                                    .request = op->issue},
                          *key = &wanted;
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (by_holder(&list[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct lock_use *lock = list[low - 1];
    return lock->rank == op->rank && lock->win == op->win && lock->target == op->target &&
                   (lock->release == 0 || op->issue <= lock->release)
               ? lock
               : NULL;
}

/* find_uses returns for each lock what is done under it: values of enum what, ORed. */
static uint8_t *find_uses(const struct trace *trace)
{
    const struct lock_use **list = zalloc(trace->nlocks, sizeof *list);
    uint8_t *uses = zalloc(trace->nlocks, sizeof *uses);

    for (size_t i = 0; i < trace->nlocks; i++) {
        list[i] = &trace->lock[i];
    }
    sort(list, trace->nlocks, sizeof *list, by_holder);
    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];
        const struct lock_use *lock = lock_of(list, trace->nlocks, op);

        if (lock)
            uses[lock - trace->lock] |= op->op == TRACE_GET   ? GETS
                                        : op->op == TRACE_PUT ? OTHERS
                                                              : ATOMICS;
    }
    for (size_t i = 0; i < trace->nlocks; i++)
        if (uses[i] == NOTHING && trace->lock[i].target == trace->lock[i].rank)
            uses[i] = OTHERS;
    free(list);
    return uses;
}

/* one_window shares the locks of one window that allow it by what is done under them. */
static void one_window(struct trying *trying, const struct groups *groups, const size_t *group,
                       const uint8_t *uses, struct group first)
{
    const struct trace *trace = trying->plan.trace;
    const uint8_t what = uses[first.number];
    struct change change = {.shared = zalloc(trace->nlocks, sizeof *change.shared)};
    struct scenario scenario = {
        .key = "locks_shared", .win = first.win, .rank = NONE, .call = first.call};
    unsigned places = 0;

    for (size_t i = 0; i < trace->nlocks; i++)
        if (group[i] != SIZE_MAX && groups->group[group[i]].win == first.win && uses[i] == what) {
            change.shared[i] = true;
            scenario.number++;
            places += groups->group[group[i]].call == trace->lock[i].call;
        }
    char *where = call_of_window(trace, first.call, first.win);
    scenario.what = places > 1 ? text("exclusive locks as shared ones: %s, and at %u other places",
                                      where, places - 1)
                               : text("exclusive locks as shared ones: %s", where);
    free(where);
    scenario.assumes =
        what == GETS ? "Under these locks the window is only read, as it is by the calls that are "
                       "recorded."
                     : "The atomic operations under these locks are all of one kind (MPI_Op), and "
                       "none of them needs the others not to be seen half done.";
    try_change(trying, &change, scenario);
}

void change_locks(struct trying *trying)
{
    const struct trace *trace = trying->plan.trace;

    if (trying->analysis->found[LOCK_CONTENTION].total == 0)
        return;
    uint8_t *uses = find_uses(trace);
    size_t *group = zalloc(trace->nlocks, sizeof *group);
    struct groups groups = {0};

    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];
        const bool counts = lock->exclusive && lock->call != NONE && trying->plan.is_replayed[i];

        group[i] = counts ? groups_of(&groups, trace, lock->win, lock->call) : SIZE_MAX;
    }
    /* What is done at a place is done under all its locks. */
    uint8_t *at_place = zalloc(groups.n, sizeof *at_place);
    for (size_t i = 0; i < trace->nlocks; i++)
        if (group[i] != SIZE_MAX)
            at_place[group[i]] |= uses[i];
    for (size_t i = 0; i < trace->nlocks; i++)
        if (group[i] != SIZE_MAX)
            uses[i] = at_place[group[i]];
    uint8_t *tried = zalloc(trace->nwindows, sizeof *tried);
    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];

        if (group[i] == SIZE_MAX || (uses[i] != GETS && uses[i] != ATOMICS) ||
            tried[lock->win] & uses[i])
            continue;
        tried[lock->win] |= uses[i];
        one_window(trying, &groups, group, uses, (struct group){lock->win, lock->call, i});
    }
    free(tried);
    free(at_place);
    groups_free(&groups);
    free(group);
    free(uses);
}
