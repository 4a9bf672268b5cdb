/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_flatten.c - turns an MPI datatype into runs, constructor by constructor.
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
 * The memory of the result, and the memory needed meanwhile, is bounded by the arguments with which
 * the datatype and its components were made (dtype_runs.h): these are read as the host gives them,
 * and where possible freed before the next are read.
 *
 * No state, no locks. Neighbours: dtype_contents.c, which asks the host; dtype_predef.c, which
 * knows the leaves; dtype_runs.c, which gathers the runs; dtype.c, which makes the result.
 */
#include "dtype/dtype_flatten.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "acc/acc.h"
#include "dtype/dtype_compact.h"
#include "dtype/dtype_contents.h"
#include "dtype/dtype_predef.h"
#include "dtype/dtype_runs.h"

/* RECENT: components of a structure that are kept while it is flattened; DROP_EVERY: after so many
 * blocks the arguments of the blocks gone by are dropped */
enum { RECENT = 4, DROP_EVERY = 1 << 16 };

/* A type partly flattened. Its data are `leaves` predefined elements, of type basic if that is not
 * ACC_NONE; if there are no data, basic is that of the component. */
struct flat {
    struct dtype_runs runs;
    size_t leaves;
    uint8_t basic;
    ptrdiff_t extent;
};

static struct flat nothing(struct dtype_runs_bound *bound)
{
    return (struct flat){.basic = ACC_NONE, .runs.bound = bound};
}

static int flatten(MPI_Datatype type, enum dtype_view view, struct dtype_runs_bound *bound,
                   struct flat *out);

/* add appends count copies of part, the first at disp, each stride behind the one before. */
static int add(struct flat *out, struct flat *part, int64_t disp, int64_t count, int64_t stride)
{
    size_t leaves = count > 0 ? part->leaves * (size_t)count : 0;

    if (out->leaves == 0)
        out->basic = leaves || out->basic == ACC_NONE ? part->basic : out->basic;
    else if (leaves && out->basic != part->basic)
        out->basic = ACC_NONE;
    out->leaves += leaves;
    if (count <= 0)
        return MRMA_SUCCESS;
    return dtype_runs_repeat(&out->runs, &part->runs, disp, (size_t)count, stride);
}

/* add_blocks appends count blocks, each of length elements. */
static int add_blocks(struct flat *out, struct flat *part, int64_t disp, int64_t count,
                      int64_t length, int64_t stride)
{
    struct flat block = nothing(out->runs.bound);
    int err = add(&block, part, 0, length, part->extent);

    dtype_runs_compress(&block.runs);
    if (err == MRMA_SUCCESS)
        err = add(out, &block, disp, count, stride);
    dtype_runs_free(&block.runs);
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
            err = dtype_runs_push(&out->runs, runs[i]);
        return err;
    }
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return MRMA_ERR_TYPE;
    out->leaves = size > 0;
    return size ? dtype_runs_push(&out->runs, (struct dtype_run){0, (size_t)size, 0, 1})
                : MRMA_SUCCESS;
}

/* drop_blocks is called when the blocks in front of block i are done, and drops their arguments.
 * first is the argument with the first displacement, where displacements are no addresses. */
static void drop_blocks(const struct dtype_contents *c, bool blocks, size_t first, size_t i)
{
    if (!blocks)
        dtype_numbers_drop(&c->args, 1 + i - DROP_EVERY, 1 + i);
    if (c->addrs.n)
        dtype_numbers_drop(&c->addrs, i - DROP_EVERY, i);
    else
        dtype_numbers_drop(&c->args, first + i - DROP_EVERY, first + i);
}

static int indexed(const struct dtype_contents *c, struct flat *part, struct flat *out)
{
    size_t n = (size_t)dtype_arg(c, 0);
    bool blocks =
        c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool bytes = c->combiner == MPI_COMBINER_HINDEXED || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    size_t first = blocks ? 2 : 1 + n; /* first displacement, where these are no addresses */

    for (size_t i = 0; i < n; i++) {
        if (i % DROP_EVERY == 0 && i)
            drop_blocks(c, blocks, first, i);
        int64_t disp = bytes ? dtype_addr(c, i) : dtype_arg(c, first + i) * part->extent;
        int64_t length = dtype_arg(c, blocks ? 1 : 1 + i);
        int err = add(out, part, disp, length, part->extent);
        if (err != MRMA_SUCCESS)
            return err;
    }
    return MRMA_SUCCESS;
}

/* The types of a structure that were flattened last, since neighbours often have the same type. */
struct recent {
    MPI_Datatype type[RECENT];
    struct flat flat[RECENT];
    unsigned n, next;
};

