/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_pairs.c - finds unneeded pairwise synchronizations: pairs of processes that a fence, or
 * an epoch of MPI_Win_start, synchronizes and that exchange nothing by it. A pair needs a fence if
 * it has operations before the fence, back to the fence before, or after it, up to the next one.
 */
#include <stdlib.h>

#include "analysis.h"
#include "epochs.h"

struct need {
    uint32_t win, fence, low, high;
};

static int by_need(const void *a, const void *b)
{
    const struct need *x = a, *y = b;

    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    if (x->fence != y->fence)
        return x->fence < y->fence ? -1 : 1;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->high < y->high ? -1 : x->high > y->high;
}

/* Different needs, counted; the list is sorted and shortened to them. */
static size_t distinct(struct need *need, size_t n)
{
    size_t count = 0;

    sort(need, n, sizeof *need, by_need);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_need(&need[i], &need[i - 1]) != 0)
            count++;
    return count;
}

/* Fences of all windows, and of how many pairs they are. */
static void count_fences(const struct trace *trace, uint32_t *fences, uint64_t *pairs)
{
    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];

        if (call->call == TRACE_CALL_Win_fence && call->win != NONE && call->sequence != NONE &&
            call->sequence + 1 > fences[call->win])
            fences[call->win] = call->sequence + 1;
    }
    for (size_t i = 0; i < trace->nwindows; i++) {
        uint64_t n = trace->window[i].nranks;

        *pairs += n > 0 ? fences[i] * (n * (n - 1) / 2) : 0;
    }
}

void find_pairs(struct analysis *analysis, const struct epochs *epochs)
{
    const struct trace *trace = analysis->trace;
    struct finding *finding = &analysis->found[UNNEEDED_SYNC];
    struct need *need = zalloc(2 * trace->nops, sizeof *need);
    uint32_t *fences = zalloc(trace->nwindows, sizeof *fences);
    uint64_t pairs = 0, needed;
    size_t n = 0;

    count_fences(trace, fences, &pairs);
    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];
        uint32_t low = op->rank < op->target ? op->rank : op->target;
        uint32_t high = op->rank < op->target ? op->target : op->rank;

        if (low == high || op->starts || op->completer == NONE ||
            trace->call[op->completer].call != TRACE_CALL_Win_fence)
            continue;
        if (op->fences > 0)
            need[n++] = (struct need){op->win, op->fences - 1, low, high};
        if (op->fences < fences[op->win])
            need[n++] = (struct need){op->win, op->fences, low, high};
    }
    needed = distinct(need, n);
    for (size_t i = 0; i < epochs->npairings; i++) {
        pairs++;
        needed += epochs->pairing[i].nops > 0;
    }
    finding->of = pairs;
    finding->number = u64_minus(pairs, needed);
    free(need);
    free(fences);
}
