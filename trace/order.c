/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.c - see order.h. The walk over the steps, and where operations end. What the steps mean is
 * in order_epochs.c (fences, post and start), order_learn.c (locks, atomic operations,
 * notifications) and order_host.c (messages, and the host's other functions).
 */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "order_state.h"

/* ---- which call ends which operations ---- */

static uint32_t remote_end(const struct order *order, uint32_t index)
{
    const struct operation *op = &order->trace->op[index];

    if (!op->at_wait)
        return op->finisher;
    const uint32_t exposure = order_exposure(order, index);
    return exposure == NONE ? NONE : order->epochs->exposure[exposure].last;
}

uint32_t order_exposure(const struct order *order, uint32_t index)
{
    const struct operation *op = &order->trace->op[index];
    const uint32_t access = epochs_of_op(order->epochs, order->trace, op);
    const struct pairing *pairing =
        access == NONE ? NULL : epochs_pairing(order->epochs, access, op->target);

    return pairing ? pairing->exposure : NONE;
}

void order_list_ends(struct ends *ends, const uint32_t *call_of, size_t nops, size_t ncalls)
{
    ends->first = zalloc(ncalls + 1, sizeof *ends->first);
    ends->op = zalloc(nops, sizeof *ends->op);
    for (size_t i = 0; i < nops; i++)
        if (call_of[i] != NONE)
            ends->first[call_of[i] + 1]++;
    for (size_t i = 0; i < ncalls; i++)
        ends->first[i + 1] += ends->first[i];
    uint32_t *next = zalloc(ncalls + 1, sizeof *next);
    memcpy(next, ends->first, (ncalls + 1) * sizeof *next);
    for (size_t i = 0; i < nops; i++)
        if (call_of[i] != NONE)
            ends->op[next[call_of[i]]++] = (uint32_t)i;
    free(next);
}

static void find_ends(struct order *order)
{
    const struct trace *trace = order->trace;

    order->remote_call = zalloc(trace->nops, sizeof *order->remote_call);
    order->local_call = zalloc(trace->nops, sizeof *order->local_call);
    for (size_t i = 0; i < trace->nops; i++) {
        const uint32_t remote = remote_end(order, (uint32_t)i), local = trace->op[i].completer;

        order->remote_call[i] = remote < trace->ncalls && !trace->op[i].unrecorded ? remote : NONE;
        order->local_call[i] =
            local < trace->ncalls && !trace->call[local].unrecorded ? local : NONE;
    }
    order_list_ends(&order->remote, order->remote_call, trace->nops, trace->ncalls);
    order_list_ends(&order->local, order->local_call, trace->nops, trace->ncalls);
}

static void end_operations(struct order *order, uint32_t index, uint32_t now)
{
    const struct trace *trace = order->trace;

    for (uint32_t i = order->remote.first[index]; i < order->remote.first[index + 1]; i++) {
        struct op_end *end = &order->end[order->remote.op[i]];

        end->remote = now;
        end->at_target = trace->op[order->remote.op[i]].at_wait;
    }
    for (uint32_t i = order->local.first[index]; i < order->local.first[index + 1]; i++)
        order->end[order->local.op[i]].local = now;
}

static bool reads_only(const struct operation *op)
{
    return op->op != TRACE_PUT && op->op != TRACE_ACCUMULATE;
}

bool order_before(const struct order *order, uint32_t index, bool at_target, const uint32_t *clock)
{
    const struct op_end *end = &order->end[index];
    const struct operation *op = &order->trace->op[index];

    if ((!at_target || reads_only(op)) && end->local && clock[op->rank] >= end->local)
        return true; /* what has been fetched has been there */
    if (!at_target)
        return false;
    return (end->remote && clock[end->at_target ? op->target : op->rank] >= end->remote) ||
           (end->taken && clock[op->target] >= end->taken);
}

uint64_t order_end(const struct order *order, uint32_t op, bool at_target)
{
    const uint32_t call = at_target ? order->remote_call[op] : order->local_call[op];

    return call == NONE ? UINT64_MAX : order->trace->call[call].enter;
}

uint32_t order_closing(const struct order *order, uint32_t op)
{
    return order->remote_call[op];
}

uint32_t order_epoch(const struct order *order, uint32_t op)
{
    return order->opening[op];
}

static void issue(struct order *order, uint32_t index)
{
    const struct operation *op = &order->trace->op[index];

    order->opening[index] = order_opening(order, op);
    order->calls.local(order->calls.arg, index, clocks_of(&order->clocks, op->rank));
    order_epochs_issue(order, index);
    order_issue(order, index);
}

/* ---- the walk ---- */

/* matters returns whether anybody learns from this call, it learns from others, or it ends
 * operations. */
static bool matters(const struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];

    return order->remote.first[index] < order->remote.first[index + 1] ||
           order->local.first[index] < order->local.first[index + 1] ||
           call->call < TRACE_CALL_Put ||
           (call->call >= TRACE_CALL_Win_fence && call->call <= TRACE_CALL_Win_sync) ||
           call->call >= TRACE_CALL_Notify_read;
}

static void enter(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];

    if (!matters(order, index))
        return;
    end_operations(order, index, clocks_tick(&order->clocks, call->rank));
    if (call->win == NONE)
        return;
    order_epochs_enter(order, index);
    order_enter(order, index);
}

static void leave(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];

    if (call->unrecorded)
        return;
    order_messages_end(order, index);
    if (!matters(order, index))
        return;
    order_fetched(order, index);
    if (call->win == NONE)
        return;
    order_epochs_leave(order, index);
    order_leave(order, index);
}

static void one_moment(struct order *order, const struct moment *moment)
{
    switch (moment->kind) {
    case MOMENT_ENTER:
        enter(order, moment->index);
        break;
    case MOMENT_LEAVE:
        leave(order, moment->index);
        break;
    case MOMENT_OTHER_ENTER:
        order_host_enter(order, moment->index);
        break;
    case MOMENT_OTHER_LEAVE:
        order_host_leave(order, moment->index);
        break;
    case MOMENT_GRANTED:
        order_granted(order, moment->index);
        break;
    case MOMENT_TAKEN:
        order_taken(order, &order->trace->taking[moment->index]);
        break;
    default:
        issue(order, moment->index);
    }
}

static void end_order(struct order *order)
{
    free(order->remote.first);
    free(order->remote.op);
    free(order->local.first);
    free(order->local.op);
    free(order->remote_call);
    free(order->local_call);
    free(order->end);
    free(order->opening);
    free(order->scratch);
    clocks_end(&order->clocks);
}

void order_walk(const struct trace *trace, const struct epochs *epochs,
                const struct order_calls *calls, struct order **out)
{
    struct order order = {.trace = trace, .epochs = epochs, .calls = *calls};

    *out = &order;
    clocks_begin(&order.clocks, trace->nranks);
    order.scratch = zalloc(trace->nranks, sizeof *order.scratch);
    order.end = zalloc(trace->nops, sizeof *order.end);
    order.opening = zalloc(trace->nops, sizeof *order.opening);
    memset(order.opening, 0xff, trace->nops * sizeof *order.opening); /* NONE */
    order_epochs_begin(&order);
    find_ends(&order);
    order_learn_begin(&order);
    order_host_begin(&order);
    for (size_t i = 0; i < trace->nmoments; i++) {
        one_moment(&order, &trace->moment[i]);
        if (i % 100000 == 0)
            progress("looking for conflicts", i, trace->nmoments);
    }
    progress_end();
    order_learn_end(&order);
    order_host_end(&order);
    order_epochs_end(&order);
    end_order(&order);
    *out = NULL;
}