static int flatten_recent(struct recent *recent, MPI_Datatype type, enum dtype_view view,
                          struct dtype_runs_bound *bound, struct flat **out)
{
    for (unsigned i = 0; i < recent->n; i++) {
        *out = &recent->flat[i];
        if (recent->type[i] == type)
            return MRMA_SUCCESS;
    }
    const unsigned i = recent->next++ % RECENT;
    *out = &recent->flat[i];
    if (i < recent->n)
        dtype_runs_free(&recent->flat[i].runs);
    else
        recent->n++;
    recent->type[i] = type;
    return flatten(type, view, bound, *out);
}

static int structure(const struct dtype_contents *c, enum dtype_view view, struct flat *out)
{
    struct recent recent = {.n = 0};
    struct flat *part;
    int err = MRMA_SUCCESS;

    for (size_t i = 0; i < c->ntypes && err == MRMA_SUCCESS; i++) {
        if (i % DROP_EVERY == 0 && i)
            drop_blocks(c, false, 0, i);
        err = flatten_recent(&recent, c->types[i], view, out->runs.bound, &part);
        if (err == MRMA_SUCCESS)
            err = add(out, part, dtype_addr(c, i), dtype_arg(c, 1 + i), part->extent);
    }
    for (unsigned i = 0; i < recent.n; i++)
        dtype_runs_free(&recent.flat[i].runs);
    return err;
}

/* become replaces *flat by what add or add_blocks has made of it. */
static int become(struct flat *flat, struct flat *next, int err)
{
    dtype_runs_free(&flat->runs);
    *flat = *next;
    dtype_runs_compress(&flat->runs);
    return err;
}

/* nth_dim numbers the dimensions from the one that varies fastest. */
static size_t nth_dim(int64_t order, size_t ndims, size_t k)
{
    return order == MPI_ORDER_FORTRAN ? k : ndims - 1 - k;
}

static int subarray(const struct dtype_contents *c, struct flat *part, struct flat *out)
{
    size_t ndims = (size_t)dtype_arg(c, 0);
    size_t sizes = 1, subsizes = sizes + ndims, starts = subsizes + ndims; /* where they begin */
    int64_t order = dtype_arg(c, starts + ndims), step = part->extent;
    int err = add(out, part, 0, 1, 0);

    for (size_t k = 0; k < ndims && err == MRMA_SUCCESS; k++) {
        size_t d = nth_dim(order, ndims, k);
        struct flat next = nothing(out->runs.bound);

        err = become(
            out, &next,
            add(&next, out, dtype_arg(c, starts + d) * step, dtype_arg(c, subsizes + d), step));
        step *= dtype_arg(c, sizes + d);
    }
    return err;
}

/* One dimension of a distributed array, for the process with coordinate coord. */
struct share {
    int64_t gsize, block, procs, coord;
};

static struct share dim_share(const struct dtype_contents *c, size_t ndims, size_t d, int64_t coord)
{
    const int64_t gsize = dtype_arg(c, 3 + d), distrib = dtype_arg(c, 3 + ndims + d);
    const int64_t darg = dtype_arg(c, 3 + 2 * ndims + d), procs = dtype_arg(c, 3 + 3 * ndims + d);
    struct share s = {gsize, darg, procs, coord};

    if (distrib == MPI_DISTRIBUTE_NONE)
        s = (struct share){gsize, gsize, 1, 0};
    else if (darg == MPI_DISTRIBUTE_DFLT_DARG)
        s.block = distrib == MPI_DISTRIBUTE_BLOCK ? (s.gsize + s.procs - 1) / s.procs : 1;
    return s;
}

/* distribute appends the blocks coord, coord + procs, ... of one dimension: first whole ones, then
 * maybe a shorter one. A block distribution is the case of at most one block. */
static int distribute(const struct share *s, struct flat *part, int64_t step, struct flat *out)
{
    int64_t first = s->coord * s->block, cycle = s->procs * s->block;

    if (first >= s->gsize)
        return add(out, part, 0, 0, 0);
    int64_t cycles = (s->gsize - first + cycle - 1) / cycle;
    int64_t last = s->gsize - (first + (cycles - 1) * cycle);
    int64_t whole = last < s->block ? cycles - 1 : cycles;

    part->extent = step;
    int err = add_blocks(out, part, first * step, whole, s->block, cycle * step);
    if (err == MRMA_SUCCESS && whole < cycles)
        err = add(out, part, (first + whole * cycle) * step, last, step);
    return err;
}

static int darray(const struct dtype_contents *c, struct flat *part, struct flat *out)
{
    size_t ndims = (size_t)dtype_arg(c, 2), gsizes = 3, psizes = gsizes + 3 * ndims;
    int64_t order = dtype_arg(c, psizes + ndims), step = part->extent;
    int err = add(out, part, 0, 1, 0);

    for (size_t k = 0; k < ndims && err == MRMA_SUCCESS; k++) {
        size_t d = nth_dim(order, ndims, k);
        struct flat next = nothing(out->runs.bound);
        int64_t below = 1; /* the process grid is in C order whatever the array is */

        for (size_t i = d + 1; i < ndims; i++)
            below *= dtype_arg(c, psizes + i);
        const int64_t coord = dtype_arg(c, 1) / below % dtype_arg(c, psizes + d);
        struct share s = dim_share(c, ndims, d, coord);
        err = become(out, &next, distribute(&s, out, step, &next));
        step *= dtype_arg(c, gsizes + d);
    }
    return err;
}

