/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dtype_flatten.c - flattened datatypes against their definition and the host.
 *
 * An MPI program of one process. Random nested datatypes of every constructor
 * must give the bytes that the standard defines, in order; those that a host can
 * handle are packed by it as well. Sizes and extents are compared with the
 * host's, and regular types must stay short. Types of many runs: test_dtype_lists.c.
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
#include "test/support/dtype_checks.h"
#include "acc/acc.h"

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
    assert_uint_in_range(checked, 901, 1000);
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
