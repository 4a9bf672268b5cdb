/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.c - a table by hashes of its keys (table.h).
 *
 * A key lies in the slot that its hash names, or in one of the next, since no slot between the two
 * is free. A key that is taken therefore leaves no hole: what follows it is moved.
 *
 * Neighbours: util.c, which ends the program where memory is short.
 */
#include "table.h"

#include <stdlib.h>

#include "util.h"

enum { LEAST_SLOTS = 16 };

/* Of a free slot, stored is 0. */
struct slot {
    uint64_t key;
    uint64_t stored; /* a pointer, or a number + 1 */
};

/* The slot that a key belongs into. The keys of a table often differ in a few bits only, high or
 * low ones. */
static size_t home(const struct table *table, uint64_t key)
{
    key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(key ^ key >> 32) & (table->nslots - 1);
}

static size_t after(const struct table *table, size_t i)
{
    return (i + 1) & (table->nslots - 1);
}

/* find returns the slot with this key, or else the free one for it. The table must have slots. */
static struct slot *find(const struct table *table, uint64_t key)
{
    size_t i = home(table, key);

    while (table->slot[i].stored && table->slot[i].key != key)
        i = after(table, i);
    return &table->slot[i];
}

static void enlarge(struct table *table)
{
    struct table larger = {.nslots = table->nslots ? 2 * table->nslots : LEAST_SLOTS,
                           .n = table->n};

    larger.slot = zalloc(larger.nslots, sizeof *larger.slot);
    for (size_t i = 0; i < table->nslots; i++)
        if (table->slot[i].stored)
            *find(&larger, table->slot[i].key) = table->slot[i];
    free(table->slot);
    *table = larger;
}

static uint64_t put(struct table *table, uint64_t key, uint64_t stored)
{
    if (table->n >= table->nslots / 2)
        enlarge(table);
    struct slot *slot = find(table, key);
    const uint64_t old = slot->stored;

    table->n += old == 0;
    *slot = (struct slot){key, stored};
    return old;
}

static uint64_t get(const struct table *table, uint64_t key)
{
    return table->nslots ? find(table, key)->stored : 0;
}

/* Ends a slot: what comes after the hole and belongs before it, or into it, moves there, so that
 * it is found without a free slot on the way. */
static void end_slot(struct table *table, size_t hole)
{
    const size_t mask = table->nslots - 1;

    for (size_t i = after(table, hole); table->slot[i].stored; i = after(table, i))
        if (((i - home(table, table->slot[i].key)) & mask) >= ((i - hole) & mask)) {
            table->slot[hole] = table->slot[i];
            hole = i;
        }
    table->slot[hole].stored = 0;
}

static uint64_t take(struct table *table, uint64_t key)
{
    const uint64_t stored = get(table, key);

    if (stored) {
        end_slot(table, (size_t)(find(table, key) - table->slot));
        table->n--;
    }
    return stored;
}

void *table_put(struct table *table, uint64_t key, void *value)
{
    return (void *)(uintptr_t)put(table, key, (uintptr_t)value);
}

void *table_get(const struct table *table, uint64_t key)
{
    return (void *)(uintptr_t)get(table, key);
}

void *table_take(struct table *table, uint64_t key)
{
    return (void *)(uintptr_t)take(table, key);
}

/* What is stored of a number is one more; nothing is stored, 0, where there is none, TABLE_NONE. */
void table_put_number(struct table *table, uint64_t key, uint64_t number)
{
    (void)put(table, key, number + 1);
}

uint64_t table_number(const struct table *table, uint64_t key)
{
    return get(table, key) - 1;
}

uint64_t table_take_number(struct table *table, uint64_t key)
{
    return take(table, key) - 1;
}

void *table_next(const struct table *table, size_t *cursor)
{
    while (*cursor < table->nslots) {
        const uint64_t stored = table->slot[(*cursor)++].stored;

        if (stored)
            return (void *)(uintptr_t)stored;
    }
    return NULL;
}

void table_end(struct table *table, void (*end_value)(void *value))
{
    size_t cursor = 0;
    void *value;

    while (end_value && (value = table_next(table, &cursor)))
        end_value(value);
    free(table->slot);
    *table = (struct table){0};
}
