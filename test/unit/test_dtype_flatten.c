/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dtype_flatten.c - flattened datatypes against their definition and the host.
 *
 * An MPI program of one process. Random nested datatypes of every constructor
 * must give the bytes that the standard defines, in order; those that a host can
 * handle are packed by it as well. Sizes and extents are compared with the
 * host's, and regular types must stay short. Types that are kept as compact lists, because
 * they have many runs or because the bound is set very low, must give the same bytes in the
 * same order from every position on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <mpi.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dtype_sample.h"
#include "acc/acc.h"
#include "dtype/dtype_compact.h"
#include "dtype/dtype_flatten.h"

static struct dtype *flattened(MPI_Datatype type)
{
    struct dtype *flat = NULL;

    assert_int_equal(dtype_flatten(type, &flat), MRMA_SUCCESS);
    return flat;
}

/* Against the host. (Not its true extent: MPICH counts empty components in it.) */
static void check_measures(MPI_Datatype type, const struct dtype *flat)
{
    MPI_Count size, lb, extent;

    MPI_Type_size_x(type, &size);
    MPI_Type_get_extent_x(type, &lb, &extent);
    assert_int_equal(flat->size, size);
    assert_int_equal(flat->extent, extent);
}

#define ROOM (1 << 20)
static char memory[ROOM], theirs[ROOM], ours[ROOM], defined[ROOM];

/* The host's MPI_Pack against ours; where there is a definition (a sample), both against that.
 * False if the type is too large, or if the host does not follow the definition: Open MPI 5.0.7
 * packs the elements of some types in another order. */
static bool check_pack(MPI_Datatype type, const struct dtype *flat, int count,
                       const struct dtype_sample *sample)
{
    const size_t bytes = flat->size * (size_t)count;
    const char *expected = theirs;
    ptrdiff_t lo, hi;
    struct dtype_cursor cur;
    int position = 0;

    assert_true(dtype_span(flat, (size_t)count, &lo, &hi));
    if (hi - lo > ROOM || bytes > ROOM)
        return false;
    for (size_t i = 0; i < (size_t)(hi - lo); i++)
        memory[i] = (char)sample_below(256);
    char *base = (char *)((uintptr_t)memory - (uintptr_t)lo);
    assert_int_equal(MPI_Pack(base, count, type, theirs, ROOM, &position, MPI_COMM_WORLD),
                     MPI_SUCCESS);
    assert_int_equal(position, bytes);
    if (sample) {
        for (size_t i = 0; i < bytes; i++)
            defined[i] =
                base[sample->at[i % sample->n] + (ptrdiff_t)(i / sample->n) * sample->extent];
        expected = defined;
    }
    dtype_cursor_init(&cur, flat, (size_t)count, DTYPE_BYTES);
    dtype_pack(&cur, base, ours, bytes);
    assert_memory_equal(ours, expected, bytes);
    return memcmp(theirs, expected, bytes) == 0;
}

/* Every byte where the definitions say, in their order, for some instances. */
static void check_bytes(const struct dtype_sample *sample, const struct dtype *flat, size_t count)
{
    struct dtype_cursor cur;
    ptrdiff_t disp, lo = sample->n ? PTRDIFF_MAX : 0, hi = sample->n ? PTRDIFF_MIN : 0;
    size_t at = 0, len;

    for (size_t i = 0; i < sample->n; i++) {
        lo = sample->at[i] < lo ? sample->at[i] : lo;
        hi = sample->at[i] + 1 > hi ? sample->at[i] + 1 : hi;
    }
    assert_int_equal(flat->true_lb, lo);
    assert_int_equal(flat->true_extent, hi - lo);
    dtype_cursor_init(&cur, flat, count, DTYPE_BYTES);
    while ((len = dtype_cursor_next(&cur, SIZE_MAX, &disp)) != 0) {
        assert_true(at + len <= count * sample->n);
        for (size_t i = 0; i < len; i++, at++) {
            ptrdiff_t expect =
                sample->at[at % sample->n] + (ptrdiff_t)(at / sample->n) * sample->extent;
            assert_int_equal(disp + (ptrdiff_t)i, expect);
        }
    }
    assert_int_equal(at, count * sample->n);
}

static void test_wild_types(void **state)
{
    size_t bytes = 0;

    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        struct dtype_sample sample = sample_make(1 + (int)sample_below(4), false);
        struct dtype *flat = flattened(sample.type);

        check_measures(sample.type, flat);
        check_bytes(&sample, flat, 1);
        check_bytes(&sample, flat, 1 + sample_below(4));
        bytes += sample.n;
        dtype_unref(flat);
        sample_free(&sample);
    }
    assert_true(bytes > 100000);
}

