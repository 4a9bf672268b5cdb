/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map.h - hash map from uint64_t to a non-NULL pointer.
 *
 * Open addressing with linear probing; at most half of the slots are used. A
 * deletion moves later entries of the probe run back instead of leaving a
 * tombstone, so look-ups stay short however long the map lives. A zeroed struct
 * map is an empty map that owns no memory. Values are not owned. No locks: the
 * owner guards it; look-ups by several threads at once are fine while nobody
 * changes it.
 */
#ifndef MRMA_BASE_MAP_H
#define MRMA_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    void *value; /* NULL: free */
};

struct map {
    struct map_slot *slots;
    size_t nslots; /* 0 or a power of two */
    size_t count;
};

void map_init(struct map *map);
void map_fini(struct map *map); /* frees the table, not the values; then empty and usable */

/* Insert, or replace the value of a key that is there (the old value goes to *old
 * unless old is NULL; NULL if it was not there). MRMA_ERR_ARG for value NULL,
 * MRMA_ERR_NO_MEM leaves the map as it was. */
int map_put(struct map *map, uint64_t key, void *value, void **old);

void *map_get(const struct map *map, uint64_t key); /* NULL: not there */
void *map_del(struct map *map, uint64_t key);       /* the value removed, NULL: not there */

static inline size_t map_count(const struct map *map)
{
    return map->count;
}

/* Iteration in no particular order: start with *cursor == 0; false at the end.
 * The map must not change meanwhile, except that values may be freed if map_fini
 * follows. key and value may be NULL. */
bool map_next(const struct map *map, size_t *cursor, uint64_t *key, void **value);

#endif
