/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_calls.h - the calls of a random program (program_run.c) in the trace of the process that
 * makes them, as src/mpi has the calls of MPI.
 *
 * The linker puts the functions here in front of those of rma.h (--wrap=rma_put and so on). A
 * process without a trace (rma_env.trace) records nothing.
 */
#ifndef MRMA_TEST_SIM_TRACED_CALLS_H
#define MRMA_TEST_SIM_TRACED_CALLS_H

#include "program.h"

/* What the calls of all processes were so far. */
struct traced_counts {
    uint64_t calls, ops, locks;
};
extern struct traced_counts traced_counts;

/* traced_waits is prog_world.waits, for processes that are traced. */
void traced_waits(struct prog_actor *a, const struct rma_req *req, bool done);

#endif
