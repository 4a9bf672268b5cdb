/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict_ranges.c - disjoint ranges of accessed bytes.
 *
 * Where compatible accesses overlap, the range keeps the one that conflicts with
 * more: a get before a reading accumulate, an operation before compare-and-swap
 * before MPI_NO_OP; reads of several types count as a get. An access of several
 * pieces is looked up as a whole before its first piece is added, so it never
 * conflicts with itself.
 */
#include "rma/strict/strict_ranges.h"

#include <stdlib.h>
#include <string.h>

static bool only_reads(const struct strict_access *a)
{
    return a->kind == STRICT_GET || (a->kind == STRICT_ACC && a->op == ACC_NO_OP);
}

static bool ops_agree(unsigned a, unsigned b, enum strict_same same)
{
    if (a == b || a == ACC_OP_NONE || b == ACC_OP_NONE || same == STRICT_SAME_TYPE)
        return true;
    return same == STRICT_SAME_OP_NO_OP && (a == ACC_NO_OP || b == ACC_NO_OP);
}

static bool compatible(const struct strict_access *a, const struct strict_access *b,
                       enum strict_same same)
{
    if (only_reads(a) && only_reads(b))
        return true;
    return a->kind == STRICT_ACC && b->kind == STRICT_ACC && a->basic == b->basic &&
           ops_agree(a->op, b->op, same);
}

static bool alike(const struct strict_access *a, const struct strict_access *b)
{
    return a->kind == b->kind && a->basic == b->basic && a->op == b->op;
}

static int rank(unsigned op)
{
    return op == ACC_NO_OP ? 0 : op == ACC_OP_NONE ? 1 : 2;
}

/* combine turns a, which is compatible with old, into an access that conflicts with everything with
 * which a or old conflicts. False: old does so already. */
static bool combine(struct strict_access *a, const struct strict_access *old)
{
    if (old->kind != STRICT_ACC)
        return false;
    if (a->kind == STRICT_ACC && a->basic == old->basic)
        return rank(a->op) > rank(old->op);
    *a = (struct strict_access){.lo = a->lo, .hi = a->hi, .kind = STRICT_GET};
    return true;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* find returns the index of the first range that ends behind at. */
static uint32_t find(const struct strict_ranges *r, uint64_t at)
{
    uint32_t from = 0, to = r->n;
    while (from < to) {
        const uint32_t mid = from + (to - from) / 2;
        if (r->v[mid].hi <= at)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

const struct strict_access *strict_ranges_conflict(const struct strict_ranges *r,
                                                   const struct strict_access *a,
                                                   enum strict_same same)
{
    for (uint32_t i = find(r, a->lo); i < r->n && r->v[i].lo < a->hi; i++)
        if (!compatible(&r->v[i], a, same))
            return &r->v[i];
    return NULL;
}

static bool insert(struct strict_ranges *r, uint32_t i, struct strict_access a)
{
    if (r->n == r->cap) {
        const uint32_t cap = r->cap ? 2 * r->cap : 64;
        struct strict_access *v = cap <= STRICT_RANGES_MAX ? realloc(r->v, cap * sizeof *v) : NULL;
        if (!v)
            return false;
        r->v = v;
        r->cap = cap;
    }
    memmove(&r->v[i + 1], &r->v[i], (r->n - i) * sizeof *r->v);
    r->v[i] = a;
    r->n++;
    return true;
}

/* add_new adds a, which overlaps no range; i is the next range. False: there is no room. */
static bool add_new(struct strict_ranges *r, uint32_t *i, struct strict_access a)
{
    struct strict_access *before = *i ? &r->v[*i - 1] : NULL, *after = *i < r->n ? &r->v[*i] : NULL;
    if (before && before->hi == a.lo && alike(before, &a))
        before->hi = a.hi;
    else if (after && after->lo == a.hi && alike(after, &a))
        after->lo = a.lo;
    else if (insert(r, *i, a))
        (*i)++;
    else
        return false;
    return true;
}

/* add_over adds a, which lies in range i and is stronger, by cutting it out of that range. False:
 * there is no room. */
static bool add_over(struct strict_ranges *r, uint32_t *i, struct strict_access a)
{
    struct strict_access rest = r->v[*i];
    if (rest.lo < a.lo) {
        rest.hi = a.lo;
        if (!insert(r, *i, rest))
            return false;
        (*i)++;
        r->v[*i].lo = a.lo;
    }
    rest = r->v[*i];
    if (rest.hi > a.hi) {
        rest.lo = a.hi;
        if (!insert(r, *i + 1, rest))
            return false;
    }
    r->v[(*i)++] = a;
    return true;
}

void strict_ranges_add(struct strict_ranges *r, struct strict_access a)
{
    const uint64_t end = a.hi;
    uint32_t i = find(r, a.lo);
    bool room = true;
    while (room && a.lo < end) {
        const bool known = i < r->n && r->v[i].lo <= a.lo;
        a.hi = lower(end, i == r->n ? end : known ? r->v[i].hi : r->v[i].lo);
        if (!known) {
            room = add_new(r, &i, a);
        } else {
            struct strict_access both = a;
            room = !combine(&both, &r->v[i]) || add_over(r, &i, both);
        }
        a.lo = a.hi;
        while (i < r->n && r->v[i].hi <= a.lo)
            i++;
    }
    if (!room)
        r->incomplete = true;
}

void strict_ranges_drop_reads(struct strict_ranges *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (!only_reads(&r->v[i]))
            r->v[kept++] = r->v[i];
    r->n = kept;
}

void strict_ranges_clear(struct strict_ranges *r)
{
    r->n = 0;
    r->incomplete = false;
}

void strict_ranges_free(struct strict_ranges *r)
{
    free(r->v);
    *r = (struct strict_ranges){.v = NULL};
}