/* compose deals with constructors that have a single component. */
static int compose(const struct dtype_contents *c, struct flat *part, struct flat *out)
{
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return add(out, part, 0, 1, 0);
    case MPI_COMBINER_CONTIGUOUS:
        return add(out, part, 0, dtype_arg(c, 0), part->extent);
    case MPI_COMBINER_VECTOR:
        return add_blocks(out, part, 0, dtype_arg(c, 0), dtype_arg(c, 1),
                          dtype_arg(c, 2) * part->extent);
    case MPI_COMBINER_HVECTOR:
        return add_blocks(out, part, 0, dtype_arg(c, 0), dtype_arg(c, 1), dtype_addr(c, 0));
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
    int err = flatten(c->types[0], view, out->runs.bound, &part);
    if (err == MRMA_SUCCESS)
        err = compose(c, &part, out);
    dtype_runs_free(&part.runs);
    return err;
}

/* *out is to be freed whatever is returned. */
static int flatten(MPI_Datatype type, enum dtype_view view, struct dtype_runs_bound *bound,
                   struct flat *out)
{
    struct dtype_contents c;
    MPI_Count lb, extent;

    *out = nothing(bound);
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
        err = leaf(predef_f90_real(type, (int)dtype_arg(&c, 0), (int)dtype_arg(&c, 1)), type, view,
                   out);
        break;
    case MPI_COMBINER_F90_COMPLEX:
        err = leaf(predef_f90_complex(type, (int)dtype_arg(&c, 0), (int)dtype_arg(&c, 1)), type,
                   view, out);
        break;
    case MPI_COMBINER_F90_INTEGER:
        err = leaf(predef_f90_integer(type), type, view, out);
        break;
    default:
        err = flatten_derived(&c, view, out);
    }
    out->extent = extent;
    dtype_runs_compress(&out->runs);
    dtype_contents_free(&c);
    return err;
}

/* is_padded returns whether this element has padding, so that the two views differ. */
static bool is_padded(uint8_t basic)
{
    return basic != ACC_NONE && dtype_basic(basic).size != acc_extent(basic);
}

/* make_form makes what is kept of a view: its runs, or its list. */
static int make_form(struct flat *bytes, struct flat *elements, struct dtype_runs_bound *bound,
                     struct dtype *form)
{
    struct dtype_runs *const b = &bytes->runs, *e = is_padded(bytes->basic) ? &elements->runs : b;
    int err = dtype_runs_finish(b);

    if (err == MRMA_SUCCESS && e != b)
        err = dtype_runs_finish(e);
    *form = (struct dtype){
        .extent = bytes->extent,
        .basic = bytes->basic,
        .elems = bytes->basic == ACC_NONE ? 0 : bytes->leaves,
        .runs = b->list ? NULL : b->v,
        .nruns = b->n,
        .eruns = e->list ? NULL : e->v,
        .neruns = e->n,
        .list = b->list,
        .elist = e->list,
        .lists = bound->lists,
    };
    return err;
}

/* Types with more runs than most, which is at least 3, become compact lists. */
static int flatten_within(MPI_Datatype type, size_t most, struct dtype **out)
{
    struct dtype_runs_bound bound = {.most = most};
    struct flat bytes, elements = nothing(&bound);
    struct dtype form;
    MPI_Count size;
    int err = flatten(type, DTYPE_BYTES, &bound, &bytes);

    if (err == MRMA_SUCCESS && is_padded(bytes.basic))
        err = flatten(type, DTYPE_ELEMENTS, &bound, &elements);
    if (err == MRMA_SUCCESS && PMPI_Type_size_x(type, &size) != MPI_SUCCESS)
        err = MRMA_ERR_TYPE;
    if (err == MRMA_SUCCESS)
        err = make_form(&bytes, &elements, &bound, &form);
    if (err == MRMA_SUCCESS)
        err = dtype_create(&form, out);
    if (err != MRMA_SUCCESS) {
        dtype_compact_free(bound.lists);
    } else if ((MPI_Count)(*out)->size != size) {
        dtype_unref(*out);
        err = MRMA_ERR_INTERN;
    }
    dtype_runs_free(&elements.runs);
    dtype_runs_free(&bytes.runs);
    return err;
}

int dtype_flatten(MPI_Datatype type, struct dtype **out)
{
    return flatten_within(type, DTYPE_RUNS_MAX, out);
}
