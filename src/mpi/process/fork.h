/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.h - what has to be done around a fork of the process.
 */
#ifndef MRMA_MPI_PROCESS_FORK_H
#define MRMA_MPI_PROCESS_FORK_H

#include "mpi/host/export.h"

struct engine;

/* From now on forks are told to this engine; NULL: to none. Not from a fork handler. */
MRMA_HIDDEN void fork_watch(struct engine *engine);

#endif
