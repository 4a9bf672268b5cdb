/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c - counts calls by function and window, operations by window, path and pair of ranks;
 * and finds when each transfer ends by the chosen model.
 *
 * In the basic model a transfer ends where the issuing call returns. In the extended model it ends
 * where the standard completes it: at the return of the fence at the target, of MPI_Win_wait at
 * the target, or of the unlock or flush at the origin. A get always ends at its origin.
 */
#include <stdlib.h>

#include "analysis.h"
#include "table.h"
#include "epochs.h"

/* The return of each fence, by rank, window and number. */
static uint64_t fence_key(uint32_t rank, uint32_t win, uint32_t number)
{
    return ((uint64_t)rank << 44) ^ ((uint64_t)win << 28) ^ number;
}

static void read_fences(struct table *fences, const struct trace *trace)
{
    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];

        if (call->call == TRACE_CALL_Win_fence && call->win != NONE && call->sequence != NONE)
            table_put_number(fences, fence_key(call->rank, call->win, call->sequence), call->leave);
    }
}

static uint64_t extended_end(const struct trace *trace, const struct epochs *epochs,
                             const struct table *fences, const struct operation *op)
{
    uint64_t here = op->remote ? op->remote : op->local;
    const struct call *completer = op->completer == NONE ? NULL : &trace->call[op->completer];
    uint32_t access = epochs_of_op(epochs, trace, op);

    if (op->op == TRACE_GET || !completer)
        return here;
    if (completer->call == TRACE_CALL_Win_fence) {
        uint64_t there = table_number(fences, fence_key(op->target, op->win, op->fences));

        return there != TABLE_NONE ? there : here;
    }
    if (access == NONE)
        return here;
    const struct pairing *pairing = epochs_pairing(epochs, access, op->target);
    if (!pairing || pairing->exposure == NONE || epochs->exposure[pairing->exposure].last == NONE)
        return here;
    return u64_max(op->issue, trace->call[epochs->exposure[pairing->exposure].last].leave);
}

static void add_transfer(struct transfers *sum, const struct operation *op, uint64_t end)
{
    sum->operations++;
    sum->bytes += op->bytes;
    sum->model_ns += u64_minus(end, op->issue);
    if (op->arrived) {
        sum->arrived++;
        sum->arrived_ns += u64_minus(op->arrived, op->issue);
    }
}

static void add_ops(struct analysis *analysis, const struct epochs *epochs)
{
    const struct trace *trace = analysis->trace;
    struct table fences = {0};

    read_fences(&fences, trace);
    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];
        uint64_t end = op->issue;

        if (analysis->model == MODEL_EXTENDED)
            end = extended_end(trace, epochs, &fences, op);
        else if (op->call != NONE)
            end = trace->call[op->call].leave;
        analysis->end[i] = u64_max(end, op->issue);
        add_transfer(&analysis->by_window[op->win], op, end);
        add_transfer(&analysis->by_path[op->path], op, end);
        add_transfer(&analysis->by_op[op->op], op, end);
        add_transfer(&analysis->matrix[(size_t)op->rank * trace->nranks + op->target], op, end);
    }
    table_end(&fences, NULL);
}

static void add_call(struct profile *sum, uint64_t ns)
{
    sum->calls++;
    sum->ns += ns;
    sum->longest = u64_max(sum->longest, ns);
}

void profile(struct analysis *analysis, const struct epochs *epochs)
{
    const struct trace *trace = analysis->trace;

    analysis->call_by_window = zalloc(trace->nwindows + 1, sizeof *analysis->call_by_window);
    analysis->by_window = zalloc(trace->nwindows, sizeof *analysis->by_window);
    analysis->matrix = zalloc((size_t)trace->nranks * trace->nranks, sizeof *analysis->matrix);
    analysis->rma_ns = zalloc(trace->nranks, sizeof *analysis->rma_ns);
    analysis->other_ns = zalloc(trace->nranks, sizeof *analysis->other_ns);
    analysis->end = zalloc(trace->nops, sizeof *analysis->end);
    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];
        uint64_t ns = u64_minus(call->leave, call->enter);

        add_call(&analysis->by_call[call->call], ns);
        by_site_add(&analysis->by_site, call->call, call->site, ns);
        if (call->top && !call->rma)
            analysis->other_ns[call->rank] += ns;
        if (!call->outermost || !call->rma)
            continue;
        add_call(&analysis->call_by_window[call->win == NONE ? trace->nwindows : call->win], ns);
        analysis->rma_ns[call->rank] += ns;
    }
    for (size_t i = 0; i < trace->ndoings; i++) {
        const struct doing *doing = &trace->doing[i];

        if (doing->kind == OWN_WRITE_TRACE)
            analysis->writing_ns += u64_minus(doing->end, doing->begin);
        if (doing->kind == OWN_ASLEEP)
            analysis->sleeping_ns += u64_minus(doing->end, doing->begin);
    }
    add_ops(analysis, epochs);
}
