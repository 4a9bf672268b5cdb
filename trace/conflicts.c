/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conflicts.c - see conflicts.h.
 *
 * Each access is compared with those that the bytes have seen before, as order.c walks the trace.
 * Of these only such are kept as a later access could conflict with and not with another one that
 * is kept: one that was over before an at least as strong access began, or that ends before another
 * one of the same process and kind, goes. So what is kept of a piece is about one access of each
 * kind and process, however many there have been.
 */
#include "conflicts.h"

#include <stdlib.h>

#include "order.h"
#include "pieces.h"
#include "table.h"

/* So many blocks of an access are looked at; one of more is left out. */
enum { BLOCKS_MAX = 1 << 16 };
enum { LOCKS_LOOKED_AT = 64 };

struct touch {
    uint32_t op;
    uint8_t kind, acc_op, type;
};

/* A lock of a process on itself. */
struct own_lock {
    uint64_t request;
    uint32_t rank, index; /* of trace->lock */
};

struct search {
    struct conflicts *found;
    const struct trace *trace;
    struct order *order;
    struct touch *touch;
    size_t ntouches, touches_cap;
    struct pieces *memory; /* of each rank */
    struct table by_sites; /* index of found->conflict + 1, by what makes conflicts one */
    unsigned char *keep;   /* for the accesses of a piece */
    size_t keep_cap;
    struct table same_op;      /* windows whose accumulate_ops is same_op */
    struct own_lock *own_lock; /* by rank, then in order of time */
    size_t nown_locks;

    /* ---- of the access that is looked at ---- */
    struct touch now;
    uint32_t number, rank;
    const uint32_t *clock;
};

static bool at_target(const struct touch *touch)
{
    return touch->kind >= TOUCH_GET;
}

static bool only_reads(const struct touch *touch)
{
    return touch->kind == TOUCH_LOAD || touch->kind == TOUCH_GET ||
           (touch->kind == TOUCH_ATOMIC && touch->acc_op == TRACE_ACC_NO_OP);
}

static bool writes_plainly(const struct touch *touch)
{
    return touch->kind == TOUCH_PUT || touch->kind == TOUCH_STORE;
}

/* May the functions of two atomic operations on one location meet, as the window says? */
static bool functions_agree(const struct search *search, const struct touch *a,
                            const struct touch *b)
{
    const uint32_t win = search->trace->op[a->op].win;

    if (a->acc_op == b->acc_op || a->acc_op == TRACE_ACC_COMPARE_AND_SWAP ||
        b->acc_op == TRACE_ACC_COMPARE_AND_SWAP)
        return true;
    return table_number(&search->same_op, win) == TABLE_NONE &&
           (a->acc_op == TRACE_ACC_NO_OP || b->acc_op == TRACE_ACC_NO_OP);
}

/* Could both be at the same time and the outcome still be defined? */
static bool compatible(const struct search *search, const struct touch *a, const struct touch *b)
{
    const struct operation *x = &search->trace->op[a->op], *y = &search->trace->op[b->op];

    if (a->op == b->op || (only_reads(a) && only_reads(b)))
        return true;
    if (a->kind != TOUCH_ATOMIC || b->kind != TOUCH_ATOMIC)
        return false;
    /* Those of one process are done in their order. */
    return a->type == b->type && (x->rank == y->rank || functions_agree(search, a, b));
}

/* Has the process a lock on itself of that window while it issues this operation, so that others
 * cannot have it, or, exclusive, that excludes all others? */
static bool has_own_lock(const struct search *search, const struct operation *op, uint32_t win,
                         bool other_is_exclusive)
{
    const struct trace *trace = search->trace;
    size_t low = 0, high = search->nown_locks;

    while (low < high) { /* the first that is asked for later */
        const size_t middle = low + (high - low) / 2;
        const struct own_lock *lock = &search->own_lock[middle];

        if (lock->rank < op->rank || (lock->rank == op->rank && lock->request <= op->issue))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t tries = 0; low-- > 0 && tries < LOCKS_LOOKED_AT; tries++) {
        const struct lock_use *lock = &trace->lock[search->own_lock[low].index];

        if (lock->rank != op->rank)
            return false;
        if (lock->win == win && !lock->nocheck && (lock->exclusive || other_is_exclusive) &&
            (lock->release == 0 || lock->release > op->issue))
            return true;
    }
    return false;
}

