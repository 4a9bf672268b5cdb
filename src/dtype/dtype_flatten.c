/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_flatten.c - from an MPI datatype to runs, constructor by constructor.
 *
 * Every constructor of MPI 4.1, 5.1 is expressed by one step: append copies of a
 * component at a regular distance (add). A distributed or sub-array is vectors of
 * vectors. The runs stay in typemap order, and are compressed at each level so
 * that an inner regular pattern is already short when the outer one repeats it.
 *
 * Pair types with padding are flattened a second time for the element view, in
 * which a leaf is the pair's whole extent; all displacements and extents are the
 * host's, so both views agree on where elements begin.
 *
 * Lists of runs keep typemap order: a piece is only ever joined to the one before it. Pieces that
 * touch are joined as they come in; equally spaced ones only by runs_compress, because pairing them
 * up early would hide a touching neighbour that is still to come.
 */
#include "dtype/dtype_flatten.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "acc/acc.h"
#include "dtype/dtype_contents.h"
#include "dtype/dtype_predef.h"

/* A growing list. Functions return MRMA_SUCCESS or MRMA_ERR_NO_MEM; then it is still valid, though
 * incomplete. */
struct run_list {
    struct dtype_run *v;
    size_t n, cap;
};

static int reserve(struct run_list *list)
{
    if (list->n < list->cap)
        return MRMA_SUCCESS;
    size_t cap = list->cap ? 2 * list->cap : 4;
    struct dtype_run *v = realloc(list->v, cap * sizeof(*v));
    if (!v)
        return MRMA_ERR_NO_MEM;
    list->v = v;
    list->cap = cap;
    return MRMA_SUCCESS;
}

/* Pieces that touch, in order, are one piece. */
static struct dtype_run normal_run(struct dtype_run r)
{
    if (r.n > 1 && r.stride == (ptrdiff_t)r.len)
        r = (struct dtype_run){r.disp, r.len * r.n, 0, 1};
    if (r.n == 1)
        r.stride = 0;
    return r;
}

/* Append one run as it is, joined to the last where they touch. */
static int runs_push(struct run_list *list, struct dtype_run run)
{
    run = normal_run(run);
    struct dtype_run *last = list->n ? &list->v[list->n - 1] : NULL;
    if (last && last->n == 1 && run.n == 1 && last->disp + (ptrdiff_t)last->len == run.disp) {
        last->len += run.len;
        return MRMA_SUCCESS;
    }
    int err = reserve(list);
    if (err == MRMA_SUCCESS)
        list->v[list->n++] = run;
    return err;
}

/* A single run repeated may still be a single run. */
static bool repeat_run(struct dtype_run *r, size_t count, ptrdiff_t stride)
{
    if (count == 1)
        return true;
    if (r->n == 1)
        r->stride = stride;
    else if (stride != r->stride * (ptrdiff_t)r->n)
        return false;
    r->n *= count;
    return true;
}

/* Append count copies of unit, the first moved by disp, each stride bytes after the one before. A
 * regular pattern stays one run. out and unit are distinct. */
static int runs_repeat(struct run_list *out, const struct run_list *unit, ptrdiff_t disp,
                       size_t count, ptrdiff_t stride)
{
    if (unit->n == 0 || count == 0)
        return MRMA_SUCCESS;
    if (unit->n == 1) {
        struct dtype_run r = unit->v[0];

        r.disp += disp;
        if (repeat_run(&r, count, stride))
            return runs_push(out, r);
    }
    for (size_t k = 0; k < count; k++, disp += stride) {
        for (size_t i = 0; i < unit->n; i++) {
            struct dtype_run r = unit->v[i];

            r.disp += disp;
            int err = runs_push(out, r);
            if (err != MRMA_SUCCESS)
                return err;
        }
    }
    return MRMA_SUCCESS;
}

/* Does next go on where last ends, with the same spacing? Then last takes it in. */
static bool absorb(struct dtype_run *last, const struct dtype_run *next)
{
    if (last->len != next->len)
        return false;
    ptrdiff_t stride = last->n > 1   ? last->stride
                       : next->n > 1 ? next->stride
                                     : next->disp - last->disp;
    if (next->n > 1 && next->stride != stride)
        return false;
    if (next->disp != last->disp + (ptrdiff_t)last->n * stride)
        return false;
    last->stride = stride;
    last->n += next->n;
    return true;
}

