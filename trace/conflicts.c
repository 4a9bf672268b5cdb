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
#include "touches.h"

/* At most so many blocks of an access are looked at. An access of more blocks is left out. */
enum { BLOCKS_MAX = 1 << 16 };

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
    struct touches touches;

    /* ---- of the access that is looked at ---- */
    struct touch now;
    uint32_t number, rank;
    const uint32_t *clock;
};

static bool is_before(const struct search *search, const struct touch *old)
{
    return old->is_message
               ? order_message_before(search->order, old->op, search->clock)
               : order_before(search->order, old->op, touch_at_target(old), search->clock);
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
    const uint32_t index = touch_actor(trace, touch).call;
    const struct call *call = index < trace->ncalls ? &trace->call[index] : NULL;

    return mix(mix(touch->kind, call ? call->call : 0), call ? call->site : NONE);
}

static struct conflict_side side_of(const struct search *search, const struct touch *touch)
{
    const struct actor actor = touch_actor(search->trace, touch);

    return (struct conflict_side){
        .time = actor.time,
        .rank = actor.rank,
        .win = touch->is_message ? NONE : search->trace->op[touch->op].win,
        .call = actor.call,
        .opening = touch->is_message ? NONE : order_epoch(search->order, touch->op),
        .closing = touch_at_target(touch) && !touch_only_reads(touch)
                       ? order_closing(search->order, touch->op)
                       : actor.completer,
        .is_message = touch->is_message,
        .kind = touch->kind,
        .acc_op = touch->acc_op};
}

static void report(struct search *search, const struct touch *old, uint64_t begin, uint64_t end)
{
    struct conflicts *found = search->found;
    const struct touch *now = &search->now;
    const uint64_t a = place_of(search, old), b = place_of(search, now);
    const struct touch *of_window = touch_at_target(now) || old->is_message ? now : old;
    const uint32_t win = search->trace->op[of_window->op].win;
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

/* is_stronger returns whether every access that conflicts with old, which is over, would conflict
 * with the new one as well. */
static bool is_stronger(const struct trace *trace, const struct touch *now, const struct touch *old,
                        uint64_t address)
{
    if (now->kind == TOUCH_PUT || now->kind == TOUCH_STORE)
        return true;
    if (now->kind == TOUCH_ATOMIC && old->kind == TOUCH_ATOMIC)
        return now->type == old->type && now->acc_op == old->acc_op &&
               touch_elements_agree(trace, &trace->op[now->op], &trace->op[old->op], address);
    return touch_only_reads(old) && touch_only_reads(now) && now->kind != TOUCH_ATOMIC;
}

/* outlasts returns whether both accesses belong to one process, and the old one is over when the
 * new one is. */
static bool outlasts(const struct search *search, const struct touch *old, uint64_t address)
{
    const struct touch *now = &search->now;

    if (old->is_message || now->is_message)
        return false;
    const struct operation *x = &search->trace->op[old->op], *y = &search->trace->op[now->op];
    return x->rank == y->rank && x->win == y->win && touch_at_target(old) == touch_at_target(now) &&
           x->at_wait == y->at_wait && x->lock == y->lock &&
           is_stronger(search->trace, now, old, address) &&
           order_end(search->order, old->op, touch_at_target(old)) <=
               order_end(search->order, now->op, touch_at_target(now)) &&
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
        if (!before && !touches_compatible(&search->touches, old, now, piece->begin) &&
            !touches_excluded(&search->touches, old, now))
            report(search, old, piece->begin, piece->end);
        if ((before && is_stronger(search->trace, now, old, piece->begin)) ||
            outlasts(search, old, piece->begin))
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

/* The next access, unless it cannot be looked at; the touch of the one before it if it is one with
 * that. */
static void add_access(struct search *search, const struct access *access, bool is_same)
{
    if (!is_same) {
        search->touch =
            grow(search->touch, search->ntouches, &search->touches_cap, sizeof *search->touch);
        search->touch[search->ntouches++] = search->now;
    }
    search->number = (uint32_t)search->ntouches - 1;
    add_blocks(search, access);
}

static bool is_too_fine(struct search *search, const struct access *access)
{
    const bool is = access->inexact || access->n > BLOCKS_MAX;

    search->found->skipped += is;
    return is;
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
        if (is_too_fine(search, access))
            continue;
        search->now =
            (struct touch){index, kind_of(op, access), access->acc_op, access->type, false};
        search->rank = target ? op->target : op->rank;
        search->clock = clock;
        add_access(search, access, access->side == last_side);
        last_side = access->side;
    }
}

static void begin_message(void *arg, uint32_t index, const uint32_t *clock)
{
    struct search *search = arg;
    const struct trace *trace = search->trace;
    const bool sends = index < trace->nsendings;
    const struct receiving *receiving = sends ? NULL : &trace->receiving[index - trace->nsendings];
    const uint32_t first = sends ? trace->sending[index].buffer : receiving->buffer;
    const uint32_t n = sends ? trace->sending[index].nbuffer : receiving->nbuffer;
    bool is_first = true;

    for (uint32_t i = first; i < first + n; i++) {
        const struct access *access = &trace->buffer[i];

        if (is_too_fine(search, access))
            continue;
        search->now = (struct touch){index, sends ? TOUCH_LOAD : TOUCH_STORE, 0, 0, true};
        search->rank = sends ? trace->sending[index].rank : receiving->rank;
        search->clock = clock;
        add_access(search, access, !is_first);
        is_first = false;
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

void conflicts_find(struct conflicts *conflicts, const struct trace *trace,
                    const struct epochs *epochs)
{
    struct search search = {.found = conflicts, .trace = trace};

    *conflicts = (struct conflicts){.recorded = trace->has_accesses};
    if (!trace->has_accesses)
        return;
    search.memory = zalloc(trace->nranks, sizeof *search.memory);
    touches_begin(&search.touches, trace);
    order_walk(trace, epochs,
               &(struct order_calls){begin_local, begin_target, begin_message, &search},
               &search.order);
    for (uint32_t i = 0; i < trace->nranks; i++)
        pieces_free(&search.memory[i]);
    free(search.memory);
    free(search.touch);
    free(search.keep);
    table_end(&search.by_sites, NULL);
    touches_end(&search.touches);
}

void conflicts_free(struct conflicts *conflicts)
{
    free(conflicts->conflict);
    *conflicts = (struct conflicts){0};
}

char *conflict_access_text(const struct trace *trace, const struct conflict_side *side)
{
    const struct call *at = side->call < trace->ncalls ? &trace->call[side->call] : NULL;
    char *call = call_text(trace, at ? at->call : 0, at ? at->site : NONE, false);
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
