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

/* The operation behind a predefined MPI_Op; ACC_OP_NONE for any other handle. */
enum acc_op acc_op_from_mpi(MPI_Op op);

/* Is type one of the predefined handles in mpi.h? (No MPI call is made.) */
bool predef_is_handle(MPI_Datatype type);

/* The element of a type whose combiner is MPI_COMBINER_NAMED; ACC_NONE if it is
 * not known or the host lays it out in a way that the kernels don't. */
enum acc_type predef_acc_type(MPI_Datatype type);

/* The element of a type from MPI_Type_create_f90_real, _complex or _integer,
 * given the arguments it was made with (MPI_UNDEFINED where left out). */
enum acc_type predef_f90_real(MPI_Datatype type, int precision, int range);
enum acc_type predef_f90_complex(MPI_Datatype type, int precision, int range);
enum acc_type predef_f90_integer(MPI_Datatype type);

#endif