/* Do locks keep the two apart? */
static bool excluded(const struct search *search, const struct touch *a, const struct touch *b)
{
    const struct operation *x = &search->trace->op[a->op], *y = &search->trace->op[b->op];
    const struct lock_use *mine = x->lock == NONE ? NULL : &search->trace->lock[x->lock];
    const struct lock_use *other = y->lock == NONE ? NULL : &search->trace->lock[y->lock];

    if (at_target(a) && at_target(b))
        return mine && other && mine != other && mine->rank != other->rank && x->win == y->win &&
               !mine->nocheck && !other->nocheck && (mine->exclusive || other->exclusive);
    if (!at_target(a) && !at_target(b))
        return false;
    if (at_target(a))
        return mine && x->rank != y->rank && !mine->nocheck &&
               has_own_lock(search, y, x->win, mine->exclusive);
    return other && x->rank != y->rank && !other->nocheck &&
           has_own_lock(search, x, y->win, other->exclusive);
}

static bool is_before(const struct search *search, const struct touch *old)
{
    return order_before(search->order, old->op, at_target(old), search->clock);
}

/* ---- what is found ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 33;
}

static uint64_t place_of(const struct search *search, const struct touch *touch)
{
    const struct trace *trace = search->trace;
    const uint32_t index = trace->op[touch->op].call;
    const struct call *call = index < trace->ncalls ? &trace->call[index] : NULL;

    return mix(mix(touch->kind, call ? call->call : 0), call ? call->site : NONE);
}

static struct conflict_side side_of(const struct search *search, const struct touch *touch)
{
    const struct operation *op = &search->trace->op[touch->op];

    return (struct conflict_side){.op = touch->op,
                                  .opening = order_epoch(search->order, touch->op),
                                  .closing = at_target(touch) && !only_reads(touch)
                                                 ? order_closing(search->order, touch->op)
                                                 : op->completer,
                                  .kind = touch->kind,
                                  .acc_op = touch->acc_op};
}

static void report(struct search *search, const struct touch *old, uint64_t begin, uint64_t end)
{
    struct conflicts *found = search->found;
    const struct touch *now = &search->now;
    const uint64_t a = place_of(search, old), b = place_of(search, now);
    const uint32_t win = search->trace->op[at_target(now) ? now->op : old->op].win;
    const uint64_t key = mix(mix(mix(mix(1, a < b ? a : b), a < b ? b : a), win), search->rank);
    const uint64_t known = table_number(&search->by_sites, key);

    if (known != TABLE_NONE) {
        found->conflict[known].number++;
        return;
    }
    table_put_number(&search->by_sites, key, found->n);
    found->conflict = grow(found->conflict, found->n, &found->cap, sizeof *found->conflict);
    found->conflict[found->n++] =
        (struct conflict){.side = {side_of(search, old), side_of(search, now)},
                          .rank = search->rank,
                          .begin = begin,
                          .length = end - begin,
                          .number = 1};
}

/* ---- the accesses of a piece ---- */

/* Would whatever conflicts with old, which is over, conflict with the new one as well? */
static bool is_stronger(const struct touch *now, const struct touch *old)
{
    if (writes_plainly(now))
        return true;
    if (now->kind == TOUCH_ATOMIC && old->kind == TOUCH_ATOMIC)
        return now->type == old->type && now->acc_op == old->acc_op;
    return only_reads(old) && only_reads(now) && now->kind != TOUCH_ATOMIC;
}

/* Do both belong to one process, and is the old one over when the new one is? */
static bool outlasts(const struct search *search, const struct touch *old)
{
    const struct touch *now = &search->now;
    const struct operation *x = &search->trace->op[old->op], *y = &search->trace->op[now->op];

    return x->rank == y->rank && x->win == y->win && at_target(old) == at_target(now) &&
           x->at_wait == y->at_wait && x->lock == y->lock && is_stronger(now, old) &&
           order_end(search->order, old->op, at_target(old)) <=
               order_end(search->order, now->op, at_target(now)) &&
           (x->notification == NONE) == (y->notification == NONE);
}

static void look(void *arg, struct piece *piece)
{
    struct search *search = arg;
    const struct touch *now = &search->now;

    if (piece->n > search->keep_cap) {
        search->keep_cap = 2 * (size_t)piece->n;
        free(search->keep);
        search->keep = zalloc(search->keep_cap, 1);
    }
    for (uint32_t i = 0; i < piece->n; i++) {
        const struct touch *old = &search->touch[piece->access[i]];
        const bool before = is_before(search, old);

        search->keep[i] = piece->access[i] != search->number;
        if (!before && !compatible(search, old, now) && !excluded(search, old, now))
            report(search, old, piece->begin, piece->end);
        if ((before && is_stronger(now, old)) || outlasts(search, old))
            search->keep[i] = 0;
    }
    piece_keep(piece, search->keep);
}

static void add_blocks(struct search *search, const struct access *access)
{
    for (uint32_t i = 0; i < access->n; i++) {
        const uint64_t begin = access->begin + (uint64_t)i * (uint64_t)access->stride;

        pieces_add(&search->memory[search->rank], begin, begin + access->length, search->number,
                   look, search);
    }
}

