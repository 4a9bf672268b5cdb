/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dtype_contents.c - rma/dtype_contents: the combiners that MPI-3.0 removed, whose addresses
 * are integers, read as those that replaced them.
 *
 * The hosts of today give none of these, so the functions that tell how a type was made are the
 * ones below. (They are the large-count forms, which are preferred where they are there.)
 */
#include "base_helper.h"

#include <mpi.h>

#include "base/err.h"
#include "dtype/dtype_contents.h"

static struct {
    int combiner;
    MPI_Count nints, ntypes;
    int ints[8];
} made;

int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count *nints, MPI_Count *naddrs,
                             MPI_Count *ncounts, MPI_Count *ntypes, int *combiner);
int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_ints, MPI_Count max_addrs,
                             MPI_Count max_counts, MPI_Count max_types, int ints[],
                             MPI_Aint addrs[], MPI_Count counts[], MPI_Datatype types[]);

int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count *nints, MPI_Count *naddrs,
                             MPI_Count *ncounts, MPI_Count *ntypes, int *combiner)
{
    const bool named = type == MPI_INT;
    *nints = named ? 0 : made.nints;
    *naddrs = *ncounts = 0;
    *ntypes = named ? 0 : made.ntypes;
    *combiner = named ? MPI_COMBINER_NAMED : made.combiner;
    return MPI_SUCCESS;
}

int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_ints, MPI_Count max_addrs,
                             MPI_Count max_counts, MPI_Count max_types, int ints[],
                             MPI_Aint addrs[], MPI_Count counts[], MPI_Datatype types[])
{
    (void)type, (void)addrs, (void)counts;
    assert_true(max_ints == made.nints && max_addrs == 0 && max_counts == 0 &&
                max_types == made.ntypes);
    memcpy(ints, made.ints, (size_t)made.nints * sizeof *ints);
    for (MPI_Count i = 0; i < made.ntypes; i++)
        types[i] = MPI_INT;
    return MPI_SUCCESS;
}

/* nargs of the integers remain, the others are addresses. */
static void reads_as(int combiner, size_t nargs)
{
    struct dtype_contents c;

    assert_int_equal(dtype_contents_read(MPI_DATATYPE_NULL, &c), MRMA_SUCCESS);
    assert_int_equal(c.combiner, combiner);
    assert_int_equal(c.args.n, nargs);
    assert_int_equal(c.addrs.n, (size_t)made.nints - nargs);
    assert_int_equal(c.ntypes, (size_t)made.ntypes);
    for (size_t i = 0; i < (size_t)made.nints; i++)
        assert_int_equal(i < nargs ? dtype_arg(&c, i) : dtype_addr(&c, i - nargs), made.ints[i]);
    dtype_contents_free(&c);
}

static void as_made(int combiner, MPI_Count nints, MPI_Count ntypes)
{
    made.combiner = combiner;
    made.nints = nints;
    made.ntypes = ntypes;
    memcpy(made.ints, (const int[]){2, 3, 4, -16, 24}, 5 * sizeof(int));
}

static void test_removed(void **state)
{
    (void)state;
    if (HOST_COMBINER_HVECTOR_INTEGER == -1)
        skip();
    as_made(HOST_COMBINER_HVECTOR_INTEGER, 3, 1);
    reads_as(MPI_COMBINER_HVECTOR, 2);
    as_made(HOST_COMBINER_HINDEXED_INTEGER, 5, 1);
    reads_as(MPI_COMBINER_HINDEXED, 3);
    as_made(HOST_COMBINER_STRUCT_INTEGER, 5, 2);
    reads_as(MPI_COMBINER_STRUCT, 3);
}

/* Not by its place beside them. */
static void test_others(void **state)
{
    static const int others[] = {MPI_COMBINER_VECTOR, MPI_COMBINER_INDEXED,
                                 MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_CONTIGUOUS};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        as_made(others[i], 3, 1);
        reads_as(others[i], 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removed),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests_name("dtype_contents", tests, NULL, NULL);
}
