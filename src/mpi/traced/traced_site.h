/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_site.h - records where in the program a call stands: an address, and the objects in the
 * process's memory, from which mpi-rma-trace finds the file and the line.
 */
#ifndef MRMA_MPI_TRACED_TRACED_SITE_H
#define MRMA_MPI_TRACED_TRACED_SITE_H

#include <stdint.h>

struct trace;

/* traced_site_objects records the objects (program and libraries) that are in memory and were not
 * when it was called last. Any thread. */
void traced_site_objects(struct trace *tr);

/* traced_site returns the address in the program to which the innermost call of the MPI library
 * returns; 0: it is not known. caller is the address to which this library's entry point returns:
 * it is the result, unless the host's Fortran bindings, or libmpi-rma-calls, stand between. Any
 * thread, with the entry point on its stack. */
uint64_t traced_site(struct trace *tr, const void *caller);

#endif
