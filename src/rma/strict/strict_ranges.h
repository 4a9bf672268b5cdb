/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict_ranges.h - which bytes of one target have been accessed, and how.
 *
 * A sorted array of disjoint byte ranges, each with the strongest access it has
 * seen; neighbours of one kind are one range, so that regular patterns stay
 * small. Used by strict.c to find conflicting accesses (MPI 4.1, 12.7); it knows
 * nothing of windows or epochs. No locks: the caller has one.
 */
#ifndef MRMA_RMA_STRICT_STRICT_RANGES_H
#define MRMA_RMA_STRICT_STRICT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "acc/acc.h"

/* The most ranges that are kept for a target and epoch. */
enum { STRICT_RANGES_MAX = 65536 };

enum strict_kind { STRICT_PUT, STRICT_GET, STRICT_ACC };

/* What two accumulates on one location must have in common besides the type. */
enum strict_same { STRICT_SAME_TYPE, STRICT_SAME_OP, STRICT_SAME_OP_NO_OP };

struct strict_access {
    uint64_t lo, hi; /* bytes lo to hi - 1 */
    uint8_t kind;    /* enum strict_kind */
    uint8_t basic;   /* accumulates: enum acc_type */
    uint8_t op;      /* accumulates: enum acc_op, ACC_OP_NONE for compare-and-swap */
};

struct strict_ranges {
    struct strict_access *v;
    uint32_t n, cap;
    bool incomplete; /* some accesses could not be kept */
};

/* strict_ranges_conflict returns the first known range that a conflicts with, or NULL. It is valid
 * until something is added or forgotten. */
const struct strict_access *strict_ranges_conflict(const struct strict_ranges *r,
                                                   const struct strict_access *a,
                                                   enum strict_same same);

/* strict_ranges_add remembers a, which conflicts with nothing that is known (but may conflict with
 * itself). It sets incomplete if there is no room. */
void strict_ranges_add(struct strict_ranges *r, struct strict_access a);

/* strict_ranges_drop_reads forgets what only reads: gets, and accumulates with MPI_NO_OP. */
void strict_ranges_drop_reads(struct strict_ranges *r);

/* strict_ranges_clear forgets everything, and keeps the memory for what comes next. */
void strict_ranges_clear(struct strict_ranges *r);

/* strict_ranges_free forgets everything and frees the memory; *r may be used again. */
void strict_ranges_free(struct strict_ranges *r);

#endif
