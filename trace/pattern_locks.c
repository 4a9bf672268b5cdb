/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_locks.c - Lock Contention: from the request of a lock to its grant, what of that time
 * another process held a lock that excludes it, and the process was in a call of RMA meanwhile.
 */
#include <stdlib.h>

#include "analysis.h"
#include "index.h"

static int by_grant(const void *a, const void *b)
{
    const struct lock_use *x = *(const struct lock_use *const *)a;
    const struct lock_use *y = *(const struct lock_use *const *)b;

    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    return x->acquire < y->acquire ? -1 : x->acquire > y->acquire;
}

static bool exclude(const struct lock_use *a, const struct lock_use *b)
{
    bool same_target = a->target == b->target || a->target == NONE || b->target == NONE;

    return same_target && a->win == b->win && a->rank != b->rank && (a->exclusive || b->exclusive);
}

/* The call in which the process waited: the lock itself, or a later one where the lock was put off.
 * Of those that overlap, the one that is open when the grant is known. */
static uint32_t waiting_call(const struct trace *trace, const struct lock_use *lock)
{
    for (size_t i = lock->call == NONE ? trace->ncalls : lock->call; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];

        if (call->enter > lock->acquire)
            break;
        if (call->rma && call->rank == lock->rank && call->leave >= lock->acquire)
            return (uint32_t)i;
    }
    return lock->call;
}

static void one_request(struct analysis *analysis, const struct spans *calls,
                        const struct lock_use **hold, const uint64_t *released, size_t n,
                        const struct lock_use *lock)
{
    struct instance instance = {.pattern = LOCK_CONTENTION,
                                .rank = lock->rank,
                                .cause = NONE,
                                .win = lock->win,
                                .call = waiting_call(analysis->trace, lock),
                                .cause_call = NONE};
    uint64_t sum = 0, longest = 0, begin = UINT64_MAX, covered = UINT64_MAX;

    for (size_t i = n; i-- > 0 && hold[i]->win == lock->win && released[i] > lock->request;) {
        uint64_t from = u64_max(hold[i]->acquire, lock->request);
        uint64_t to = u64_min(u64_min(hold[i]->release, lock->acquire), covered);

        if (!exclude(hold[i], lock) || from >= to)
            continue;
        covered = from; /* several may hold a shared lock at a time */
        uint64_t waited = spans_overlap(&calls[lock->rank], from, to);
        sum += waited;
        if (waited > longest) {
            longest = waited;
            instance.cause = hold[i]->rank;
            instance.cause_call = hold[i]->call;
        }
        begin = u64_min(begin, from);
    }
    if (sum == 0)
        return;
    /* The instance is as long as the time that was lost, and ends with it. */
    instance.end = begin + sum;
    instance.begin = begin;
    found(analysis, instance);
}

void find_locks(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    const struct lock_use **hold = zalloc(trace->nlocks, sizeof *hold);
    uint64_t *released = zalloc(trace->nlocks, sizeof *released);
    struct spans *calls = spans_of_ranks(trace, INDEX_CALLS);
    size_t n = 0;

    for (size_t i = 0; i < trace->nlocks; i++)
        if (trace->lock[i].acquire && trace->lock[i].release)
            hold[n++] = &trace->lock[i];
    sort(hold, n, sizeof *hold, by_grant);
    /* The latest release of all locks of a window up to this one. */
    for (size_t i = 0; i < n; i++) {
        bool first = i == 0 || hold[i - 1]->win != hold[i]->win;

        released[i] = u64_max(hold[i]->release, first ? 0 : released[i - 1]);
    }
    for (size_t i = 0; i < n; i++)
        if (!hold[i]->nocheck)
            one_request(analysis, calls, hold, released, i, hold[i]);
    spans_free(calls, trace->nranks);
    free(released);
    free(hold);
}
