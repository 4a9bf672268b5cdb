/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_flatten.h - from an MPI datatype to a struct dtype.
 *
 * Stateless: the host is asked how the type was made, all the way down, and what
 * comes out no longer depends on it. dtype_cache.h is the usual way here; only
 * the cache and tests call this directly.
 */
#ifndef MRMA_DTYPE_DTYPE_FLATTEN_H
#define MRMA_DTYPE_DTYPE_FLATTEN_H

#include <mpi.h>

#include "dtype/dtype.h"

/* dtype_flatten flattens a valid datatype handle (committed or not) into a new struct dtype with
 * one reference. Returns MRMA_SUCCESS and *out; MRMA_ERR_TYPE (the host refuses to say how the type
 * was made), MRMA_ERR_NO_MEM, or MRMA_ERR_INTERN if what came out is not as large as the host says.
 * Calls MPI. */
int dtype_flatten(MPI_Datatype type, struct dtype **out);

#endif
