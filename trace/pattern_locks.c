/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_locks.c - finds Lock Contention: of the time from the request of a lock to its grant,
 * the part in which another process held a lock that excludes it, and the requesting process was
 * in a call of RMA.
 */
#include "analysis.h"
#include "holders.h"
#include "index.h"

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

/* Where several hold a shared lock at a time, the one that gives it back last is waited for. */
static void one_request(struct analysis *analysis, const struct spans *calls,
                        const struct holders *holders, const struct lock_use *lock)
{
    struct instance instance = {.pattern = LOCK_CONTENTION,
                                .rank = lock->rank,
                                .cause = NONE,
                                .win = lock->win,
                                .call = NONE,
                                .cause_call = NONE};
    uint64_t sum = 0, longest = 0, covered = lock->acquire;
    struct excluders excluders;
    const struct lock_use *held;

    excluders_begin(&excluders, holders, lock);
    while (covered > lock->request && (held = excluders_next(&excluders, covered)) != NULL) {
        const uint64_t to = u64_min(held->release, covered);

        covered = u64_max(held->acquire, lock->request);
        const uint64_t waited = spans_overlap(&calls[lock->rank], covered, to);
        sum += waited;
        if (waited > longest) {
            longest = waited;
            instance.cause = held->rank;
            instance.cause_call = held->call;
        }
    }
    if (sum == 0)
        return;
    instance.call = waiting_call(analysis->trace, lock);
    /* The instance is as long as the time that was lost, and ends with it. */
    instance.end = covered + sum;
    instance.begin = covered;
    found(analysis, instance);
}

void find_locks(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct spans *calls = spans_of_ranks(trace, INDEX_CALLS);
    struct holders holders;

    holders_begin(&holders, trace);
    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];

        if (lock->acquire && lock->release && !lock->nocheck)
            one_request(analysis, calls, &holders, lock);
    }
    holders_end(&holders);
    spans_free(calls, trace->nranks);
}
