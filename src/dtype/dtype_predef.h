/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_predef.h - what the host's predefined datatypes and operations are.
 *
 * Constant knowledge, no state. "Known" types are those whose elements an
 * accumulate can work on; a named type that is not known (MPI_PACKED, a host's
 * own extension) is opaque bytes.
 */
#ifndef MRMA_DTYPE_DTYPE_PREDEF_H
#define MRMA_DTYPE_DTYPE_PREDEF_H

#include <mpi.h>

#include <stdbool.h>

#include "acc/acc.h"

/* acc_op_from_mpi returns the operation behind a predefined MPI_Op; ACC_OP_NONE for any other
 * handle. */
enum acc_op acc_op_from_mpi(MPI_Op op);

/* predef_is_handle returns whether type is one of the predefined handles in mpi.h. Calls no MPI. */
bool predef_is_handle(MPI_Datatype type);

/* predef_acc_type returns the element of a type whose combiner is MPI_COMBINER_NAMED; ACC_NONE if
 * it is not known or the host lays it out in a way that the kernels don't. */
enum acc_type predef_acc_type(MPI_Datatype type);

/* predef_f90_real returns the element of a type from MPI_Type_create_f90_real with these arguments
 * (MPI_UNDEFINED where left out); ACC_NONE if there is none. */
enum acc_type predef_f90_real(MPI_Datatype type, int precision, int range);

/* predef_f90_complex returns the element of a type from MPI_Type_create_f90_complex with these
 * arguments (MPI_UNDEFINED where left out); ACC_NONE if there is none. */
enum acc_type predef_f90_complex(MPI_Datatype type, int precision, int range);

/* predef_f90_integer returns the element of a type from MPI_Type_create_f90_integer; ACC_NONE if
 * there is none. */
enum acc_type predef_f90_integer(MPI_Datatype type);

#endif
