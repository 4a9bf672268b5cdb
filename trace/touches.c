/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * touches.c - see touches.h.
 */
#include "touches.h"

#include <stdlib.h>

/* So many earlier locks of a process on itself are looked at. */
enum { LOCKS_LOOKED_AT = 64 };

/* A lock of a process on itself. */
struct own_lock {
    uint64_t request;
    uint32_t rank, index; /* of trace->lock */
};

struct actor touch_actor(const struct trace *trace, const struct touch *touch)
{
    if (!touch->is_message) {
        const struct operation *op = &trace->op[touch->op];

        return (struct actor){op->issue, op->rank, op->call, op->completer};
    }
    if (touch->op < trace->nsendings) {
        const struct sending *sending = &trace->sending[touch->op];

        return (struct actor){sending->time, sending->rank, sending->call, sending->completer};
    }
    const struct receiving *receiving = &trace->receiving[touch->op - trace->nsendings];
    return (struct actor){receiving->posted, receiving->rank, receiving->call,
                          receiving->completer};
}

bool touch_at_target(const struct touch *touch)
{
    return touch->kind >= TOUCH_GET;
}

bool touch_only_reads(const struct touch *touch)
{
    return touch->kind == TOUCH_LOAD || touch->kind == TOUCH_GET ||
           (touch->kind == TOUCH_ATOMIC && touch->acc_op == TRACE_ACC_NO_OP);
}

/* functions_agree returns whether the functions of two atomic operations on one location may meet,
 * by what the window says. */
static bool functions_agree(const struct touches *all, const struct touch *a, const struct touch *b)
{
    const uint32_t win = all->trace->op[a->op].win;

    if (a->acc_op == b->acc_op || a->acc_op == TRACE_ACC_COMPARE_AND_SWAP ||
        b->acc_op == TRACE_ACC_COMPARE_AND_SWAP)
        return true;
    return table_number(&all->same_op, win) == TABLE_NONE &&
           (a->acc_op == TRACE_ACC_NO_OP || b->acc_op == TRACE_ACC_NO_OP);
}

/* block_at finds the block of an atomic operation at its target that contains the byte at this
 * address. It returns false if there is none. */
static bool block_at(const struct trace *trace, const struct operation *op, uint64_t address,
                     uint64_t *begin)
{
    for (uint32_t i = op->access; i < op->access + op->naccess; i++) {
        const struct access *access = &trace->access[i];
        const bool falls = access->stride < 0;
        const uint64_t step = falls ? -(uint64_t)access->stride : (uint64_t)access->stride;
        const uint64_t first = falls ? access->begin - (access->n - 1) * step : access->begin;

        if (access->side != TRACE_AT_TARGET || address < first)
            continue;
        const uint64_t k = step == 0 ? 0 : u64_min((address - first) / step, access->n - 1);
        *begin = first + k * step;
        if (address - *begin < access->length)
            return true;
    }
    return false;
}

bool touch_elements_agree(const struct trace *trace, const struct operation *a,
                          const struct operation *b, uint64_t address)
{
    uint64_t x, y;

    return a->element != b->element || !block_at(trace, a, address, &x) ||
           !block_at(trace, b, address, &y) ||
           (address - x) % a->element == (address - y) % a->element;
}

bool touches_compatible(const struct touches *all, const struct touch *a, const struct touch *b,
                        uint64_t address)
{
    if ((a->is_message && b->is_message) || (touch_only_reads(a) && touch_only_reads(b)))
        return true;
    if (a->op == b->op && a->is_message == b->is_message)
        return true;
    if (a->kind != TOUCH_ATOMIC || b->kind != TOUCH_ATOMIC)
        return false;
    const struct operation *x = &all->trace->op[a->op], *y = &all->trace->op[b->op];
    /* Accumulates of one process are done in their order, also where they overlap (MPI 4.1,
     * 12.7.2). */
    return a->type == b->type &&
           (x->rank == y->rank ||
            (touch_elements_agree(all->trace, x, y, address) && functions_agree(all, a, b)));
}

/* Has the process a lock on itself of that window while it begins this access to a buffer, so that
 * others cannot have it, or, exclusive, that excludes all others? */
static bool has_own_lock(const struct touches *all, const struct touch *touch, uint32_t win,
                         bool other_is_exclusive)
{
    const struct trace *trace = all->trace;
    const struct actor actor = touch_actor(trace, touch);
    size_t low = 0, high = all->nown_locks;

    while (low < high) { /* the first that is asked for later */
        const size_t middle = low + (high - low) / 2;
        const struct own_lock *lock = &all->own_lock[middle];

        if (lock->rank < actor.rank || (lock->rank == actor.rank && lock->request <= actor.time))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t tries = 0; low-- > 0 && tries < LOCKS_LOOKED_AT; tries++) {
        const struct lock_use *lock = &trace->lock[all->own_lock[low].index];

        if (lock->rank != actor.rank)
            return false;
        if (lock->win == win && !lock->nocheck && (lock->exclusive || other_is_exclusive) &&
            (lock->release == 0 || lock->release > actor.time))
            return true;
    }
    return false;
}

/* lock_of returns the lock under which an access is made at a target, or NULL if there is none. */
static const struct lock_use *lock_of(const struct trace *trace, const struct touch *touch)
{
    const uint32_t lock = touch_at_target(touch) ? trace->op[touch->op].lock : NONE;

    return lock == NONE ? NULL : &trace->lock[lock];
}

/* is_kept_off returns whether the target's lock on itself keeps an access under this lock away from
 * its buffer. */
static bool is_kept_off(const struct touches *all, const struct touch *touch,
                        const struct lock_use *lock, const struct touch *buffer)
{
    return lock && !lock->nocheck &&
           all->trace->op[touch->op].rank != touch_actor(all->trace, buffer).rank &&
           has_own_lock(all, buffer, all->trace->op[touch->op].win, lock->exclusive);
}

bool touches_excluded(const struct touches *all, const struct touch *a, const struct touch *b)
{
    const struct lock_use *mine = lock_of(all->trace, a), *other = lock_of(all->trace, b);

    if (touch_at_target(a) && touch_at_target(b))
        return mine && other && mine != other && mine->rank != other->rank &&
               all->trace->op[a->op].win == all->trace->op[b->op].win && !mine->nocheck &&
               !other->nocheck && (mine->exclusive || other->exclusive);
    if (touch_at_target(a))
        return is_kept_off(all, a, mine, b);
    return touch_at_target(b) && is_kept_off(all, b, other, a);
}

/* ---- begin and end ---- */

static int by_rank(const void *a, const void *b)
{
    const struct own_lock *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->request < y->request ? -1 : x->request > y->request;
}

static void find_own_locks(struct touches *all)
{
    const struct trace *trace = all->trace;

    all->own_lock = zalloc(trace->nlocks, sizeof *all->own_lock);
    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];

        if (lock->target == lock->rank || lock->target == NONE)
            all->own_lock[all->nown_locks++] =
                (struct own_lock){lock->request, lock->rank, (uint32_t)i};
    }
    sort(all->own_lock, all->nown_locks, sizeof *all->own_lock, by_rank);
}

void touches_begin(struct touches *all, const struct trace *trace)
{
    *all = (struct touches){.trace = trace};
    for (size_t i = 0; i < trace->nmemories; i++)
        if (trace->memory[i].same_op)
            table_put_number(&all->same_op, trace->memory[i].win, 1);
    find_own_locks(all);
}

void touches_end(struct touches *all)
{
    free(all->own_lock);
    table_end(&all->same_op, NULL);
}
