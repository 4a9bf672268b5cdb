/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.h - what has to be done around a fork of the process.
 */
#ifndef MRMA_MPI_PROCESS_FORK_H
#define MRMA_MPI_PROCESS_FORK_H

#include "mpi/host/export.h"

struct engine;

/* fork_watch says to which engine forks are told from now on; NULL: to none. It waits for a fork
 * that is under way. Must not be called from a fork handler. */
MRMA_HIDDEN void fork_watch(struct engine *engine);

#endif
