/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.h - what has to be done around a fork of the process.
 */
#ifndef MRMA_MPI_PROCESS_FORK_H
#define MRMA_MPI_PROCESS_FORK_H

#include "mpi/host/export.h"

struct engine;

/* fork_watch sets the engine that hears of forks from now on; NULL: none does. It waits for a fork
 * that is under way. Must not be called from a fork handler. */
MRMA_HIDDEN void fork_watch(struct engine *engine);

#endif