static void test_tame_types_as_the_host_packs(void **state)
{
    int checked = 0;

    (void)state;
    for (int trial = 0; trial < 1000; trial++) {
        struct dtype_sample sample = sample_make(1 + (int)sample_below(3), true);
        struct dtype *flat = flattened(sample.type);

        MPI_Type_commit(&sample.type);
        check_measures(sample.type, flat);
        check_bytes(&sample, flat, 2);
        checked +=
            check_pack(sample.type, flat, 1, &sample) && check_pack(sample.type, flat, 3, &sample);
        dtype_unref(flat);
        sample_free(&sample);
    }
    assert_in_range(checked, 901, 1000);
}

/* Number of runs of a type made by the statement; frees it. */
static size_t runs_of(MPI_Datatype type)
{
    struct dtype *flat = flattened(type);
    size_t n = flat->nruns;

    assert_ptr_equal(flat->runs, flat->eruns);
    dtype_unref(flat);
    MPI_Type_free(&type);
    return n;
}

/* ---- compact lists ---- */

static struct dtype *flattened_within(MPI_Datatype type, size_t most)
{
    struct dtype *flat = NULL;

    assert_int_equal(dtype_flatten_within(type, most, &flat), MRMA_SUCCESS);
    return flat;
}

/* Where every byte of count instances lies, in order, walked over in pieces of at most max. */
static size_t walk(struct dtype_cursor *cur, size_t max, ptrdiff_t *at)
{
    size_t n = 0, len;
    ptrdiff_t disp;

    while ((len = dtype_cursor_next(cur, max, &disp)) != 0)
        for (size_t i = 0; i < len; i++)
            at[n++] = disp + (ptrdiff_t)i;
    return n;
}

static size_t walk_ahead(struct dtype_cursor *cur, size_t max, ptrdiff_t *at)
{
    struct dtype_stretch ahead;
    size_t n = 0;

    while (dtype_cursor_take(cur, max, &ahead))
        for (size_t k = 0; k < ahead.n; k++)
            for (size_t i = 0; i < ahead.len; i++)
                at[n++] = ahead.disp + (ptrdiff_t)k * ahead.stride + (ptrdiff_t)i;
    return n;
}

/* Both views of a compact list against those of the runs: all bytes in order, and from every
 * position on. */
static void check_same(const struct dtype *flat, const struct dtype *compact, size_t count,
                       enum dtype_view view)
{
    const size_t room = (view == DTYPE_BYTES ? flat->size : 16 * flat->elems + flat->size) * count;
    ptrdiff_t *expect = malloc((room + 1) * sizeof *expect),
              *got = malloc((room + 1) * sizeof *got);
    struct dtype_cursor cur;

    dtype_cursor_init(&cur, flat, count, view);
    const size_t n = walk(&cur, SIZE_MAX, expect);
    assert_true(n <= room);
    const size_t unit = view == DTYPE_BYTES ? 1 : acc_extent(flat->basic);
    for (size_t max = unit; max <= 40 * unit; max *= 3) {
        dtype_cursor_init(&cur, compact, count, view);
        assert_int_equal(walk(&cur, max, got), n);
        assert_memory_equal(got, expect, n * sizeof *got);
        dtype_cursor_init(&cur, compact, count, view);
        assert_int_equal(walk_ahead(&cur, max, got), n);
        assert_memory_equal(got, expect, n * sizeof *got);
    }
    for (size_t pos = 0; view == DTYPE_BYTES && pos < n; pos += 1 + n / 50) {
        dtype_cursor_init(&cur, compact, count, view);
        dtype_cursor_seek(&cur, pos);
        assert_int_equal(walk(&cur, SIZE_MAX, got), n - pos);
        assert_memory_equal(got, expect + pos, (n - pos) * sizeof *got);
    }
    free(expect);
    free(got);
}

static void test_compact_lists_are_the_same(void **state)
{
    int lists = 0, element_lists = 0;

    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        struct dtype_sample sample = sample_make(1 + (int)sample_below(4), false);
        struct dtype *flat = flattened_within(sample.type, SIZE_MAX);
        struct dtype *compact = flattened_within(sample.type, 3 + sample_below(5));

        assert_null(flat->list);
        check_measures(sample.type, compact);
        check_bytes(&sample, compact, 1);
        assert_int_equal(compact->basic, flat->basic);
        assert_int_equal(compact->elems, flat->elems);
        check_same(flat, compact, 1 + sample_below(3), DTYPE_BYTES);
        if (flat->basic != ACC_NONE && flat->size)
            check_same(flat, compact, 1 + sample_below(3), DTYPE_ELEMENTS);
        lists += compact->list != NULL;
        element_lists += compact->elist != NULL && compact->elist != compact->list;
        dtype_unref(flat);
        dtype_unref(compact);
        sample_free(&sample);
    }
    assert_true(lists > 300 && element_lists > 20);
}

