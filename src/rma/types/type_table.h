/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * type_table.h - which datatypes of an origin a target has, in one window: the same table at both
 * ends of a pair.
 *
 * The origin numbers the datatypes that it sends to a target (PKT_OP_TYPE), and both keep the last
 * PKT_TYPES of them with PKT_TYPES_RUNS runs together: the oldest are dropped to make room. So
 * records may name datatypes by number, and neither side has to tell the other what it drops.
 *
 * Invariants
 * - Numbers only grow (and wrap), in the order of the packets. Definitions can be lost with a
 *   packet that the target refuses: then the target still has all other datatypes that the origin
 *   may name, and the origin forgets its table when it learns of the refusal.
 * - The origin's table has a reference to each datatype. Its address is not used again
 *   while it is in there, so a freed and reused MPI_Datatype is never taken for the old.
 *
 * All functions are called under the engine's lock.
 */
#ifndef MRMA_RMA_TYPES_TYPE_TABLE_H
#define MRMA_RMA_TYPES_TYPE_TABLE_H

#include <stdbool.h>

#include "ch3/pkt.h"
#include "dtype/dtype.h"

struct type_entry {
    uint32_t id;
    const struct dtype *type;
};

struct type_table {
    struct type_entry held[PKT_TYPES]; /* a ring: n from first on, the oldest first */
    unsigned first, n;
    size_t runs;      /* runs of all datatypes that are held */
    uint32_t last_id; /* number of the last datatype that was ever in it */
};

/* type_table_new makes an empty table, which type_table_free frees. The number of its first
 * datatype will be the one behind first, at both ends. NULL: no memory. */
struct type_table *type_table_new(uint32_t first);

/* type_table_forget drops all datatypes, but not the numbers that were used. tt may be NULL. */
void type_table_forget(struct type_table *tt);

/* type_table_free drops all datatypes and frees the table. tt may be NULL. */
void type_table_free(struct type_table *tt);

/* type_table_range returns whether count instances of type at disp may be named by number: they lie
 * in a range [*lo, *hi) that is not smaller than their bytes, and no step of walking over them
 * overflows. If the result is false *lo and *hi mean nothing. */
bool type_table_range(const struct dtype *type, uint64_t count, int64_t disp, int64_t *lo,
                      int64_t *hi);

/* ---- origin ---- */

/* type_table_find returns the number of type; 0: the target doesn't have it. tt may be NULL. */
uint32_t type_table_find(const struct type_table *tt, const struct dtype *type);

/* type_table_size returns how many bytes the definition of type takes in a packet. */
size_t type_table_size(const struct dtype *type);

/* type_table_add enters type, to which the table then has a reference, and drops the oldest if
 * there is no room. Returns its number, which its definition must take to the target before
 * anything else. */
uint32_t type_table_add(struct type_table *tt, const struct dtype *type);

/* type_table_define writes the definition of type with this number, of type_table_size bytes, into
 * room. */
void type_table_define(void *room, uint32_t id, const struct dtype *type);

/* ---- target ---- */

/* type_table_got enters the datatype of a definition that has come. The definition is op with its
 * runs behind it; these may still change, and are copied once. Everything is checked.
 * MRMA_ERR_TYPE: it is not well-formed, or its number is not a new one; MRMA_ERR_NO_MEM. */
int type_table_got(struct type_table *tt, const struct pkt_op *op, const void *runs);

/* type_table_get returns the type with this number, which stays the table's; NULL: the table does
 * not have it. tt may be NULL. */
const struct dtype *type_table_get(const struct type_table *tt, uint32_t id);

#endif
