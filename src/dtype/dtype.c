/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype.c - makes and measures flattened datatypes, and counts references to them.
 *
 * A struct dtype on the heap is one block: the struct, then its byte runs, then its element runs
 * where they differ. Compact lists are separate blocks. After dtype_create only the reference count
 * changes, so readers need no lock. No MPI here: dtype_flatten.c makes the form from an MPI
 * datatype, a packet handler from what a peer sent.
 *
 * Neighbours: dtype_cursor.c, which walks over what is made here; dtype_cache.c, which keeps it.
 */
#include "dtype/dtype.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "acc/acc.h"
#include "dtype/dtype_compact.h"

/* Elements, by the logarithm of their size. */
static const struct dtype_run elements[] = {
    {0, 1, 0, 1}, {0, 2, 0, 1}, {0, 4, 0, 1}, {0, 8, 0, 1}, {0, 16, 0, 1}, {0, 32, 0, 1},
};

/* The bytes that carry data of pair types with padding: at the end, or between the two. */
static const struct dtype_run padded_pairs[ACC_TYPE_LAST][2] = {
    [ACC_PAIR_F64_I32] = {{0, sizeof(double) + sizeof(int32_t), 0, 1}},
    [ACC_PAIR_I64_I32] = {{0, sizeof(int64_t) + sizeof(int32_t), 0, 1}},
    [ACC_PAIR_F80_I32] = {{0, sizeof(long double) + sizeof(int32_t), 0, 1}},
    [ACC_PAIR_I16_I32] = {{0, sizeof(int16_t), 0, 1}, {sizeof(int32_t), sizeof(int32_t), 0, 1}},
};

static void measure_list(struct dtype *type)
{
    type->size = type->list->size;
    type->pieces = type->list->pieces;
    type->true_lb = type->list->lo;
    type->true_extent = (size_t)(type->list->hi - type->list->lo);
    type->contig = false;
}

/* Sets size, pieces, true_lb, true_extent and contig from the runs. */
static void measure(struct dtype *type)
{
    if (type->list) {
        measure_list(type);
        return;
    }
    ptrdiff_t lo = PTRDIFF_MAX, hi = PTRDIFF_MIN;

    type->size = type->pieces = 0;
    for (size_t i = 0; i < type->nruns; i++) {
        const struct dtype_run *r = &type->runs[i];
        ptrdiff_t first = r->disp, last = r->disp + (ptrdiff_t)(r->n - 1) * r->stride;
        ptrdiff_t low = first < last ? first : last, high = first < last ? last : first;

        lo = low < lo ? low : lo;
        hi = high + (ptrdiff_t)r->len > hi ? high + (ptrdiff_t)r->len : hi;
        type->size += r->len * r->n;
        type->pieces += r->n; /* does not overflow: pieces <= size, since a piece has a byte */
    }
    type->true_lb = type->nruns ? lo : 0;
    type->true_extent = type->nruns ? (size_t)(hi - lo) : 0;
    type->contig = type->nruns == 1 && type->runs->n == 1 && type->runs->disp == 0 &&
                   type->extent == (ptrdiff_t)type->runs->len && type->runs == type->eruns;
}

struct dtype dtype_basic(uint8_t basic)
{
    struct dtype type = {
        .basic = basic, .elems = basic == ACC_NONE ? 0 : 1, .nruns = 1, .neruns = 1};
    size_t extent = basic == ACC_NONE ? 1 : acc_extent(basic);
    const struct dtype_run *bytes = basic < ACC_TYPE_LAST ? padded_pairs[basic] : NULL;

    type.extent = (ptrdiff_t)extent;
    type.runs = type.eruns = &elements[__builtin_ctzl(extent)];
    if (bytes && bytes[0].n) {
        type.runs = bytes;
        type.nruns = bytes[1].n ? 2 : 1;
    }
    measure(&type);
    atomic_init(&type.refs, 1);
    return type;
}

int dtype_create(const struct dtype *form, struct dtype **out)
{
    bool split = form->eruns != form->runs;
    size_t n = form->nruns + (split ? form->neruns : 0);
    struct dtype *type = malloc(sizeof(*type) + n * sizeof(struct dtype_run));

    if (!type)
        return MRMA_ERR_NO_MEM;
    struct dtype_run *runs = (struct dtype_run *)(type + 1);
    if (form->nruns)
        memcpy(runs, form->runs, form->nruns * sizeof(*runs));
    if (split && form->neruns)
        memcpy(runs + form->nruns, form->eruns, form->neruns * sizeof(*runs));

    type->extent = form->extent;
    type->basic = form->basic;
    type->elems = form->elems;
    type->runs = form->list ? NULL : runs;
    type->nruns = form->nruns;
    type->eruns = form->elist ? NULL : split ? runs + form->nruns : runs;
    type->neruns = split ? form->neruns : form->nruns;
    type->list = form->list;
    type->elist = form->elist;
    type->lists = form->lists;
    measure(type);
    atomic_init(&type->refs, 1);
    *out = type;
    return MRMA_SUCCESS;
}

const struct dtype *dtype_ref(const struct dtype *type)
{
    /* The caller holds a reference already, so no order is needed. */
    if (type)
        atomic_fetch_add_explicit(&((struct dtype *)type)->refs, 1, memory_order_relaxed);
    return type;
}

void dtype_unref(const struct dtype *type)
{
    struct dtype *own = (struct dtype *)type;

    /* Release: our reads come before the free; acquire: so do everybody else's. */
    if (own && atomic_fetch_sub_explicit(&own->refs, 1, memory_order_acq_rel) == 1) {
        dtype_compact_free(own->lists);
        free(own);
    }
}

bool dtype_span(const struct dtype *type, size_t count, ptrdiff_t *lo, ptrdiff_t *hi)
{
    ptrdiff_t shift, end;

    if (type->size == 0) {
        *lo = *hi = 0;
        return true;
    }
    if (count > PTRDIFF_MAX ||
        __builtin_mul_overflow((ptrdiff_t)(count - 1), type->extent, &shift) ||
        __builtin_add_overflow(type->true_lb, (ptrdiff_t)type->true_extent, &end))
        return false;
    *lo = type->true_lb;
    *hi = end;
    if (shift >= 0)
        return !__builtin_add_overflow(end, shift, hi);
    return !__builtin_add_overflow(type->true_lb, shift, lo);
}
