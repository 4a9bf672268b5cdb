/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_clock.h - the clocks of several machines in a trace.
 *
 * All functions are called by all processes of MPI_COMM_WORLD. On each machine other than rank 0's,
 * the lowest rank records how much its clock differs now. Where all processes share a clock only
 * the first call costs something.
 */
#ifndef MRMA_MPI_TRACED_TRACED_CLOCK_H
#define MRMA_MPI_TRACED_TRACED_CLOCK_H

#include <mpi.h>
#include <stdint.h>

#include "trace/record.h"

/* traced_clock_begin finds out which processes share a clock, and measures for the first time.
 * Collective over comm, a copy of MPI_COMM_WORLD of which nobody else knows, and which stays until
 * traced_clock_end. machine: the same at processes that share a clock. Without memory for the
 * comparison at any process nothing is measured, then and later. */
void traced_clock_begin(struct trace *tr, uint64_t machine, MPI_Comm comm);

/* traced_clock_between is called after a collective call on a window with this group: it measures
 * again if the group is that of MPI_COMM_WORLD and the last measurement is long ago. Then rank 0 is
 * busy for some round trips with each machine; otherwise it sends one message to each. */
void traced_clock_between(struct trace *tr, MPI_Group group);

/* traced_clock_end measures for the last time. Collective, like traced_clock_begin. */
void traced_clock_end(struct trace *tr);

#endif
