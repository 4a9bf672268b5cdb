/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_sample.c - random nested datatypes with the list of their bytes.
 *
 * One function for each group of constructors: it draws the arguments, calls the
 * host, and appends the bytes of the component wherever the definition puts them.
 * Elements of an array type are found by walking the whole array in storage order
 * and asking of each index whether the process owns it.
 */
#include "dtype_sample.h"

#include <stdint.h>
#include <stdlib.h>

/* A part with more bytes than this is not nested any deeper. */
#define LARGE 4000

static uint64_t seed = 521288629546311u;

size_t sample_below(size_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)((seed >> 11) % n);
}

static int between(int low, int high)
{
    return low + (int)sample_below((size_t)(high - low + 1));
}

/* How often something is repeated: never only in a wild type. */
static int repeats(bool tame)
{
    return between(tame ? 1 : 0, 4);
}

static void put(struct dtype_sample *to, const struct dtype_sample *part, ptrdiff_t disp)
{
    to->at = realloc(to->at, (to->n + part->n + 1) * sizeof(*to->at));
    if (!to->at)
        abort();
    for (size_t i = 0; i < part->n; i++)
        to->at[to->n++] = part->at[i] + disp;
}

static void put_block(struct dtype_sample *to, const struct dtype_sample *part, ptrdiff_t disp,
                      int length)
{
    for (int i = 0; i < length; i++)
        put(to, part, disp + i * part->extent);
}

static struct dtype_sample leaf(void)
{
    static const struct {
        MPI_Datatype type;
        size_t first, gap, second; /* bytes of data, of padding, of data */
    } leaves[] = {
        {MPI_CHAR, 1, 0, 0},
        {MPI_SHORT, sizeof(short), 0, 0},
        {MPI_INT, sizeof(int), 0, 0},
        {MPI_DOUBLE, sizeof(double), 0, 0},
        {MPI_BYTE, 1, 0, 0},
        {MPI_C_FLOAT_COMPLEX, 2 * sizeof(float), 0, 0},
        {MPI_SHORT_INT, sizeof(short), sizeof(int) - sizeof(short), sizeof(int)},
        {MPI_DOUBLE_INT, sizeof(double), 0, sizeof(int)},
    };
    size_t k = sample_below(sizeof(leaves) / sizeof(*leaves));
    struct dtype_sample s = {.type = leaves[k].type, .at = malloc(64 * sizeof(ptrdiff_t))};

    if (!s.at)
        abort();
    for (size_t i = 0; i < leaves[k].first; i++)
        s.at[s.n++] = (ptrdiff_t)i;
    for (size_t i = 0; i < leaves[k].second; i++)
        s.at[s.n++] = (ptrdiff_t)(leaves[k].first + leaves[k].gap + i);
    return s;
}

static void vector(const struct dtype_sample *part, bool tame, bool bytes, struct dtype_sample *out)
{
    int count = repeats(tame), length = repeats(tame);
    int stride = tame ? length + between(0, 4) : between(0, 8) - (count > 1 ? 4 : 0);
    MPI_Aint step = stride * part->extent;

    if (stride == -1)
        step = (stride = -2) * part->extent; /* Open MPI 4.1 takes -1 bytes for contiguous */
    if (bytes) {
        step += tame ? between(0, 30) : between(-50, 50);
        MPI_Type_create_hvector(count, length, step, part->type, &out->type);
    } else {
        MPI_Type_vector(count, length, stride, part->type, &out->type);
    }
    for (int i = 0; i < count; i++)
        put_block(out, part, i * step, length);
}

static void indexed(const struct dtype_sample *part, bool tame, int which, struct dtype_sample *out)
{
    int n = repeats(tame), lengths[4], disps[4], next = 0;
    MPI_Aint bytes[4];

    for (int i = 0; i < n; i++) {
        lengths[i] = which >= 2 && i ? lengths[0] : repeats(tame);
        disps[i] = tame ? next + between(0, 3) : between(-4, 12);
        bytes[i] = disps[i] * part->extent + (tame ? 0 : between(-50, 50));
        next = disps[i] + lengths[i];
    }
    int length = n ? lengths[0] : 1;
    if (which == 0)
        MPI_Type_indexed(n, lengths, disps, part->type, &out->type);
    else if (which == 1)
        MPI_Type_create_hindexed(n, lengths, bytes, part->type, &out->type);
    else if (which == 2)
        MPI_Type_create_indexed_block(n, length, disps, part->type, &out->type);
    else
        MPI_Type_create_hindexed_block(n, length, bytes, part->type, &out->type);
    for (int i = 0; i < n; i++)
        put_block(out, part, which % 2 ? bytes[i] : disps[i] * part->extent, lengths[i]);
}

/* What a process owns of one dimension of an array, and all of them. */
struct dim {
    int size, block, procs, coord, from, to;
};

struct array {
    int ndims, order;
    struct dim dim[3];
};

static bool owns(const struct dim *d, int i)
{
    return i >= d->from && i < d->to && i / d->block % d->procs == d->coord;
}

