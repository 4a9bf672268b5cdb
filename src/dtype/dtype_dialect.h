/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_dialect.h - the constants in the arguments of array types, as mpi.h has them.
 *
 * A host that has the standard ABI beside an interface of its own may give MPI_ORDER_C and the
 * others with the values of its own interface when it is asked for the contents of a datatype (Open
 * MPI 6.0 does). The library learns these values from types that it makes for this purpose.
 */
#ifndef MRMA_DTYPE_DTYPE_DIALECT_H
#define MRMA_DTYPE_DTYPE_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

/* What the host gives for each constant. */
struct dtype_dialect {
    int64_t order_c, order_fortran, block, cyclic, none, dflt_darg;
};

/* dtype_dialect_is_order returns whether order is a value of mpi.h for the order of an array. If
 * the host gives other values, it gives none of these for any array type. */
bool dtype_dialect_is_order(int64_t order);

/* dtype_dialect_learn finds out what the host gives: it makes array types, asks the host for their
 * contents and frees them. Returns MRMA_SUCCESS and *dialect, or MRMA_ERR_TYPE if the host
 * refuses. */
int dtype_dialect_learn(struct dtype_dialect *dialect);

/* dtype_dialect_order returns the value of mpi.h for the order of an array that the host gives; a
 * value that the host does not give is returned as it is. */
int64_t dtype_dialect_order(const struct dtype_dialect *dialect, int64_t order);

/* dtype_dialect_distribution does the same for MPI_DISTRIBUTE_BLOCK and its like. */
int64_t dtype_dialect_distribution(const struct dtype_dialect *dialect, int64_t distribution);

/* dtype_dialect_darg does the same for MPI_DISTRIBUTE_DFLT_DARG; other arguments are numbers. */
int64_t dtype_dialect_darg(const struct dtype_dialect *dialect, int64_t darg);

#endif
