/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h - a table that finds pointers, or numbers, by a number.
 *
 * A struct table of zeros is an empty table. Each table holds either pointers or numbers. What the
 * pointers of a table lead to belongs to the caller who has put them there. Where memory is short,
 * the program ends with a message.
 */
#ifndef MRMA_TRACE_TABLE_H
#define MRMA_TRACE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table {
    struct slot *slot;
    size_t nslots; /* 0 or a power of two */
    size_t n;      /* slots in use, half of them at most */
};

/* No number is this large: there is nothing under a key. */
#define TABLE_NONE UINT64_MAX

/* table_put sets what is under the key, which is not NULL, and returns what was there before, NULL:
 * nothing. */
void *table_put(struct table *table, uint64_t key, void *value);

/* table_get returns the pointer that is under the key; NULL: none. */
void *table_get(const struct table *table, uint64_t key);

/* table_take removes the pointer that is under the key and returns it; NULL: there was none. */
void *table_take(struct table *table, uint64_t key);

/* table_put_number sets the number that is under the key, which is less than TABLE_NONE. */
void table_put_number(struct table *table, uint64_t key, uint64_t number);

/* table_number returns the number that is under the key; TABLE_NONE: none. */
uint64_t table_number(const struct table *table, uint64_t key);

/* table_take_number removes the number that is under the key and returns it; TABLE_NONE: there was
 * none. */
uint64_t table_take_number(struct table *table, uint64_t key);

/* table_next returns the pointers of a table one by one, in no particular order, and NULL after the
 * last: *cursor is 0 before the first call. The table must not change meanwhile. */
void *table_next(const struct table *table, size_t *cursor);

/* table_end empties the table, after end_value was called for each pointer; NULL: for none, as for
 * a table of numbers. */
void table_end(struct table *table, void (*end_value)(void *value));

#endif
