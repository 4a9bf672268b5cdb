/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_flatten.h - turns an MPI datatype into a struct dtype.
 *
 * It has no state. The host is asked how the type was made, all the way down, and the result does
 * not depend on the type any more. Callers use dtype_cache.h; only the cache and tests call this
 * directly.
 */
#ifndef MRMA_DTYPE_DTYPE_FLATTEN_H
#define MRMA_DTYPE_DTYPE_FLATTEN_H

#include <mpi.h>

#include "dtype/dtype.h"

/* dtype_flatten flattens a valid datatype handle (committed or not) into a new struct dtype with
 * one reference. Returns MRMA_SUCCESS and *out; MRMA_ERR_TYPE (the host refuses to say how the type
 * was made), MRMA_ERR_NO_MEM, or MRMA_ERR_INTERN if the result is not as large as the host says.
 * Calls MPI. */
int dtype_flatten(MPI_Datatype type, struct dtype **out);

#endif
