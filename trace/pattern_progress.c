/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_progress.c - finds Wait for Progress. A call of the origin completes operations, or asks
 * for a lock, by packets, and the target serves the first of these packets later. Of that time it
 * is the part in which no thread of the target was in a call of RMA or served anybody.
 *
 * Only archives of mpi-rma-trace say when a target serves.
 */
#include <stdlib.h>

#include "analysis.h"
#include "index.h"

struct looking {
    struct analysis *analysis;
    struct doings served, parked, queued;
    struct spans *busy;
    struct instance *worst; /* of each call, the operation that waited longest in it */
};

/* reaction returns when the target first did anything for the origin's packets: when it served
 * them, or let them wait, which is no lack of progress. It returns 0 if that is not recorded. */
static uint64_t reaction(const struct looking *l, uint32_t origin, uint64_t issue, uint32_t target,
                         uint32_t win)
{
    const struct doings *kinds[] = {&l->served, &l->parked, &l->queued};
    uint64_t first = UINT64_MAX;

    for (int i = 0; i < 3; i++) {
        const struct doing *doing = doings_first(kinds[i], target, origin, win, issue);

        if (doing)
            first = u64_min(first, doing->begin);
    }
    return first == UINT64_MAX ? 0 : first;
}

static void look(struct looking *l, uint32_t waiting, uint64_t issue, uint32_t target, uint32_t win)
{
    const struct trace *trace = l->analysis->trace;
    const struct call *call = &trace->call[waiting];
    uint64_t begin = u64_max(call->enter, issue);
    uint64_t end = u64_min(reaction(l, call->rank, issue, target, win), call->leave);

    if (end <= begin)
        return;
    uint64_t lost = end - begin - spans_overlap(&l->busy[target], begin, end);
    struct instance *worst = &l->worst[waiting];
    if (lost > worst->end - worst->begin)
        *worst = (struct instance){.pattern = WAIT_FOR_PROGRESS,
                                   .begin = end - lost,
                                   .end = end,
                                   .rank = call->rank,
                                   .cause = target,
                                   .win = win,
                                   .call = waiting,
                                   .cause_call = NONE};
}

void find_progress(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct looking l = {.analysis = analysis,
                        .served = doings_by_rank(trace, OWN_SERVE),
                        .parked = doings_by_rank(trace, OWN_PARKED),
                        .queued = doings_by_rank(trace, OWN_LOCK_QUEUE)};

    l.busy = spans_of_ranks(trace, INDEX_BUSY);
    l.worst = zalloc(trace->ncalls, sizeof *l.worst);
    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];

        if (op->path != TRACE_PACKETS && op->path != TRACE_NETWORK)
            continue;
        /* A fence and MPI_Win_wait wait for calls, which have patterns of their own. */
        if (op->completer != NONE && trace->call[op->completer].call != TRACE_CALL_Win_fence)
            look(&l, op->completer, op->issue, op->target, op->win);
    }
    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];

        if (lock->target != NONE && lock->call != NONE &&
            lock->acquire > trace->call[lock->call].enter &&
            lock->acquire <= trace->call[lock->call].leave && lock->acquire > lock->request)
            look(&l, lock->call, lock->request, lock->target, lock->win);
    }
    for (size_t i = 0; i < trace->ncalls; i++)
        if (l.worst[i].end)
            found(analysis, l.worst[i]);
    spans_free(l.busy, trace->nranks);
    free(l.served.doing);
    free(l.parked.doing);
    free(l.queued.doing);
    free(l.worst);
}
