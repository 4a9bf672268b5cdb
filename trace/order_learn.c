/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order_learn.c - finds who learns from whom by locks, atomic operations, MPI_Win_sync and
 * notifications; see order.h.
 */
#include <stdlib.h>
#include <string.h>

#include "order_state.h"

/* The locks that a rank has on a window. */
struct held {
    uint32_t *lock;
    size_t n, cap;
};

/* Updates of more bytes than this are not looked up by their place. */
enum { NARROW = 64 };

void order_leave_at(struct order *order, struct table *table, uint64_t key, uint32_t rank)
{
    uint32_t *known = table_get(table, key), *before = known;

    clocks_leave(&order->clocks, rank, &known);
    if (!before)
        (void)table_put(table, key, known);
}

/* ---- locks ---- */

static struct lock_place *lock_place(struct order *order, uint32_t win, uint32_t target)
{
    const uint64_t key = (uint64_t)win << 32 | target;
    struct lock_place *place = table_get(&order->locks, key);

    if (!place) {
        place = zalloc(1, sizeof *place);
        (void)table_put(&order->locks, key, place);
    }
    return place;
}

/* The process has the lock, so it learns from those that had a lock which excludes this one. */
static void learn_lock(struct order *order, const struct lock_use *lock)
{
    const struct lock_place *all = lock_place(order, lock->win, NONE);
    const struct lock_place *one =
        lock->target == NONE ? NULL : lock_place(order, lock->win, lock->target);

    clocks_learn(&order->clocks, lock->rank,
                 !one              ? all->exclusive
                 : lock->exclusive ? one->any
                                   : one->exclusive);
    if (lock->exclusive)
        clocks_learn(&order->clocks, lock->rank, all->any);
}

static void leave_lock(struct order *order, const struct lock_use *lock)
{
    struct lock_place *all = lock_place(order, lock->win, NONE);

    if (lock->target == NONE) {
        clocks_leave(&order->clocks, lock->rank, &all->any);
        return;
    }
    struct lock_place *one = lock_place(order, lock->win, lock->target);
    clocks_leave(&order->clocks, lock->rank, &one->any);
    if (lock->exclusive) {
        clocks_leave(&order->clocks, lock->rank, &one->exclusive);
        clocks_leave(&order->clocks, lock->rank, &all->exclusive);
    }
}

static struct held *held_by(struct order *order, uint32_t rank, uint32_t win)
{
    const uint64_t key = (uint64_t)rank << 32 | win;
    struct held *held = table_get(&order->held, key);

    if (!held) {
        held = zalloc(1, sizeof *held);
        (void)table_put(&order->held, key, held);
    }
    return held;
}

void order_granted(struct order *order, uint32_t index)
{
    const struct lock_use *lock = &order->trace->lock[index];
    struct held *held = held_by(order, lock->rank, lock->win);

    for (size_t i = 0; i < held->n; i++)
        if (held->lock[i] == index) { /* one on all is granted by each */
            learn_lock(order, lock);
            return;
        }
    held->lock = grow(held->lock, held->n, &held->cap, sizeof *held->lock);
    held->lock[held->n++] = index;
    learn_lock(order, lock);
}

/* A call that completes operations has got the locks that it waited for. */
static void learn_held(struct order *order, const struct call *call)
{
    const struct held *held = held_by(order, call->rank, call->win);

    for (size_t i = 0; i < held->n; i++)
        learn_lock(order, &order->trace->lock[held->lock[i]]);
}

static void unlock(struct order *order, uint32_t call, bool is_left)
{
    const uint64_t index = table_number(&order->unlocks, call);

    if (index == TABLE_NONE)
        return;
    const struct lock_use *lock = &order->trace->lock[index];
    struct held *held = held_by(order, lock->rank, lock->win);
    if (!is_left) {
        leave_lock(order, lock);
        return;
    }
    learn_lock(order, lock);
    for (size_t i = 0; i < held->n; i++)
        if (held->lock[i] == index)
            held->lock[i] = held->lock[--held->n];
}

/* ---- atomic operations, MPI_Win_sync ---- */

static bool is_atomic(const struct operation *op)
{
    return op->op >= TRACE_ACCUMULATE;
}

/* The access at the target that tells where an atomic operation is; NULL: that is not recorded. */
static const struct access *target_access(const struct order *order, const struct operation *op)
{
    const struct access *access = &order->trace->access[op->access];

    return op->naccess && access->side == TRACE_AT_TARGET ? access : NULL;
}

static bool is_narrow(const struct operation *op, const struct access *access)
{
    return access && op->bytes <= NARROW && access->n == 1 && access->length <= NARROW;
}

