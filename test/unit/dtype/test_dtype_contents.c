/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dtype_contents.c - rma/dtype_contents: the combiners that MPI-3.0 removed, whose addresses
 * are integers, read as those that replaced them; and array types of a host that gives the
 * constants in their arguments with values of its own.
 *
 * The hosts of most builds do neither, so the functions that tell how a type was made are the ones
 * below. (They are the large-count forms, which are preferred where they are there. What a host
 * gives is learnt by the others.)
 */
#include "test/support/base_helper.h"

#include <mpi.h>

#include "base/err.h"
#include "dtype/dtype_contents.h"

static struct {
    int combiner;
    MPI_Count nints, ntypes;
    int ints[16];
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

/* The host's own values: those of mpi.h, and so much. */
enum { OTHERS = 5000 };

static bool distributed; /* the type that was made last for learning */

int PMPI_Type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[],
                            const int dargs[], const int psizes[], int order, MPI_Datatype old,
                            MPI_Datatype *type)
{
    (void)size, (void)rank, (void)gsizes, (void)psizes, (void)old;
    assert_int_equal(ndims, 3);
    assert_true(distribs[0] == MPI_DISTRIBUTE_BLOCK && distribs[1] == MPI_DISTRIBUTE_CYCLIC &&
                distribs[2] == MPI_DISTRIBUTE_NONE && dargs[0] == MPI_DISTRIBUTE_DFLT_DARG &&
                order == MPI_ORDER_C);
    distributed = true;
    *type = MPI_BYTE;
    return MPI_SUCCESS;
}

int PMPI_Type_create_subarray(int ndims, const int sizes[], const int subsizes[],
                              const int starts[], int order, MPI_Datatype old, MPI_Datatype *type)
{
    (void)sizes, (void)subsizes, (void)starts, (void)old;
    assert_true(ndims == 1 && order == MPI_ORDER_FORTRAN);
    distributed = false;
    *type = MPI_BYTE;
    return MPI_SUCCESS;
}

int PMPI_Type_get_contents(MPI_Datatype type, int max_ints, int max_addrs, int max_types,
                           int ints[], MPI_Aint addrs[], MPI_Datatype types[])
{
    (void)type, (void)max_addrs, (void)max_types, (void)addrs, (void)types;
    if (distributed) {
        const int told[] = {1,
                            0,
                            3,
                            1,
                            1,
                            1,
                            MPI_DISTRIBUTE_BLOCK + OTHERS,
                            MPI_DISTRIBUTE_CYCLIC + OTHERS,
                            MPI_DISTRIBUTE_NONE + OTHERS,
                            MPI_DISTRIBUTE_DFLT_DARG + OTHERS,
                            MPI_DISTRIBUTE_DFLT_DARG + OTHERS,
                            MPI_DISTRIBUTE_DFLT_DARG + OTHERS,
                            1,
                            1,
                            1,
                            MPI_ORDER_C + OTHERS};

        assert_int_equal(max_ints, 16);
        memcpy(ints, told, sizeof told);
    } else {
        const int told[] = {1, 1, 1, 0, MPI_ORDER_FORTRAN + OTHERS};

        assert_int_equal(max_ints, 5);
        memcpy(ints, told, sizeof told);
    }
    return MPI_SUCCESS;
}

int PMPI_Type_free(MPI_Datatype *type)
{
    *type = MPI_DATATYPE_NULL;
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

/* The type that the host tells of with these integers is read as one with those of mpi.h. */
static void read_array(int combiner, MPI_Count n, const int *told, const int *expected)
{
    struct dtype_contents c;

    made.combiner = combiner;
    made.nints = n;
    made.ntypes = 1;
    memcpy(made.ints, told, (size_t)n * sizeof *told);
    assert_int_equal(dtype_contents_read(MPI_DATATYPE_NULL, &c), MRMA_SUCCESS);
    assert_int_equal(c.args.n, (size_t)n);
    for (size_t i = 0; i < (size_t)n; i++)
        assert_int_equal(dtype_arg(&c, i), expected[i]);
    dtype_contents_free(&c);
}

static void test_array_constants(void **state)
{
    static const int sub_c[] = {2, 8, 9, 4, 5, 1, 2, MPI_ORDER_C + OTHERS};
    static const int sub_c_read[] = {2, 8, 9, 4, 5, 1, 2, MPI_ORDER_C};
    static const int sub_f[] = {1, 8, 4, 1, MPI_ORDER_FORTRAN + OTHERS};
    static const int sub_f_read[] = {1, 8, 4, 1, MPI_ORDER_FORTRAN};
    static const int darray[] = {4,
                                 1,
                                 2,
                                 8,
                                 9,
                                 MPI_DISTRIBUTE_CYCLIC + OTHERS,
                                 MPI_DISTRIBUTE_BLOCK + OTHERS,
                                 3,
                                 MPI_DISTRIBUTE_DFLT_DARG + OTHERS,
                                 2,
                                 2,
                                 MPI_ORDER_FORTRAN + OTHERS};
    static const int darray_read[] = {4,
                                      1,
                                      2,
                                      8,
                                      9,
                                      MPI_DISTRIBUTE_CYCLIC,
                                      MPI_DISTRIBUTE_BLOCK,
                                      3,
                                      MPI_DISTRIBUTE_DFLT_DARG,
                                      2,
                                      2,
                                      MPI_ORDER_FORTRAN};

    (void)state;
    read_array(MPI_COMBINER_SUBARRAY, 8, sub_c, sub_c_read);
    read_array(MPI_COMBINER_SUBARRAY, 5, sub_f, sub_f_read);
    read_array(MPI_COMBINER_DARRAY, 12, darray, darray_read);
    read_array(MPI_COMBINER_SUBARRAY, 8, sub_c_read, sub_c_read); /* a host with those of mpi.h */
    read_array(MPI_COMBINER_DARRAY, 12, darray_read, darray_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removed),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_array_constants),
    };
    return cmocka_run_group_tests_name("dtype_contents", tests, NULL, NULL);
}