/* Join neighbours of equal length and spacing into longer runs. */
static void runs_compress(struct run_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++) {
        if (kept && absorb(&list->v[kept - 1], &list->v[i]))
            continue;
        list->v[kept++] = list->v[i];
    }
    list->n = kept;
    if (list->cap > 2 * kept + 4) {
        struct dtype_run *v = realloc(list->v, (kept + 1) * sizeof(*v));
        if (v) {
            list->v = v;
            list->cap = kept + 1;
        }
    }
}

static void runs_free(struct run_list *list)
{
    free(list->v);
    *list = (struct run_list){0};
}

/* ---- constructors ---- */

/* A type partly flattened. Its data is `leaves` predefined elements, of type
 * basic if that is not ACC_NONE; without data basic is that of the component. */
struct flat {
    struct run_list runs;
    size_t leaves;
    uint8_t basic;
    ptrdiff_t extent;
};

static int flatten(MPI_Datatype type, enum dtype_view view, struct flat *out);

/* Append count copies of part, the first at disp, each stride after the other. */
static int add(struct flat *out, const struct flat *part, int64_t disp, int64_t count,
               int64_t stride)
{
    size_t leaves = count > 0 ? part->leaves * (size_t)count : 0;

    if (out->leaves == 0)
        out->basic = leaves || out->basic == ACC_NONE ? part->basic : out->basic;
    else if (leaves && out->basic != part->basic)
        out->basic = ACC_NONE;
    out->leaves += leaves;
    if (count <= 0)
        return MRMA_SUCCESS;
    return runs_repeat(&out->runs, &part->runs, disp, (size_t)count, stride);
}

/* add, of a block of length elements that is itself count times repeated. */
static int add_blocks(struct flat *out, const struct flat *part, int64_t disp, int64_t count,
                      int64_t length, int64_t stride)
{
    struct flat block = {.basic = ACC_NONE};
    int err = add(&block, part, 0, length, part->extent);

    runs_compress(&block.runs);
    if (err == MRMA_SUCCESS)
        err = add(out, &block, disp, count, stride);
    runs_free(&block.runs);
    return err;
}

static int leaf(enum acc_type acc, MPI_Datatype type, enum dtype_view view, struct flat *out)
{
    MPI_Count size;

    out->leaves = 1;
    out->basic = (uint8_t)acc;
    if (acc != ACC_NONE) {
        struct dtype basic = dtype_basic((uint8_t)acc);
        const struct dtype_run *runs = view == DTYPE_BYTES ? basic.runs : basic.eruns;
        size_t n = view == DTYPE_BYTES ? basic.nruns : basic.neruns;
        int err = MRMA_SUCCESS;

        for (size_t i = 0; i < n && err == MRMA_SUCCESS; i++)
            err = runs_push(&out->runs, runs[i]);
        return err;
    }
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return MRMA_ERR_TYPE;
    out->leaves = size > 0;
    return size ? runs_push(&out->runs, (struct dtype_run){0, (size_t)size, 0, 1}) : MRMA_SUCCESS;
}

static int indexed(const struct dtype_contents *c, const struct flat *part, struct flat *out)
{
    int64_t n = c->args[0];
    bool blocks =
        c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool bytes = c->combiner == MPI_COMBINER_HINDEXED || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const int64_t *disps = bytes ? c->addrs : c->args + (blocks ? 2 : 1 + n);
    int64_t unit = bytes ? 1 : part->extent;

    for (int64_t i = 0; i < n; i++) {
        int64_t length = c->args[blocks ? 1 : 1 + i];
        int err = add(out, part, disps[i] * unit, length, part->extent);
        if (err != MRMA_SUCCESS)
            return err;
    }
    return MRMA_SUCCESS;
}

