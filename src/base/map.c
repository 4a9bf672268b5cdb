/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map.c - linear probing with deletion by moving back.
 *
 * Invariant: between an entry's home slot (its hash) and the slot where it lies
 * no slot is free. Insertion keeps it by taking the first free slot; deletion
 * restores it by filling the hole from the rest of the run. The multiplicative
 * mixing makes keys that differ in few bits (addresses, handles, counters) land
 * apart. No locks (see map.h).
 *
 * Neighbours: whoever looks something up by a number: windows, peers, mapped segments, senders.
 */
#include "base/map.h"

#include <stdlib.h>

#include "base/err.h"

#define MAP_MIN_SLOTS 16

static uint64_t map_mix(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 29;
    key *= UINT64_C(0xd6e8feb86659fd93);
    return key ^ (key >> 32);
}

static size_t map_home(const struct map *map, uint64_t key)
{
    return (size_t)map_mix(key) & (map->nslots - 1);
}

/* map_find returns the slot with that key, or the free slot where the key would go. nslots > 0. */
static struct map_slot *map_find(const struct map *map, uint64_t key)
{
    size_t i = map_home(map, key);

    while (map->slots[i].value != NULL && map->slots[i].key != key)
        i = (i + 1) & (map->nslots - 1);
    return &map->slots[i];
}

void map_init(struct map *map)
{
    *map = (struct map){.slots = NULL};
}

void map_fini(struct map *map)
{
    free(map->slots);
    map_init(map);
}

static int map_grow(struct map *map)
{
    struct map bigger = {.nslots = map->nslots == 0 ? MAP_MIN_SLOTS : map->nslots * 2};

    if (bigger.nslots < map->nslots)
        return MRMA_ERR_NO_MEM;
    bigger.slots = calloc(bigger.nslots, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return MRMA_ERR_NO_MEM;
    for (size_t i = 0; i < map->nslots; i++)
        if (map->slots[i].value != NULL)
            *map_find(&bigger, map->slots[i].key) = map->slots[i];
    bigger.count = map->count;
    free(map->slots);
    *map = bigger;
    return MRMA_SUCCESS;
}

int map_put(struct map *map, uint64_t key, void *value, void **old)
{
    if (value == NULL)
        return MRMA_ERR_ARG;
    if (map->count >= map->nslots / 2) {
        int err = map_grow(map);
        if (err != MRMA_SUCCESS)
            return err;
    }
    struct map_slot *slot = map_find(map, key);
    if (old != NULL)
        *old = slot->value;
    if (slot->value == NULL)
        map->count++;
    *slot = (struct map_slot){.key = key, .value = value};
    return MRMA_SUCCESS;
}

void *map_get(const struct map *map, uint64_t key)
{
    return map->nslots == 0 ? NULL : map_find(map, key)->value;
}

void *map_del(struct map *map, uint64_t key)
{
    if (map->nslots == 0)
        return NULL;
    size_t mask = map->nslots - 1;
    size_t hole = (size_t)(map_find(map, key) - map->slots);
    void *value = map->slots[hole].value;
    if (value == NULL)
        return NULL;

    /* An entry may fill the hole if the hole lies between its home and itself. */
    for (size_t i = (hole + 1) & mask; map->slots[i].value != NULL; i = (i + 1) & mask) {
        size_t home = map_home(map, map->slots[i].key);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].value = NULL;
    map->count--;
    return value;
}

bool map_next(const struct map *map, size_t *cursor, uint64_t *key, void **value)
{
    for (; *cursor < map->nslots; ++*cursor) {
        const struct map_slot *slot = &map->slots[*cursor];
        if (slot->value == NULL)
            continue;
        if (key != NULL)
            *key = slot->key;
        if (value != NULL)
            *value = slot->value;
        ++*cursor;
        return true;
    }
    return false;
}