static uint64_t word_key(uint32_t target, uint64_t address)
{
    return address / 8 ^ (uint64_t)(target + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void leave_update(struct order *order, const struct operation *op)
{
    const struct access *access = target_access(order, op);

    if (access && access->acc_op == TRACE_ACC_NO_OP)
        return;
    if (!is_narrow(op, access)) {
        clocks_leave(&order->clocks, op->rank, &order->wide[op->target]);
        return;
    }
    clocks_leave(&order->clocks, op->rank, &order->narrow[op->target]);
    for (uint64_t at = access->begin / 8; at <= (access->begin + access->length - 1) / 8; at++)
        order_leave_at(order, &order->words, word_key(op->target, at * 8), op->rank);
}

static void learn_update(struct order *order, const struct operation *op)
{
    const struct access *access = target_access(order, op);

    clocks_learn(&order->clocks, op->rank, order->wide[op->target]);
    if (!is_narrow(op, access)) {
        clocks_learn(&order->clocks, op->rank, order->narrow[op->target]);
        return;
    }
    for (uint64_t at = access->begin / 8; at <= (access->begin + access->length - 1) / 8; at++)
        clocks_learn(&order->clocks, op->rank,
                     table_get(&order->words, word_key(op->target, at * 8)));
}

void order_fetched(struct order *order, uint32_t call)
{
    for (uint32_t i = order->local.first[call]; i < order->local.first[call + 1]; i++) {
        const struct operation *op = &order->trace->op[order->local.op[i]];

        if (is_atomic(op) && op->op != TRACE_ACCUMULATE)
            learn_update(order, op);
    }
}

/* ---- notifications ---- */

static uint64_t raised_key(uint32_t target, uint32_t win, uint32_t number)
{
    return (uint64_t)target << 32 | (win * 64 + number % 64);
}

static void raise_notification(struct order *order, uint32_t index)
{
    const struct operation *op = &order->trace->op[index];
    const uint64_t key = raised_key(op->target, op->win, op->notification);
    struct raised *raised = table_get(&order->raised, key);

    if (!raised) {
        raised = zalloc(1, sizeof *raised);
        (void)table_put(&order->raised, key, raised);
    }
    raised->list.op =
        grow(raised->list.op, raised->list.n, &raised->list.cap, sizeof *raised->list.op);
    raised->list.op[raised->list.n++] =
        (struct waiting_op){index, clocks_snap(&order->clocks, op->rank)};
}

/* All of a source (NONE: of any) that may be meant: which of them are, cannot be told. */
static void take(struct order *order, uint32_t rank, uint32_t win, uint32_t number, uint32_t source)
{
    struct raised *raised = table_get(&order->raised, raised_key(rank, win, number));
    size_t kept = 0;

    if (!raised || raised->list.n == 0)
        return;
    const uint32_t now = clocks_tick(&order->clocks, rank);
    for (size_t i = 0; i < raised->list.n; i++) {
        struct waiting_op *one = &raised->list.op[i];

        if (source != NONE && order->trace->op[one->op].rank != source) {
            raised->list.op[kept++] = *one;
            continue;
        }
        clocks_learn(&order->clocks, rank, one->snap->at);
        snap_drop(one->snap);
        order->end[one->op].taken = now;
    }
    raised->list.n = kept;
}

void order_taken(struct order *order, const struct taking *taking)
{
    take(order, taking->rank, taking->win, taking->number, taking->source);
}

/* ---- steps ---- */

void order_enter(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];

    if (call->call == TRACE_CALL_Win_sync)
        clocks_leave(&order->clocks, call->rank, &order->synced[call->win]);
    unlock(order, index, false);
}

void order_leave(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];

    switch (call->call) {
    case TRACE_CALL_Win_sync:
        clocks_learn(&order->clocks, call->rank, order->synced[call->win]);
        clocks_learn(&order->clocks, call->rank, order->arrivals[call->rank]);
        break;
    case TRACE_CALL_Win_flush:
    case TRACE_CALL_Win_flush_all:
    case TRACE_CALL_Win_flush_local:
    case TRACE_CALL_Win_flush_local_all:
        learn_held(order, call);
        break;
    case TRACE_CALL_Notify_read: /* it may have seen them */
        for (uint32_t number = 0; number < 64; number++)
            take(order, call->rank, call->win, number, NONE);
        break;
    default:
        unlock(order, index, true);
    }
}

void order_issue(struct order *order, uint32_t index)
{
    const struct operation *op = &order->trace->op[index];

    if (order->fetches && is_atomic(op))
        leave_update(order, op);
    if (order->syncs && op->op != TRACE_GET)
        clocks_leave(&order->clocks, op->rank, &order->arrivals[op->target]);
    if (op->notification != NONE)
        raise_notification(order, index);
}

/* ---- begin and end ---- */

void order_learn_begin(struct order *order)
{
    const struct trace *trace = order->trace;

    order->wide = zalloc(trace->nranks, sizeof *order->wide);
    order->narrow = zalloc(trace->nranks, sizeof *order->narrow);
    order->arrivals = zalloc(trace->nranks, sizeof *order->arrivals);
    order->synced = zalloc(trace->nwindows, sizeof *order->synced);
    for (size_t i = 0; i < trace->nops; i++)
        order->fetches |= is_atomic(&trace->op[i]) && trace->op[i].op != TRACE_ACCUMULATE;
    for (size_t i = 0; i < trace->ncalls; i++)
        order->syncs |= trace->call[i].call == TRACE_CALL_Win_sync;
    for (size_t i = 0; i < trace->nlocks; i++)
        if (trace->lock[i].unlock != NONE)
            table_put_number(&order->unlocks, trace->lock[i].unlock, i);
}

static void free_lists(uint32_t **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static void free_place(void *value)
{
    struct lock_place *place = value;

    free(place->exclusive);
    free(place->any);
    free(place);
}

static void free_held(void *value)
{
    free(((struct held *)value)->lock);
    free(value);
}

static void free_raised(void *value)
{
    struct raised *raised = value;

    for (size_t i = 0; i < raised->list.n; i++)
        snap_drop(raised->list.op[i].snap);
    free(raised->list.op);
    free(raised);
}

void order_learn_end(struct order *order)
{
    const struct trace *trace = order->trace;

    free_lists(order->wide, trace->nranks);
    free_lists(order->narrow, trace->nranks);
    free_lists(order->arrivals, trace->nranks);
    free_lists(order->synced, trace->nwindows);
    table_end(&order->locks, free_place);
    table_end(&order->held, free_held);
    table_end(&order->unlocks, NULL);
    table_end(&order->words, free);
    table_end(&order->raised, free_raised);
}
