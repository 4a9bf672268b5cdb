/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_together.c - finds Wait at Barrier, Wait at N x N, Late Broadcast and Early Reduce.
 *
 * All processes of a communicator call its collective operations in the same order: the first
 * calls of all are one operation, and so on. Who waits for whom follows from where data go: from
 * all to all, from the root to all others, or from all others to the root.
 */
#include <stdlib.h>

#include "analysis.h"

unsigned pattern_of_together(unsigned op)
{
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return WAIT_AT_BARRIER;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return WAIT_AT_NXN;
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return LATE_BROADCAST;
    case OTF2_COLLECTIVE_OP_REDUCE:
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
        return EARLY_REDUCE;
    default:
        return PATTERNS;
    }
}

static int by_operation(const void *a, const void *b)
{
    const struct together *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* One process's part in an operation, which waits for another one's, unless it returns before that
 * has begun. */
static void wait_for(struct analysis *analysis, unsigned pattern, const struct together *waits,
                     const struct together *late)
{
    const struct call *call = &analysis->trace->call[waits->call];
    const struct call *cause = &analysis->trace->call[late->call];

    if (call->unrecorded || call->leave < cause->enter)
        return;
    found(analysis, (struct instance){.pattern = (uint8_t)pattern,
                                      .begin = call->enter,
                                      .end = cause->enter,
                                      .rank = call->rank,
                                      .cause = cause->rank,
                                      .win = NONE,
                                      .call = waits->call,
                                      .cause_call = late->call});
}

static void one_operation(void *data, const struct together *part, size_t n)
{
    struct analysis *analysis = data;
    const struct call *calls = analysis->trace->call;
    const unsigned pattern = pattern_of_together(part->op);
    const struct together *last = part, *root = NULL;

    if (pattern == PATTERNS)
        return;
    for (size_t i = 0; i < n; i++) {
        if (calls[part[i].call].enter > calls[last->call].enter)
            last = &part[i];
        if (part[i].rank == part[i].root)
            root = &part[i];
    }
    for (size_t i = 0; i < n; i++) {
        if (pattern == LATE_BROADCAST && root)
            wait_for(analysis, pattern, &part[i], root);
        else if ((pattern == EARLY_REDUCE && &part[i] == root) || pattern == WAIT_AT_BARRIER ||
                 pattern == WAIT_AT_NXN)
            wait_for(analysis, pattern, &part[i], last);
    }
}

void together_each(const struct trace *trace, together_parts *each, void *data)
{
    struct together *part = zalloc(trace->ntogethers, sizeof *part);

    for (size_t i = 0; i < trace->ntogethers; i++)
        part[i] = trace->together[i];
    sort(part, trace->ntogethers, sizeof *part, by_operation);
    for (size_t i = 0, end; i < trace->ntogethers; i = end) {
        bool is_one = true; /* else the recording was stopped in between */

        for (end = i + 1; end < trace->ntogethers && part[end].comm == part[i].comm &&
                          part[end].sequence == part[i].sequence;
             end++)
            is_one = is_one && part[end].op == part[i].op;
        if (is_one)
            each(data, &part[i], end - i);
    }
    free(part);
}

void find_together(struct analysis *analysis)
{
    together_each(analysis->trace, one_operation, analysis);
}