/* Bytes of code and marks of all lists. */
static size_t kept_bytes(const struct dtype *type)
{
    size_t bytes = 0;

    for (const struct dtype_compact *list = type->lists; list; list = list->chain)
        bytes += list->len + list->nmarks * sizeof *list->marks + sizeof *list;
    return bytes;
}

/* Irregular blocks, of ints. */
static void draw_blocks(int n, int *lengths, int *disps)
{
    for (int i = 0, at = 0; i < n; i++) {
        disps[i] = at;
        lengths[i] = 1 + (int)sample_below(3);
        at += lengths[i] + 1 + (int)sample_below(3);
    }
}

/* More blocks than the bound, none of them regular; then repeated, which adds next to nothing. */
static void test_many_blocks_are_compact(void **state)
{
    enum { BLOCKS = 200000, COPIES = 1000 };
    int *disps = malloc(BLOCKS * sizeof(int)), *lengths = malloc(BLOCKS * sizeof(int));
    MPI_Datatype blocks, copies;

    (void)state;
    draw_blocks(BLOCKS, lengths, disps);
    MPI_Type_indexed(BLOCKS, lengths, disps, MPI_INT, &blocks);
    MPI_Type_contiguous(COPIES, blocks, &copies);
    struct dtype *flat = flattened(blocks), *more = flattened(copies);
    assert_non_null(flat->list);
    assert_int_equal(flat->pieces, BLOCKS);
    assert_in_range(kept_bytes(flat), BLOCKS, 6 * BLOCKS);
    assert_int_equal(more->pieces, (size_t)BLOCKS * COPIES);
    assert_in_range(kept_bytes(more), BLOCKS, 6 * BLOCKS);
    dtype_unref(flat);
    dtype_unref(more);
    MPI_Type_free(&blocks);
    MPI_Type_free(&copies);
    free(disps);
    free(lengths);
}

/* Blocks of copies of blocks: a piece is where the definition says, wherever a walk begins. (Open
 * MPI keeps all blocks of all blocks, so these are not as many as they could be.) */
static void test_lists_of_lists(void **state)
{
    enum { OUTER = 6000, INNER = 100, COPIES = 50 };
    int disps[OUTER], lengths[OUTER];
    MPI_Datatype blocks, copies, nested;
    struct dtype_cursor cur;

    (void)state;
    draw_blocks(OUTER, lengths, disps);
    MPI_Type_indexed(INNER, lengths, disps, MPI_INT, &blocks);
    const MPI_Aint stride = disps[INNER] * (MPI_Aint)sizeof(int); /* copies do not touch */
    MPI_Type_create_hvector(COPIES, 1, stride, blocks, &copies);
    MPI_Type_create_indexed_block(OUTER, 1, disps, copies, &nested);
    struct dtype *inner = flattened(blocks), *middle = flattened(copies), *flat = flattened(nested);
    assert_int_equal(flat->pieces, (size_t)OUTER * COPIES * INNER);
    assert_in_range(kept_bytes(flat), OUTER, 20 * OUTER); /* a displacement and an address each */
    for (int k = 0; k < 1000; k++) {
        const size_t outer = sample_below(OUTER), copy = sample_below(COPIES);
        const size_t block = sample_below(INNER);
        size_t before = 0, len = (size_t)lengths[block] * sizeof(int);
        ptrdiff_t disp;
        for (size_t i = 0; i < block; i++)
            before += (size_t)lengths[i] * sizeof(int);
        dtype_cursor_init(&cur, flat, 1, DTYPE_BYTES);
        dtype_cursor_seek(&cur, (outer * COPIES + copy) * inner->size + before);
        assert_int_equal(dtype_cursor_next(&cur, SIZE_MAX, &disp), len);
        assert_int_equal(disp, disps[outer] * middle->extent + (ptrdiff_t)copy * stride +
                                   disps[block] * (ptrdiff_t)sizeof(int));
    }
    dtype_unref(inner);
    dtype_unref(middle);
    dtype_unref(flat);
    MPI_Type_free(&blocks);
    MPI_Type_free(&copies);
    MPI_Type_free(&nested);
}

