/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.c - see order.h. The walk over the steps, and what calls on windows mean; order_learn.c has
 * locks, atomic operations, notifications and the host's functions.
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

/* The operations that a call ends are numbered by it: a list of all, by the calls. */
static void list_ends(struct ends *ends, const uint32_t *call_of, size_t nops, size_t ncalls)
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
    list_ends(&order->remote, order->remote_call, trace->nops, trace->ncalls);
    list_ends(&order->local, order->local_call, trace->nops, trace->ncalls);
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

/* ---- fences, creation and end of windows ---- */

static struct side *side_of(struct order *order, uint32_t win, uint32_t rank)
{
    const uint64_t key = (uint64_t)win << 32 | rank;
    struct side *side = table_get(&order->sides, key);

    if (!side) {
        side = zalloc(1, sizeof *side);
        side->last_fence = NONE;
        (void)table_put(&order->sides, key, side);
    }
    return side;
}

static uint64_t meeting_key(const struct call *call)
{
    const uint64_t kind = call->call == TRACE_CALL_Win_fence  ? 2
                          : call->call == TRACE_CALL_Win_free ? 1
                                                              : 0;

    return ((uint64_t)call->win * 4 + kind) << 32 | call->sequence;
}

void order_meet(struct order *order, struct table *meetings, uint64_t key, uint32_t rank)
{
    struct meeting_point *point = table_get(meetings, key);

    if (!point) {
        point = zalloc(1, sizeof *point);
        (void)table_put(meetings, key, point);
    }
    clocks_leave(&order->clocks, rank, &point->known);
}

void order_part(struct order *order, struct table *meetings, uint64_t key, uint32_t rank,
                uint32_t nranks)
{
    struct meeting_point *point = table_get(meetings, key);

    if (!point)
        return;
    clocks_learn(&order->clocks, rank, point->known);
    if (++point->left < nranks)
        return;
    (void)table_take(meetings, key);
    free(point->known);
    free(point);
}

/* What others have issued for an epoch to which this process comes only now begins here. */
static void begin_waiting(struct order *order, struct waiting *waiting, uint32_t rank)
{
    uint32_t *clock = order->scratch;

    for (size_t i = 0; i < waiting->n; i++) {
        struct snap *snap = waiting->op[i].snap;

        memcpy(clock, snap->at, order->clocks.n * sizeof *clock);
        clocks_join(clock, clocks_of(&order->clocks, rank), order->clocks.n);
        order->calls.target(order->calls.arg, waiting->op[i].op, clock);
        snap_drop(snap);
    }
    waiting->n = 0;
}

static void enter_fence(struct order *order, const struct call *call)
{
    struct side *side = side_of(order, call->win, call->rank);
    struct waiting due = {NULL, 0, 0}, later = {NULL, 0, 0};

    side->fences = call->sequence + 1;
    snap_drop(side->entered);
    side->entered = clocks_snap(&order->clocks, call->rank);
    for (size_t i = 0; i < side->waiting.n; i++) {
        const struct waiting_op *op = &side->waiting.op[i];
        struct waiting *list = order->trace->op[op->op].fences <= side->fences ? &due : &later;

        list->op = grow(list->op, list->n, &list->cap, sizeof *list->op);
        list->op[list->n++] = *op;
    }
    free(side->waiting.op);
    side->waiting = later;
    begin_waiting(order, &due, call->rank);
    free(due.op);
}

/* ---- epochs of MPI_Win_start and MPI_Win_post ---- */

static struct exposed *exposed_by(struct order *order, const struct table *table, uint32_t call)
{
    const uint64_t at = table_number(table, call);

    return at == TABLE_NONE ? NULL : &order->exposed[at];
}

static void enter_post(struct order *order, uint32_t index)
{
    struct exposed *exposed = exposed_by(order, &order->posts, index);

    if (!exposed)
        return;
    exposed->posted = clocks_snap(&order->clocks, order->trace->call[index].rank);
    begin_waiting(order, &exposed->waiting, order->trace->call[index].rank);
    free(exposed->waiting.op);
    exposed->waiting = (struct waiting){NULL, 0, 0};
}

/* For each exposure epoch that belongs to the access epoch that this call completes. */
static void at_exposures(struct order *order, uint32_t index, bool learn)
{
    const uint64_t access = table_number(&order->completes, index);
    const struct call *call = &order->trace->call[index];

    if (access == TABLE_NONE)
        return;
    const struct ranks *group = &order->trace->group[order->epochs->access[access].group];
    for (uint32_t i = 0; i < group->n; i++) {
        const struct pairing *pairing =
            epochs_pairing(order->epochs, (uint32_t)access, group->rank[i]);

        if (!pairing || pairing->exposure == NONE)
            continue;
        struct exposed *exposed = &order->exposed[pairing->exposure];
        if (learn && exposed->posted)
            clocks_learn(&order->clocks, call->rank, exposed->posted->at);
        else if (!learn)
            clocks_leave(&order->clocks, call->rank, &exposed->completed);
    }
}

static void leave_wait(struct order *order, uint32_t index)
{
    struct exposed *exposed = exposed_by(order, &order->waits, index);

    if (!exposed)
        return;
    clocks_learn(&order->clocks, order->trace->call[index].rank, exposed->completed);
    free(exposed->completed);
    exposed->completed = NULL;
    snap_drop(exposed->posted);
    exposed->posted = NULL;
    exposed->over = true;
}

/* ---- operations ---- */