/* Every element of the whole array in its storage order, if it is ours. */
static void put_array(struct dtype_sample *out, const struct dtype_sample *part,
                      const struct array *a)
{
    int total = 1;

    for (int d = 0; d < a->ndims; d++)
        total *= a->dim[d].size;
    for (int linear = 0; linear < total; linear++) {
        bool mine = true;
        int rest = linear;

        for (int k = 0; k < a->ndims; k++) {
            const struct dim *d = &a->dim[a->order == MPI_ORDER_FORTRAN ? k : a->ndims - 1 - k];
            mine = mine && owns(d, rest % d->size);
            rest /= d->size;
        }
        if (mine)
            put(out, part, linear * part->extent);
    }
}

static void subarray(const struct dtype_sample *part, struct dtype_sample *out)
{
    struct array a = {.ndims = between(1, 3),
                      .order = between(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
    int sizes[3], subsizes[3], starts[3];

    for (int d = 0; d < a.ndims; d++) {
        sizes[d] = between(1, 6);
        subsizes[d] = between(1, sizes[d]);
        starts[d] = between(0, sizes[d] - subsizes[d]);
        a.dim[d] = (struct dim){sizes[d], sizes[d], 1, 0, starts[d], starts[d] + subsizes[d]};
    }
    MPI_Type_create_subarray(a.ndims, sizes, subsizes, starts, a.order, part->type, &out->type);
    put_array(out, part, &a);
}

static void darray(const struct dtype_sample *part, struct dtype_sample *out)
{
    struct array a = {.ndims = between(1, 3),
                      .order = between(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
    int gsizes[3], distribs[3], dargs[3], psizes[3], procs = 1;

    for (int d = 0; d < a.ndims; d++) {
        struct dim *dim = &a.dim[d];
        int kind = between(0, 4); /* none, block, block(k), cyclic, cyclic(k) */

        gsizes[d] = between(1, 8);
        psizes[d] = kind ? between(1, 3) : 1;
        procs *= psizes[d];
        *dim = (struct dim){gsizes[d], gsizes[d], psizes[d], 0, 0, gsizes[d]};
        dargs[d] = MPI_DISTRIBUTE_DFLT_DARG;
        distribs[d] = kind < 3 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        if (kind == 0)
            distribs[d] = MPI_DISTRIBUTE_NONE;
        if (kind == 1 || kind == 2)
            dim->block = (gsizes[d] + psizes[d] - 1) / psizes[d] + (kind == 2 ? between(0, 1) : 0);
        else if (kind >= 3)
            dim->block = kind == 3 ? 1 : between(1, 3);
        if (kind == 2 || kind == 4)
            dargs[d] = dim->block;
    }
    int rank = between(0, procs - 1), rest = rank;
    for (int d = a.ndims - 1; d >= 0; d--) { /* the last coordinate varies fastest */
        a.dim[d].coord = rest % psizes[d];
        rest /= psizes[d];
    }
    MPI_Type_create_darray(procs, rank, a.ndims, gsizes, distribs, dargs, psizes, a.order,
                           part->type, &out->type);
    put_array(out, part, &a);
}

static void structure(int depth, bool tame, struct dtype_sample *out)
{
    int n = between(1, 3), lengths[3];
    MPI_Aint disps[3], next = 0;
    MPI_Datatype types[3];
    struct dtype_sample parts[3];

    for (int i = 0; i < n; i++) {
        parts[i] = sample_make(depth - 1, tame);
        types[i] = parts[i].type;
        lengths[i] = repeats(tame);
        disps[i] = tame ? next + between(0, 20) : between(-50, 150);
        next = disps[i] + lengths[i] * parts[i].extent;
    }
    MPI_Type_create_struct(n, lengths, disps, types, &out->type);
    for (int i = 0; i < n; i++) {
        put_block(out, &parts[i], disps[i], lengths[i]);
        sample_free(&parts[i]);
    }
}

static void compose(const struct dtype_sample *part, int which, bool tame, struct dtype_sample *out)
{
    int count = repeats(tame);

    switch (which) {
    case 0:
        MPI_Type_contiguous(count, part->type, &out->type);
        put_block(out, part, 0, count);
        break;
    case 1:
    case 2:
        vector(part, tame, which == 2, out);
        break;
    case 3:
        MPI_Type_dup(part->type, &out->type);
        put(out, part, 0);
        break;
    case 4:
        MPI_Type_create_resized(part->type, tame ? 0 : between(-9, 9),
                                part->extent + between(0, 20), &out->type);
        put(out, part, 0);
        break;
    case 5:
        subarray(part, out);
        break;
    case 6:
        if (part->n) /* Open MPI 4.1 refuses distributed arrays of nothing */
            darray(part, out);
        else
            subarray(part, out);
        break;
    default:
        indexed(part, tame, which - 7, out);
    }
}

struct dtype_sample sample_make(int depth, bool tame)
{
    struct dtype_sample out = {.type = MPI_DATATYPE_NULL};
    MPI_Aint lb;
    int which = between(0, 12);

    if (depth == 0) {
        out = leaf();
    } else if (which >= 11) {
        structure(depth, tame, &out);
    } else {
        struct dtype_sample part = sample_make(depth - 1, tame);
        if (part.n > LARGE)
            return part;
        compose(&part, which, tame, &out);
        sample_free(&part);
    }
    MPI_Type_get_extent(out.type, &lb, &out.extent);
    return out;
}

void sample_free(struct dtype_sample *sample)
{
    int ni, na, nt, combiner;

    MPI_Type_get_envelope(sample->type, &ni, &na, &nt, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&sample->type);
    free(sample->at);
}
