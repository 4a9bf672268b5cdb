/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order_epochs.c - finds who learns from whom by fences, by creation and end of windows, and by
 * MPI_Win_post, start, complete and wait; and which operations begin at their target only when the
 * target has begun its part of the epoch. See order.h.
 */
#include <stdlib.h>
#include <string.h>

#include "order_state.h"

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

struct meeting_point *order_point(struct table *meetings, uint64_t key)
{
    struct meeting_point *point = table_get(meetings, key);

    if (!point) {
        point = zalloc(1, sizeof *point);
        (void)table_put(meetings, key, point);
    }
    return point;
}

void order_depart(struct table *meetings, uint64_t key, uint32_t nranks)
{
    struct meeting_point *point = table_get(meetings, key);

    if (point && ++point->left == nranks)
        order_free_point(table_take(meetings, key));
}

void order_meet(struct order *order, struct table *meetings, uint64_t key, uint32_t rank)
{
    clocks_leave(&order->clocks, rank, &order_point(meetings, key)->known);
}

void order_part(struct order *order, struct table *meetings, uint64_t key, uint32_t rank,
                uint32_t nranks)
{
    const struct meeting_point *point = table_get(meetings, key);

    if (!point)
        return;
    clocks_learn(&order->clocks, rank, point->known);
    order_depart(meetings, key, nranks);
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

static void forget_fences(struct side *side, size_t n)
{
    for (size_t i = 0; i < n; i++)
        snap_drop(side->entered[i]);
    side->nentered -= n;
    if (n > 0)
        memmove(side->entered, side->entered + n, side->nentered * sizeof *side->entered);
}

/* The clock that a rank had when it entered a fence, which begins an epoch: others access its
 * memory in that epoch also when it has already come to the fence that ends it. Of one that is
 * forgotten it is the clock of the first that is not; NULL: none is known. */
static const struct snap *entered_at(const struct side *side, uint32_t fence)
{
    const uint64_t forgotten = side->fences - side->nentered;

    if (side->nentered == 0)
        return NULL;
    return side->entered[fence > forgotten ? fence - forgotten - 1 : 0];
}

static void enter_fence(struct order *order, const struct call *call)
{
    struct side *side = side_of(order, call->win, call->rank);
    struct waiting due = {NULL, 0, 0}, later = {NULL, 0, 0};

    if (side->fences != call->sequence)
        forget_fences(side, side->nentered);
    side->fences = call->sequence + 1;
    side->entered = grow(side->entered, side->nentered, &side->entered_cap, sizeof *side->entered);
    side->entered[side->nentered++] = clocks_snap(&order->clocks, call->rank);
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

/* Where all have come to a fence before it returns, nobody accesses memory in earlier epochs any
 * more. */
static void leave_fence(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];
    struct side *side = side_of(order, call->win, call->rank);

    side->last_fence = index;
    if (call->synchronizes && side->nentered > 1)
        forget_fences(side, side->nentered - 1);
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

/* at_exposures calls a function for each exposure epoch that belongs to the access epoch that this
 * call completes. */
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

uint32_t order_opening(struct order *order, const struct operation *op)
{
    if (op->lock != NONE)
        return order->trace->lock[op->lock].call;
    if (!op->starts)
        return side_of(order, op->win, op->rank)->last_fence;
    const uint32_t access = epochs_of_op(order->epochs, order->trace, op);
    return access == NONE ? NONE : order->epochs->access[access].first;
}

void order_epochs_issue(struct order *order, uint32_t index)
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
            begin_at_target(order, index, entered_at(side, op->fences));
        return;
    }
    const uint32_t exposure = order_exposure(order, index);
    struct exposed *exposed = exposure == NONE ? NULL : &order->exposed[exposure];
    if (exposed && !exposed->posted && !exposed->over)
        wait_with(order, &exposed->waiting, index);
    else
        begin_at_target(order, index, exposed ? exposed->posted : NULL);
}

/* ---- steps ---- */

void order_epochs_enter(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];

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
}

void order_epochs_leave(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];

    if (call->sequence != NONE) {
        if (call->synchronizes)
            order_part(order, &order->meetings, meeting_key(call), call->rank,
                       order->trace->window[call->win].nranks);
        if (call->call == TRACE_CALL_Win_fence)
            leave_fence(order, index);
    }
    if (call->call == TRACE_CALL_Win_complete)
        at_exposures(order, index, true);
    else
        leave_wait(order, index);
}

/* ---- begin and end ---- */

void order_epochs_begin(struct order *order)
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
    forget_fences(side, side->nentered);
    free(side->entered);
    free(side);
}

void order_free_point(void *value)
{
    struct meeting_point *point = value;

    for (uint32_t i = 0; point->below && i < point->nbelow; i++)
        free(point->below[i]);
    free(point->below);
    free(point->known);
    free(point);
}

void order_epochs_end(struct order *order)
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
}