static void wait_with(struct order *order, struct waiting *waiting, uint32_t op)
{
    waiting->op = grow(waiting->op, waiting->n, &waiting->cap, sizeof *waiting->op);
    waiting->op[waiting->n++] =
        (struct waiting_op){op, clocks_snap(&order->clocks, order->trace->op[op].rank)};
}

/* The target has begun its epoch and then had this clock; NULL: it is not known. */
static void begin_at_target(struct order *order, uint32_t index, const struct snap *target)
{
    const struct operation *op = &order->trace->op[index];
    const uint32_t *clock = clocks_of(&order->clocks, op->rank);

    if (target && clock[op->target] < target->at[op->target]) {
        memcpy(order->scratch, clock, order->clocks.n * sizeof *clock);
        clocks_join(order->scratch, target->at, order->clocks.n);
        clock = order->scratch;
    }
    order->calls.target(order->calls.arg, index, clock);
}

static uint32_t opening_call(struct order *order, const struct operation *op)
{
    if (op->lock != NONE)
        return order->trace->lock[op->lock].call;
    if (!op->starts)
        return side_of(order, op->win, op->rank)->last_fence;
    const uint32_t access = epochs_of_op(order->epochs, order->trace, op);
    return access == NONE ? NONE : order->epochs->access[access].first;
}

/* At its target an operation begins now, or waits until that has begun the epoch. */
static void issue_to_target(struct order *order, uint32_t index)
{
    const struct operation *op = &order->trace->op[index];

    if (op->lock != NONE) {
        begin_at_target(order, index, NULL);
        return;
    }
    if (!op->starts) {
        struct side *side = side_of(order, op->win, op->target);

        if (side->fences < op->fences)
            wait_with(order, &side->waiting, index);
        else
            begin_at_target(order, index, side->entered);
        return;
    }
    const uint32_t exposure = order_exposure(order, index);
    struct exposed *exposed = exposure == NONE ? NULL : &order->exposed[exposure];
    if (exposed && !exposed->posted && !exposed->over)
        wait_with(order, &exposed->waiting, index);
    else
        begin_at_target(order, index, exposed ? exposed->posted : NULL);
}

static void issue(struct order *order, uint32_t index)
{
    const struct operation *op = &order->trace->op[index];

    order->opening[index] = opening_call(order, op);
    order->calls.local(order->calls.arg, index, clocks_of(&order->clocks, op->rank));
    issue_to_target(order, index);
    order_issue(order, index);
}

/* ---- the walk ---- */

/* Does anybody learn from this call, or it from others, or does it end operations? */
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
    if (call->sequence != NONE) {
        if (call->synchronizes)
            order_meet(order, &order->meetings, meeting_key(call), call->rank);
        if (call->call == TRACE_CALL_Win_fence)
            enter_fence(order, call);
    }
    if (call->call == TRACE_CALL_Win_post)
        enter_post(order, index);
    else if (call->call == TRACE_CALL_Win_complete)
        at_exposures(order, index, false);
    order_enter(order, index);
}

static void leave(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];

    if (!matters(order, index) || call->unrecorded)
        return;
    order_fetched(order, index);
    if (call->win == NONE)
        return;
    if (call->sequence != NONE) {
        if (call->synchronizes)
            order_part(order, &order->meetings, meeting_key(call), call->rank,
                       order->trace->window[call->win].nranks);
        if (call->call == TRACE_CALL_Win_fence)
            side_of(order, call->win, call->rank)->last_fence = index;
    }
    if (call->call == TRACE_CALL_Win_complete)
        at_exposures(order, index, true);
    else
        leave_wait(order, index);
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
        order_host_enter(order, &order->trace->call[moment->index]);
        break;
    case MOMENT_OTHER_LEAVE:
        order_host_leave(order, &order->trace->call[moment->index]);
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

static void number_epochs(struct order *order)
{
    const struct epochs *epochs = order->epochs;

    order->exposed = zalloc(epochs->nexposure, sizeof *order->exposed);
    for (size_t i = 0; i < epochs->nexposure; i++) {
        table_put_number(&order->posts, epochs->exposure[i].first, i);
        if (epochs->exposure[i].last != NONE)
            table_put_number(&order->waits, epochs->exposure[i].last, i);
    }
    for (size_t i = 0; i < epochs->naccess; i++)
        if (epochs->access[i].last != NONE)
            table_put_number(&order->completes, epochs->access[i].last, i);
}

static void free_waiting(struct waiting *waiting)
{
    for (size_t i = 0; i < waiting->n; i++)
        snap_drop(waiting->op[i].snap);
    free(waiting->op);
}

static void free_side(void *value)
{
    struct side *side = value;

    free_waiting(&side->waiting);
    snap_drop(side->entered);
    free(side);
}

void order_free_point(void *value)
{
    struct meeting_point *point = value;

    free(point->known);
    free(point);
}

static void end_order(struct order *order)
{
    for (size_t i = 0; i < order->epochs->nexposure; i++) {
        free_waiting(&order->exposed[i].waiting);
        free(order->exposed[i].completed);
        snap_drop(order->exposed[i].posted);
    }
    table_end(&order->sides, free_side);
    table_end(&order->meetings, order_free_point);
    table_end(&order->posts, NULL);
    table_end(&order->waits, NULL);
    table_end(&order->completes, NULL);
    free(order->exposed);
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
    number_epochs(&order);
    find_ends(&order);
    order_learn_begin(&order);
    for (size_t i = 0; i < trace->nmoments; i++) {
        one_moment(&order, &trace->moment[i]);
        if (i % 100000 == 0)
            progress("looking for conflicts", i, trace->nmoments);
    }
    progress_end();
    order_learn_end(&order);
    end_order(&order);
    *out = NULL;
}