static int structure(const struct dtype_contents *c, enum dtype_view view, struct flat *out)
{
    int err = MRMA_SUCCESS;

    for (size_t i = 0; i < c->ntypes && err == MRMA_SUCCESS; i++) {
        struct flat part;

        err = flatten(c->types[i], view, &part);
        if (err == MRMA_SUCCESS)
            err = add(out, &part, c->addrs[i], c->args[1 + i], part.extent);
        runs_free(&part.runs);
    }
    return err;
}

/* Replace *flat by what add or add_blocks made of it. */
static int become(struct flat *flat, struct flat *next, int err)
{
    runs_free(&flat->runs);
    *flat = *next;
    runs_compress(&flat->runs);
    return err;
}

/* Dimensions are walked from the one that varies fastest. */
static size_t nth_dim(int64_t order, size_t ndims, size_t k)
{
    return order == MPI_ORDER_FORTRAN ? k : ndims - 1 - k;
}

static int subarray(const struct dtype_contents *c, const struct flat *part, struct flat *out)
{
    size_t ndims = (size_t)c->args[0];
    const int64_t *sizes = c->args + 1, *subsizes = sizes + ndims, *starts = subsizes + ndims;
    int64_t order = starts[ndims], step = part->extent;
    int err = add(out, part, 0, 1, 0);

    for (size_t k = 0; k < ndims && err == MRMA_SUCCESS; k++) {
        size_t d = nth_dim(order, ndims, k);
        struct flat next = {.basic = ACC_NONE};

        err = become(out, &next, add(&next, out, starts[d] * step, subsizes[d], step));
        step *= sizes[d];
    }
    return err;
}

/* One dimension of a distributed array, for the process with coordinate coord. */
struct share {
    int64_t gsize, block, procs, coord;
};

static struct share dim_share(const struct dtype_contents *c, size_t ndims, size_t d, int64_t coord)
{
    const int64_t *gsizes = c->args + 3, *distribs = gsizes + ndims;
    const int64_t *dargs = distribs + ndims, *psizes = dargs + ndims;
    struct share s = {gsizes[d], dargs[d], psizes[d], coord};

    if (distribs[d] == MPI_DISTRIBUTE_NONE)
        s = (struct share){gsizes[d], gsizes[d], 1, 0};
    else if (dargs[d] == MPI_DISTRIBUTE_DFLT_DARG)
        s.block = distribs[d] == MPI_DISTRIBUTE_BLOCK ? (s.gsize + s.procs - 1) / s.procs : 1;
    return s;
}

/* The blocks coord, coord + procs, ... of one dimension: whole ones, then a
 * last one cut short. A block distribution is the case of one block at most. */
static int distribute(const struct share *s, const struct flat *part, int64_t step,
                      struct flat *out)
{
    int64_t first = s->coord * s->block, cycle = s->procs * s->block;

    if (first >= s->gsize)
        return add(out, part, 0, 0, 0);
    int64_t cycles = (s->gsize - first + cycle - 1) / cycle;
    int64_t last = s->gsize - (first + (cycles - 1) * cycle);
    int64_t whole = last < s->block ? cycles - 1 : cycles;

    struct flat unit = *part; /* shares the runs; only the spacing differs */
    unit.extent = step;
    int err = add_blocks(out, &unit, first * step, whole, s->block, cycle * step);
    if (err == MRMA_SUCCESS && whole < cycles)
        err = add(out, &unit, (first + whole * cycle) * step, last, step);
    return err;
}

static int darray(const struct dtype_contents *c, const struct flat *part, struct flat *out)
{
    size_t ndims = (size_t)c->args[2];
    const int64_t *gsizes = c->args + 3, *psizes = gsizes + 3 * ndims;
    int64_t order = psizes[ndims], step = part->extent;
    int err = add(out, part, 0, 1, 0);

    for (size_t k = 0; k < ndims && err == MRMA_SUCCESS; k++) {
        size_t d = nth_dim(order, ndims, k);
        struct flat next = {.basic = ACC_NONE};
        int64_t below = 1; /* the process grid is in C order whatever the array is */

        for (size_t i = d + 1; i < ndims; i++)
            below *= psizes[i];
        struct share s = dim_share(c, ndims, d, c->args[1] / below % psizes[d]);
        err = become(out, &next, distribute(&s, out, step, &next));
        step *= gsizes[d];
    }
    return err;
}

