/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epochs.c - see epochs.h.
 */
#include "epochs.h"

#include <stdlib.h>

#include "table.h"

/* The epochs that are open while the calls are walked: their index, by rank and window. */
struct walk {
    struct epochs *epochs;
    struct table access, exposure;
};

static uint64_t key_of(const struct call *call)
{
    return (uint64_t)call->rank << 32 | call->win;
}

static void one_call(struct walk *walk, const struct trace *trace, uint32_t index)
{
    const struct call *call = &trace->call[index];
    struct epochs *epochs = walk->epochs;
    struct epoch epoch = {call->rank, call->win, call->group, index, NONE, call->leave, 0};
    uint64_t open;

    switch (call->call) {
    case TRACE_CALL_Win_start:
        epochs->access = grow(epochs->access, epochs->naccess, &epochs->access_cap, sizeof epoch);
        table_put_number(&walk->access, key_of(call), epochs->naccess);
        epochs->access[epochs->naccess++] = epoch;
        break;
    case TRACE_CALL_Win_post:
        epochs->exposure =
            grow(epochs->exposure, epochs->nexposure, &epochs->exposure_cap, sizeof epoch);
        table_put_number(&walk->exposure, key_of(call), epochs->nexposure);
        epochs->exposure[epochs->nexposure++] = epoch;
        break;
    case TRACE_CALL_Win_complete:
        if ((open = table_take_number(&walk->access, key_of(call))) != TABLE_NONE)
            epochs->access[open].last = index;
        break;
    case TRACE_CALL_Win_wait:
    case TRACE_CALL_Win_test:
        if ((open = table_take_number(&walk->exposure, key_of(call))) != TABLE_NONE)
            epochs->exposure[open].last = index;
        break;
    default:
        break;
    }
}

/* One epoch and one of the ranks that it names. */
struct side {
    uint32_t win, origin, target;
    uint32_t index;
};

static int by_sides(const void *a, const void *b)
{
    const struct side *x = a, *y = b;

    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    if (x->origin != y->origin)
        return x->origin < y->origin ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static struct side *sides(const struct trace *trace, const struct epoch *epoch, size_t n,
                          bool access, size_t *count)
{
    struct side *side = NULL;
    size_t cap = 0;

    *count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ranks *group = &trace->group[epoch[i].group];

        for (uint32_t k = 0; k < group->n; k++) {
            uint32_t me = epoch[i].rank, other = group->rank[k];

            side = grow(side, *count, &cap, sizeof *side);
            side[(*count)++] =
                (struct side){epoch[i].win, access ? me : other, access ? other : me, (uint32_t)i};
        }
    }
    if (side)
        sort(side, *count, sizeof *side, by_sides);
    return side;
}

static bool same_pair(const struct side *a, const struct side *b)
{
    return a->win == b->win && a->origin == b->origin && a->target == b->target;
}

static int by_access(const void *a, const void *b)
{
    const struct pairing *x = a, *y = b;

    if (x->access != y->access)
        return x->access < y->access ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

static void pair_up(struct epochs *epochs, const struct trace *trace)
{
    size_t naccess, nexposure, k = 0;
    struct side *access = sides(trace, epochs->access, epochs->naccess, true, &naccess);
    struct side *exposure = sides(trace, epochs->exposure, epochs->nexposure, false, &nexposure);

    for (size_t i = 0; i < naccess; i++) {
        struct pairing pairing = {
            access[i].win, access[i].origin, access[i].target, access[i].index, NONE, 0};

        if (i == 0 || !same_pair(&access[i], &access[i - 1])) {
            struct side first = access[i];

            first.index = 0;
            while (k < nexposure && by_sides(&exposure[k], &first) < 0)
                k++;
        }
        if (k < nexposure && same_pair(&exposure[k], &access[i]))
            pairing.exposure = exposure[k++].index;
        epochs->pairing =
            grow(epochs->pairing, epochs->npairings, &epochs->pairings_cap, sizeof pairing);
        epochs->pairing[epochs->npairings++] = pairing;
    }
    if (epochs->npairings)
        sort(epochs->pairing, epochs->npairings, sizeof *epochs->pairing, by_access);
    free(access);
    free(exposure);
}

const struct pairing *epochs_pairing(const struct epochs *epochs, uint32_t access, uint32_t target)
{
    struct pairing key = {.access = access, .target = target};

    if (epochs->npairings == 0)
        return NULL;
    return bsearch(&key, epochs->pairing, epochs->npairings, sizeof key, by_access);
}

uint32_t epochs_of_op(const struct epochs *epochs, const struct trace *trace,
                      const struct operation *op)
{
    size_t low = 0, high = epochs->naccess;

    if (op->starts == 0)
        return NONE;
    while (low < high) { /* the last that begins before the operation */
        size_t middle = low + (high - low) / 2;

        if (trace->call[epochs->access[middle].first].enter <= op->issue)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0) {
        const struct epoch *epoch = &epochs->access[low];

        if (epoch->rank == op->rank && epoch->win == op->win)
            return (uint32_t)low;
    }
    return NONE;
}

static void count_ops(struct epochs *epochs, const struct trace *trace)
{
    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];
        uint32_t at = epochs_of_op(epochs, trace, op);

        if (at == NONE)
            continue;
        struct epoch *epoch = &epochs->access[at];
        struct pairing *pairing = (struct pairing *)epochs_pairing(epochs, at, op->target);
        epoch->nops++;
        if (op->call != NONE)
            epoch->last_op = u64_max(epoch->last_op, trace->call[op->call].leave);
        if (pairing)
            pairing->nops++;
    }
}

void epochs_find(struct epochs *epochs, const struct trace *trace)
{
    struct walk walk = {.epochs = epochs};

    *epochs = (struct epochs){0};
    for (size_t i = 0; i < trace->ncalls; i++)
        if (trace->call[i].group != NONE && trace->call[i].win != NONE)
            one_call(&walk, trace, (uint32_t)i);
    pair_up(epochs, trace);
    count_ops(epochs, trace);
    table_end(&walk.access, NULL);
    table_end(&walk.exposure, NULL);
}

void epochs_free(struct epochs *epochs)
{
    free(epochs->access);
    free(epochs->exposure);
    free(epochs->pairing);
}
