/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_region.h - regions that the program has named, in a trace.
 */
#ifndef MRMA_MPI_TRACED_TRACED_REGION_H
#define MRMA_MPI_TRACED_TRACED_REGION_H

#include <stdbool.h>

struct trace;

/* traced_region_begin records that a region of this name, which is not empty, begins in the calling
 * thread, as the depth-th that is open there, from 1 on. False: it could not be recorded, or the
 * recording is stopped, and its end must not be recorded. Any thread. */
bool traced_region_begin(struct trace *tr, const char *name, unsigned depth);

/* traced_region_end records that the depth-th region of the calling thread ends. Any thread. */
void traced_region_end(struct trace *tr, unsigned depth);

#endif
