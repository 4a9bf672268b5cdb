/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_sample.h - random nested datatypes with the list of their bytes.
 *
 * The list is made from the standard's definitions (MPI 4.1, 5.1) in the plainest
 * way, byte by byte, and shares no code with the library. For tests that are MPI
 * programs.
 */
#ifndef MRMA_TEST_DTYPE_SAMPLE_H
#define MRMA_TEST_DTYPE_SAMPLE_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

struct dtype_sample {
    MPI_Datatype type; /* not committed */
    ptrdiff_t *at;     /* displacement of every byte of data, in typemap order */
    size_t n;
    MPI_Aint extent;
};

/* A number below n, from a fixed sequence. */
size_t sample_below(size_t n);

/* A type nested to the given depth. A tame one has no empty, overlapping or
 * backward parts: hosts have errors of their own in such cases. */
struct dtype_sample sample_make(int depth, bool tame);

/* Frees the type (unless it is predefined) and the list. */
void sample_free(struct dtype_sample *sample);

#endif