static uint8_t kind_of(const struct operation *op, const struct access *access)
{
    if (access->side == TRACE_LOADED)
        return TOUCH_LOAD;
    if (access->side == TRACE_STORED)
        return TOUCH_STORE;
    return op->op == TRACE_PUT ? TOUCH_PUT : op->op == TRACE_GET ? TOUCH_GET : TOUCH_ATOMIC;
}

/* The accesses of an operation at its target, or those to its buffers. */
static void add_accesses(struct search *search, uint32_t index, bool target, const uint32_t *clock)
{
    const struct trace *trace = search->trace;
    const struct operation *op = &trace->op[index];
    unsigned last_side = 0;

    for (uint32_t i = op->access; i < op->access + op->naccess; i++) {
        const struct access *access = &trace->access[i];

        if ((access->side == TRACE_AT_TARGET) != target)
            continue;
        if (access->inexact || access->n > BLOCKS_MAX) {
            search->found->skipped++;
            continue;
        }
        search->now = (struct touch){index, kind_of(op, access), access->acc_op, access->type};
        search->rank = target ? op->target : op->rank;
        search->clock = clock;
        if (access->side != last_side) { /* else it is one with the last */
            search->touch =
                grow(search->touch, search->ntouches, &search->touches_cap, sizeof *search->touch);
            search->touch[search->ntouches++] = search->now;
        }
        last_side = access->side;
        search->number = (uint32_t)search->ntouches - 1;
        add_blocks(search, access);
    }
}

static void begin_local(void *arg, uint32_t op, const uint32_t *clock)
{
    add_accesses(arg, op, false, clock);
}

static void begin_target(void *arg, uint32_t op, const uint32_t *clock)
{
    add_accesses(arg, op, true, clock);
}

/* ---- begin and end ---- */

static int by_rank(const void *a, const void *b)
{
    const struct own_lock *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->request < y->request ? -1 : x->request > y->request;
}

static void find_own_locks(struct search *search)
{
    const struct trace *trace = search->trace;

    search->own_lock = zalloc(trace->nlocks, sizeof *search->own_lock);
    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];

        if (lock->target == lock->rank || lock->target == NONE)
            search->own_lock[search->nown_locks++] =
                (struct own_lock){lock->request, lock->rank, (uint32_t)i};
    }
    sort(search->own_lock, search->nown_locks, sizeof *search->own_lock, by_rank);
}

void conflicts_find(struct conflicts *conflicts, const struct trace *trace,
                    const struct epochs *epochs)
{
    struct search search = {.found = conflicts, .trace = trace};

    *conflicts = (struct conflicts){.recorded = trace->has_accesses};
    if (!trace->has_accesses)
        return;
    search.memory = zalloc(trace->nranks, sizeof *search.memory);
    for (size_t i = 0; i < trace->nmemories; i++)
        if (trace->memory[i].same_op)
            table_put_number(&search.same_op, trace->memory[i].win, 1);
    find_own_locks(&search);
    order_walk(trace, epochs, &(struct order_calls){begin_local, begin_target, &search},
               &search.order);
    for (uint32_t i = 0; i < trace->nranks; i++)
        pieces_free(&search.memory[i]);
    free(search.memory);
    free(search.touch);
    free(search.keep);
    free(search.own_lock);
    table_end(&search.by_sites, NULL);
    table_end(&search.same_op, NULL);
}

void conflicts_free(struct conflicts *conflicts)
{
    free(conflicts->conflict);
    *conflicts = (struct conflicts){0};
}

char *conflict_access_text(const struct trace *trace, const struct conflict_side *side)
{
    const struct operation *op = &trace->op[side->op];
    char *call = call_text(trace, op->call < trace->ncalls ? trace->call[op->call].call : 0,
                           op->call < trace->ncalls ? trace->call[op->call].site : NONE, false);
    char *all = side->kind == TOUCH_LOAD    ? text("the buffer that %s reads", call)
                : side->kind == TOUCH_STORE ? text("the buffer that %s writes", call)
                : side->kind == TOUCH_ATOMIC && side->acc_op
                    ? text("%s with %s", call, mpi_op_name[side->acc_op])
                    : text("%s", call);

    free(call);
    return all;
}

bool conflict_place(const struct trace *trace, const struct conflict *conflict, uint32_t win,
                    uint64_t *displacement)
{
    for (size_t i = 0; i < trace->nmemories; i++) {
        const struct memory *memory = &trace->memory[i];

        if (memory->win == win && memory->rank == conflict->rank &&
            conflict->begin >= memory->begin && conflict->begin - memory->begin < memory->length) {
            *displacement = conflict->begin - memory->begin;
            return true;
        }
    }
    return false;
}
