/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.h - the process-wide state: the one engine of this process.
 *
 * Everything that is one per process lives in src/mpi: this value, the table of the host's
 * functions (host.h), the table of windows (win_table.h), the list of requests (request.h), the
 * count of freed groups (group.h) and the engine that hears of forks (fork.h).
 */
#ifndef MRMA_MPI_PROCESS_STATE_H
#define MRMA_MPI_PROCESS_STATE_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "mpi/host/export.h"
#include "mpi/host/own_comm.h"

struct engine;
struct rma;
struct dtype_cache;
struct heap;
struct conf;
struct trace;

/* Set once by the first engine_get (calls/engine_get.h) that succeeds, before any window exists,
 * and cleared by engine_end: code that has a window may read it without asking. */
struct mpi_state {
    struct rma *rma;
    struct dtype_cache *types;
    struct engine *engine;
    struct heap *heap;
    struct self self;
    bool threads;    /* MPI_THREAD_MULTIPLE */
    bool any_thread; /* MPI_THREAD_SERIALIZED or above: not the main thread alone calls MPI */
    bool polls;      /* MPIRMA_PROGRESS=poll: every call on a window makes progress */
};

extern MRMA_HIDDEN struct mpi_state mpi_state;

/* The trace of this process, between MPI_Init and MPI_Finalize; NULL: no trace is taken.
 * src/mpi/traced writes it. */
extern MRMA_HIDDEN struct trace *mpi_trace;

/* engine_disabled returns whether MPIRMA_DISABLE=1 hands every call to the host. Any thread. */
bool engine_disabled(void);

/* engine_messages returns the log for messages, also before there is an engine. Never NULL; valid
 * until engine_end. Any thread. */
const struct log *engine_messages(void);

/* A function of this kind makes what mpi_state names, everything or nothing, for these variables
 * and with this place for messages. It returns 0, or an error of err.h with one line in msg. */
typedef int state_maker(const struct conf *conf, const struct log *log, struct mpi_state *made,
                        char *msg, size_t len);

/* state_make lets make fill mpi_state, unless it is filled or MPIRMA_DISABLE is set. It returns 0,
 * MRMA_ERR_ARG for a variable that is not understood (tell_environment.h tells more), or what make
 * returned; then nothing has changed, and the next call tries again. The error text, one line, goes
 * to msg. Any thread. */
int state_make(state_maker *make, char *msg, size_t len);

/* state_unmake calls end, which frees what mpi_state names, and empties mpi_state; it does nothing
 * where mpi_state is empty. No other thread uses the engine. */
void state_unmake(void (*end)(void));

/* state_types returns the datatypes of mpi_state; NULL: there is no engine. Any thread. */
struct dtype_cache *state_types(void);

/* world_rank returns the rank in MPI_COMM_WORLD, 0 where the program has not initialised it. */
int world_rank(void);

#endif