/* Structures with a hole touch their neighbours: few runs, however many there are. */
static void test_structures_that_touch_are_short(void **state)
{
    MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT}, structure, type;
    int lengths[2] = {1, 1};
    MPI_Aint disps[2] = {0, 12};

    (void)state;
    MPI_Type_create_struct(2, lengths, disps, parts, &structure);
    MPI_Type_contiguous(100000, structure, &type);
    MPI_Type_free(&structure);
    assert_int_equal(runs_of(type), 3);
}

static void test_regular_types_are_short(void **state)
{
    int sizes[3] = {64, 64, 64}, sub[3] = {64, 64, 1}, start[3] = {0, 0, 5};
    int dist[1] = {MPI_DISTRIBUTE_CYCLIC}, darg[1] = {2}, gsize[1] = {4000}, psize[1] = {4};
    int *disps = malloc(100000 * sizeof(int));
    MPI_Datatype type, inner;

    (void)state;
    MPI_Type_vector(1000000, 1, 2, MPI_DOUBLE, &type);
    struct dtype *flat = flattened(type);
    assert_int_equal(flat->nruns, 1);
    assert_int_equal(flat->runs[0].n, 1000000);
    assert_int_equal(flat->runs[0].len, 8);
    assert_int_equal(flat->runs[0].stride, 16);
    assert_int_equal(flat->elems, 1000000);
    assert_int_equal(flat->basic, ACC_F64);
    dtype_unref(flat);
    MPI_Type_free(&type);

    MPI_Type_vector(1000, 8, 8, MPI_INT, &type);
    assert_int_equal(runs_of(type), 1);
    MPI_Type_create_subarray(3, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    assert_int_equal(runs_of(type), 1); /* a column through all planes */
    sub[0] = 1;
    sub[2] = 64;
    start[2] = 0;
    MPI_Type_create_subarray(3, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    flat = flattened(type);
    assert_int_equal(flat->runs[0].n, 1); /* a plane is a single piece */
    assert_int_equal(flat->runs[0].len, 64 * 64 * 8);
    dtype_unref(flat);
    MPI_Type_free(&type);
    MPI_Type_create_darray(4, 1, 1, gsize, dist, darg, psize, MPI_ORDER_C, MPI_INT, &type);
    assert_int_equal(runs_of(type), 1);

    MPI_Type_vector(10, 1, 3, MPI_INT, &inner); /* nested, with spacing that goes on */
    MPI_Type_create_resized(inner, 0, 10 * 3 * sizeof(int), &type);
    MPI_Type_free(&inner);
    inner = type;
    MPI_Type_contiguous(1000, inner, &type);
    MPI_Type_free(&inner);
    assert_int_equal(runs_of(type), 1);

    for (int i = 0; i < 100000; i++)
        disps[i] = 3 * i;
    MPI_Type_create_indexed_block(100000, 1, disps, MPI_INT, &type); /* regular after all */
    assert_int_equal(runs_of(type), 1);
    for (int i = 0; i < 100000; i++)
        disps[i] = i;
    MPI_Type_create_indexed_block(100000, 1, disps, MPI_INT, &type);
    flat = flattened(type);
    assert_true(flat->contig);
    dtype_unref(flat);
    MPI_Type_free(&type);
    free(disps);
}

static void test_elements_and_padding(void **state)
{
    MPI_Datatype type, parts[2] = {MPI_INT, MPI_DOUBLE};
    int lengths[2] = {1, 2};
    MPI_Aint disps[2] = {0, 8};

    (void)state;
    MPI_Type_vector(3, 2, 4, MPI_DOUBLE_INT, &type);
    struct dtype *flat = flattened(type);
    assert_int_equal(flat->basic, ACC_PAIR_F64_I32);
    assert_int_equal(flat->elems, 6);
    assert_int_equal(flat->size, 72);
    assert_int_equal(flat->neruns, 1);
    assert_int_equal(flat->eruns[0].len, 32);
    assert_int_equal(flat->eruns[0].stride, 64);
    dtype_unref(flat);
    MPI_Type_free(&type);

    MPI_Type_create_struct(2, lengths, disps, parts, &type);
    flat = flattened(type);
    assert_int_equal(flat->basic, ACC_NONE); /* mixed */
    assert_int_equal(flat->elems, 0);
    dtype_unref(flat);
    MPI_Type_free(&type);

    lengths[0] = 0; /* an empty part does not count */
    MPI_Type_create_struct(2, lengths, disps, parts, &type);
    flat = flattened(type);
    assert_int_equal(flat->basic, ACC_F64);
    assert_int_equal(flat->elems, 2);
    dtype_unref(flat);
    MPI_Type_free(&type);

    MPI_Type_contiguous(0, MPI_INT, &type);
    flat = flattened(type);
    assert_int_equal(flat->size, 0);
    assert_int_equal(flat->nruns, 0);
    assert_int_equal(flat->basic, ACC_I32);
    dtype_unref(flat);
    MPI_Type_free(&type);
}

/* ---- large counts, where the host has them ---- */

extern int PMPI_Type_vector_c(MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Datatype old,
                              MPI_Datatype *type) __attribute__((weak));
extern int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count length, MPI_Count stride,
                                      MPI_Datatype old, MPI_Datatype *type) __attribute__((weak));
extern int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count lengths[],
                                     const MPI_Count disps[], const MPI_Datatype types[],
                                     MPI_Datatype *type) __attribute__((weak));
