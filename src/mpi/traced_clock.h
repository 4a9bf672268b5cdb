/*
 * traced_clock.h - the clocks of several machines in a trace.
 */
#ifndef MRMA_MPI_TRACED_CLOCK_H
#define MRMA_MPI_TRACED_CLOCK_H

#include <mpi.h>
#include <stdint.h>

#include "trace/record.h"

/* Collective over comm, of which nobody else knows. machine: the same at processes that share a
 * clock. The lowest rank of each machine other than rank 0's records how much its clock differs
 * now. Without memory for the comparison at any process, nothing is measured. */
void traced_clock_measure(struct trace *tr, uint64_t machine, MPI_Comm comm);

#endif
