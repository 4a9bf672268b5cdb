/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_contents.h - how a datatype was made, in one form for every host.
 *
 * MPI_Type_get_envelope and _get_contents (MPI 4.1, 5.1.13), or their
 * large-count forms where the host has them: those return some arguments as
 * large counts instead of integers or addresses. Here the arguments stand as in
 * the original (small-count) interface whichever constructor was called.
 */
#ifndef MRMA_DTYPE_DTYPE_CONTENTS_H
#define MRMA_DTYPE_DTYPE_CONTENTS_H

#include <mpi.h>

#include <stddef.h>
#include <stdint.h>

struct dtype_contents {
    int combiner;
    size_t nargs, naddrs, ntypes;
    int64_t *args;       /* the integers: counts, block lengths, sizes, ... */
    int64_t *addrs;      /* the addresses: byte displacements, strides, lb and extent */
    MPI_Datatype *types; /* derived ones are ours to free */
    void *memory;
};

/* Returns MRMA_SUCCESS, MRMA_ERR_NO_MEM, or MRMA_ERR_TYPE if the host refuses. */
int dtype_contents_read(MPI_Datatype type, struct dtype_contents *out);

/* Also frees the derived datatypes that the host handed out. */
void dtype_contents_free(struct dtype_contents *contents);

#endif