extern int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count lengths[],
                                       const MPI_Count disps[], MPI_Datatype old,
                                       MPI_Datatype *type) __attribute__((weak));
extern int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count length,
                                             const MPI_Count disps[], MPI_Datatype old,
                                             MPI_Datatype *type) __attribute__((weak));
extern int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count lengths[], const MPI_Count disps[],
                               MPI_Datatype old, MPI_Datatype *type) __attribute__((weak));
extern int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count length,
                                            const MPI_Count disps[], MPI_Datatype old,
                                            MPI_Datatype *type) __attribute__((weak));
extern int PMPI_Type_create_resized_c(MPI_Datatype old, MPI_Count lb, MPI_Count extent,
                                      MPI_Datatype *type) __attribute__((weak));
extern int PMPI_Type_create_subarray_c(int ndims, const MPI_Count sizes[],
                                       const MPI_Count subsizes[], const MPI_Count starts[],
                                       int order, MPI_Datatype old, MPI_Datatype *type)
    __attribute__((weak));
extern int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count gsizes[],
                                     const int distribs[], const int dargs[], const int psizes[],
                                     int order, MPI_Datatype old, MPI_Datatype *type)
    __attribute__((weak));

static void check_large(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    struct dtype *flat = flattened(type);
    check_measures(type, flat);
    assert_true(check_pack(type, flat, 2, NULL));
    dtype_unref(flat);
    MPI_Type_free(&type);
}

static void test_large_constructors(void **state)
{
    MPI_Count lengths[2] = {2, 3}, disps[2] = {8, 64}, sizes[2] = {6, 7}, subs[2] = {3, 2},
              starts[2] = {1, 4};
    int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, psizes[2] = {2, 2};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    MPI_Datatype type, parts[2] = {MPI_INT, MPI_DOUBLE};

    (void)state;
    if (!PMPI_Type_vector_c) {
        print_message("this host has no large-count datatypes: nothing to flatten\n");
        return;
    }
    PMPI_Type_vector_c(5, 2, 3, MPI_INT, &type);
    check_large(type);
    PMPI_Type_create_hvector_c(5, 2, 40, MPI_INT, &type);
    check_large(type);
    PMPI_Type_create_struct_c(2, lengths, disps, parts, &type);
    check_large(type);
    PMPI_Type_create_hindexed_c(2, lengths, disps, MPI_SHORT, &type);
    check_large(type);
    PMPI_Type_create_hindexed_block_c(2, 3, disps, MPI_SHORT, &type);
    check_large(type);
    PMPI_Type_indexed_c(2, lengths, disps, MPI_SHORT, &type);
    check_large(type);
    PMPI_Type_create_indexed_block_c(2, 3, disps, MPI_SHORT, &type);
    check_large(type);
    PMPI_Type_create_resized_c(MPI_INT, -4, 24, &type);
    check_large(type);
    PMPI_Type_create_subarray_c(2, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &type);
    check_large(type);
    PMPI_Type_create_darray_c(4, 1, 2, sizes, distribs, dargs, psizes, MPI_ORDER_FORTRAN, MPI_INT,
                              &type);
    check_large(type);

    PMPI_Type_vector_c((MPI_Count)3 << 31, 1, 2, MPI_INT, &type); /* more than an int holds */
    struct dtype *flat = flattened(type);
    assert_int_equal(flat->nruns, 1);
    assert_int_equal(flat->elems, (size_t)3 << 31);
    dtype_unref(flat);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wild_types),
        cmocka_unit_test(test_tame_types_as_the_host_packs),
        cmocka_unit_test(test_compact_lists_are_the_same),
        cmocka_unit_test(test_many_blocks_are_compact),
        cmocka_unit_test(test_lists_of_lists),
        cmocka_unit_test(test_structures_that_touch_are_short),
        cmocka_unit_test(test_regular_types_are_short),
        cmocka_unit_test(test_elements_and_padding),
        cmocka_unit_test(test_large_constructors),
    };

    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests_name("dtype_flatten", tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