/* Constructors with a single component. */
static int compose(const struct dtype_contents *c, const struct flat *part, struct flat *out)
{
    const int64_t *a = c->args;

    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return add(out, part, 0, 1, 0);
    case MPI_COMBINER_CONTIGUOUS:
        return add(out, part, 0, a[0], part->extent);
    case MPI_COMBINER_VECTOR:
        return add_blocks(out, part, 0, a[0], a[1], a[2] * part->extent);
    case MPI_COMBINER_HVECTOR:
        return add_blocks(out, part, 0, a[0], a[1], c->addrs[0]);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return indexed(c, part, out);
    case MPI_COMBINER_SUBARRAY:
        return subarray(c, part, out);
    case MPI_COMBINER_DARRAY:
        return darray(c, part, out);
    default:
        return MRMA_ERR_TYPE;
    }
}

static int flatten_derived(const struct dtype_contents *c, enum dtype_view view, struct flat *out)
{
    if (c->combiner == MPI_COMBINER_STRUCT)
        return structure(c, view, out);
    if (c->ntypes != 1)
        return MRMA_ERR_TYPE;
    struct flat part;
    int err = flatten(c->types[0], view, &part);
    if (err == MRMA_SUCCESS)
        err = compose(c, &part, out);
    runs_free(&part.runs);
    return err;
}

/* *out is to be freed whatever is returned. */
static int flatten(MPI_Datatype type, enum dtype_view view, struct flat *out)
{
    struct dtype_contents c;
    MPI_Count lb, extent;

    *out = (struct flat){.basic = ACC_NONE};
    if (PMPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS)
        return MRMA_ERR_TYPE;
    out->extent = extent;
    int err = dtype_contents_read(type, &c);
    if (err != MRMA_SUCCESS)
        return err;

    switch (c.combiner) {
    case MPI_COMBINER_NAMED:
        err = leaf(predef_acc_type(type), type, view, out);
        break;
    case MPI_COMBINER_F90_REAL:
        err = leaf(predef_f90_real(type, (int)c.args[0], (int)c.args[1]), type, view, out);
        break;
    case MPI_COMBINER_F90_COMPLEX:
        err = leaf(predef_f90_complex(type, (int)c.args[0], (int)c.args[1]), type, view, out);
        break;
    case MPI_COMBINER_F90_INTEGER:
        err = leaf(predef_f90_integer(type), type, view, out);
        break;
    default:
        err = flatten_derived(&c, view, out);
    }
    out->extent = extent;
    runs_compress(&out->runs);
    dtype_contents_free(&c);
    return err;
}

/* Does this element carry padding, so that the two views differ? */
static bool is_padded(uint8_t basic)
{
    return basic != ACC_NONE && dtype_basic(basic).size != acc_extent(basic);
}

int dtype_flatten(MPI_Datatype type, struct dtype **out)
{
    struct flat bytes, elements = {.basic = ACC_NONE};
    MPI_Count size;
    int err = flatten(type, DTYPE_BYTES, &bytes);

    if (err == MRMA_SUCCESS && is_padded(bytes.basic))
        err = flatten(type, DTYPE_ELEMENTS, &elements);
    if (err == MRMA_SUCCESS && PMPI_Type_size_x(type, &size) != MPI_SUCCESS)
        err = MRMA_ERR_TYPE;
    if (err == MRMA_SUCCESS) {
        const struct run_list *e = is_padded(bytes.basic) ? &elements.runs : &bytes.runs;
        struct dtype form = {
            .extent = bytes.extent,
            .basic = bytes.basic,
            .elems = bytes.basic == ACC_NONE ? 0 : bytes.leaves,
            .runs = bytes.runs.v,
            .nruns = bytes.runs.n,
            .eruns = e->v,
            .neruns = e->n,
        };
        err = dtype_create(&form, out);
    }
    if (err == MRMA_SUCCESS && (MPI_Count)(*out)->size != size) {
        dtype_unref(*out);
        err = MRMA_ERR_INTERN;
    }
    runs_free(&elements.runs);
    runs_free(&bytes.runs);
    return err;
}
