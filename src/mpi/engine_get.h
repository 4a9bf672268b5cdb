/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_get.h - the process-wide state: the one engine of this process.
 *
 * Everything that is one per process lives in src/mpi: this value, the table of
 * the host's functions (host.h), the table of windows (win_table.h), the list of
 * requests (request.h), the count of freed groups (group.h) and whom forks are told to (fork.h).
 */
#ifndef MRMA_MPI_ENGINE_GET_H
#define MRMA_MPI_ENGINE_GET_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "mpi/export.h"

struct engine;
struct rma;
struct dtype_cache;
struct heap;

/* Set once by the first engine_get that succeeds, before any window exists, and
 * cleared by engine_end: whoever has a window may read it without asking. */
struct mpi_state {
    struct rma *rma;
    struct dtype_cache *types;
    struct engine *engine;
    struct heap *heap;
    MPI_Comm self; /* private, this process only: for carriers */
    bool threads;  /* MPI_THREAD_MULTIPLE */
    bool polls;    /* MPIRMA_PROGRESS=poll: every call on a window makes progress */
};

extern MRMA_HIDDEN struct mpi_state mpi_state;

/* Does MPIRMA_DISABLE=1 hand every call to the host? */
bool engine_disabled(void);

/* Create the engine if there is none. The error text, one line, goes to msg:
 * MRMA_ERR_ARG for an environment variable that is not understood (environment.h tells more), else
 * what engine_create or the datatype cache say. Any thread may call. */
int engine_get(char *msg, size_t len);

/* Where messages go; also good before there is an engine. */
const struct log *engine_messages(void);

/* Destroy the engine; nothing happens if there is none. No other thread uses it. */
void engine_end(void);

#endif
