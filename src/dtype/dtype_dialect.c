/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_dialect.c - see dtype_dialect.h. No state, no locks. Neighbour: dtype_contents.c, which
 * translates what it has read.
 */
#include "dtype/dtype_dialect.h"

#include <mpi.h>

#include <stddef.h>

#include "base/err.h"

enum { DIMS = 3, DARRAY_INTS = 4 * DIMS + 4, SUBARRAY_INTS = 3 + 2, DISTRIBS = 3 + DIMS };

bool dtype_dialect_is_order(int64_t order)
{
    return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN;
}

/* read_ints reads the integers of a type, and frees the type. */
static int read_ints(MPI_Datatype type, int n, int *ints)
{
    MPI_Aint addrs[1];
    MPI_Datatype types[1];
    const int rc = PMPI_Type_get_contents(type, n, 0, 1, ints, addrs, types);

    PMPI_Type_free(&type);
    return rc == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_TYPE;
}

static int learn_darray(struct dtype_dialect *dialect)
{
    static const int ones[DIMS] = {1, 1, 1};
    static const int distribs[DIMS] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                       MPI_DISTRIBUTE_NONE};
    static const int dargs[DIMS] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                                    MPI_DISTRIBUTE_DFLT_DARG};
    int ints[DARRAY_INTS], err;
    MPI_Datatype type;

    if (PMPI_Type_create_darray(1, 0, DIMS, ones, distribs, dargs, ones, MPI_ORDER_C, MPI_BYTE,
                                &type) != MPI_SUCCESS)
        return MRMA_ERR_TYPE;
    err = read_ints(type, DARRAY_INTS, ints);
    if (err != MRMA_SUCCESS)
        return err;
    dialect->block = ints[DISTRIBS];
    dialect->cyclic = ints[DISTRIBS + 1];
    dialect->none = ints[DISTRIBS + 2];
    dialect->dflt_darg = ints[DISTRIBS + DIMS];
    dialect->order_c = ints[DARRAY_INTS - 1];
    return MRMA_SUCCESS;
}

int dtype_dialect_learn(struct dtype_dialect *dialect)
{
    static const int one[1] = {1}, zero[1] = {0};
    int ints[SUBARRAY_INTS], err = learn_darray(dialect);
    MPI_Datatype type;

    if (err != MRMA_SUCCESS)
        return err;
    if (PMPI_Type_create_subarray(1, one, one, zero, MPI_ORDER_FORTRAN, MPI_BYTE, &type) !=
        MPI_SUCCESS)
        return MRMA_ERR_TYPE;
    err = read_ints(type, SUBARRAY_INTS, ints);
    if (err == MRMA_SUCCESS)
        dialect->order_fortran = ints[SUBARRAY_INTS - 1];
    return err;
}

int64_t dtype_dialect_order(const struct dtype_dialect *dialect, int64_t order)
{
    if (order == dialect->order_c)
        return MPI_ORDER_C;
    return order == dialect->order_fortran ? MPI_ORDER_FORTRAN : order;
}

int64_t dtype_dialect_distribution(const struct dtype_dialect *dialect, int64_t distribution)
{
    if (distribution == dialect->block)
        return MPI_DISTRIBUTE_BLOCK;
    if (distribution == dialect->cyclic)
        return MPI_DISTRIBUTE_CYCLIC;
    return distribution == dialect->none ? MPI_DISTRIBUTE_NONE : distribution;
}

int64_t dtype_dialect_darg(const struct dtype_dialect *dialect, int64_t darg)
{
    return darg == dialect->dflt_darg ? MPI_DISTRIBUTE_DFLT_DARG : darg;
}
