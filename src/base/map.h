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

/* map_init makes *map an empty map, which has no memory yet. */
void map_init(struct map *map);

/* map_fini frees the table, not the values; the map is empty then and may be used again. */
void map_fini(struct map *map);

/* map_put gives key the value, which may not be NULL, in place of the one that key had. Unless old
 * is NULL, *old becomes the former value, or NULL if there was none. Returns MRMA_SUCCESS,
 * MRMA_ERR_ARG for a value that is NULL, or MRMA_ERR_NO_MEM; with an error the map is as it was. */
int map_put(struct map *map, uint64_t key, void *value, void **old);

/* map_get returns the value of key; NULL: it has none. */
void *map_get(const struct map *map, uint64_t key);

/* map_del removes key and returns the value that it had; NULL: it had none. */
void *map_del(struct map *map, uint64_t key);

/* map_count returns how many keys the map has. */
static inline size_t map_count(const struct map *map)
{
    return map->count;
}

/* map_next returns the entries one by one, in no particular order: *cursor is 0 before the first
 * call. key and value may be NULL. Returns false at the end. The map must not change meanwhile,
 * except that values may be freed if map_fini follows. */
bool map_next(const struct map *map, size_t *cursor, uint64_t *key, void **value);

#endif
