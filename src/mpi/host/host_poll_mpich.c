/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll_mpich.c - see host_poll_mpich.h.
 *
 * MPICH calls a function that was handed to MPIX_Async_start in each round of its progress until
 * the function says that it is done; no call takes the function back. MPICH's end waits until the
 * function is done, before it deletes the attributes of MPI_COMM_SELF, by which this library learns
 * of the end (init.c). So the function must be made to stop before MPICH's end is called: in
 * MPI_Finalize, in MPI_Session_finalize, and when the last window is freed, so that a correct
 * program ends also if its MPI_Finalize does not pass through this library.
 *
 * host_poll_gate.h says which thread may poll, and how the end waits for it; the word that says
 * whether to poll is state.
 *
 * No call of the function is needed between an end and the next begin: begin changes LEAVING back,
 * and the function goes on. If instead the function changes LEAVING to OUT, it says to MPICH that
 * it is done, and the next begin hands the function to MPICH anew: for a moment MPICH may have
 * both, of which one is done.
 *
 * MPIX_Async_start is found at run time, and declared here, since a build for MPICH 4.0 serves 5.0
 * as well.
 *
 * Neighbours: host_poll.c, whose lock is around begin and end; rma.h.
 */
#include "mpi/host/host_poll_mpich.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/atomic.h"
#include "mpi/host/host_poll_gate.h"
#include "rma/rma.h"

struct MPIR_Async_thing;
typedef int MPIX_Async_poll_function(struct MPIR_Async_thing *);
typedef int async_start(MPIX_Async_poll_function *, void *state, int stream);

enum { NOPROGRESS = 0, DONE = 1 }; /* MPIX_ASYNC_NOPROGRESS, MPIX_ASYNC_DONE */
enum { STREAM_NULL = 0x3c000000 }; /* MPIX_STREAM_NULL */
enum state {
    OUT,
    POLLS,
    LEAVING
}; /* MPICH does not have the function; the function polls; the function has to stop */

static _Atomic int state; /* enum state */
static struct host_poll_gate gate;
static struct rma *polled; /* written before state becomes POLLS, while it is not */

static int poll_engine(struct MPIR_Async_thing *thing)
{
    int now, said = NOPROGRESS;

    (void)thing;
    if (!host_poll_gate_enter(&gate)) /* another thread polls */
        return NOPROGRESS;
    now = atomic_load_explicit(&state, memory_order_seq_cst); /* D */
    if (now == POLLS)
        (void)rma_host_poll(polled);
    else if (now == LEAVING && atomic_compare_exchange_strong_explicit(
                                   &state, &now, OUT, memory_order_relaxed, memory_order_relaxed))
        said = DONE;
    host_poll_gate_leave(&gate);
    return said;
}

int host_poll_mpich_begin(struct rma *rma, bool threads)
{
    int leaving = LEAVING;
    async_start *start = NULL;

    if (atomic_load_explicit(&state, memory_order_relaxed) == POLLS)
        return 0;
    polled = rma;
    host_poll_gate_own(&gate, threads);
    /* pairs with D, which sees polled */
    if (atomic_compare_exchange_strong_explicit(&state, &leaving, POLLS, memory_order_seq_cst,
                                                memory_order_relaxed))
        return 0;
    *(void **)&start = dlsym(RTLD_DEFAULT, "PMPIX_Async_start");
    atomic_store_explicit(&state, POLLS, memory_order_seq_cst);
    const int err = start(poll_engine, NULL, STREAM_NULL);
    if (err)
        atomic_store_explicit(&state, OUT, memory_order_relaxed);
    return err;
}

void host_poll_mpich_end(void)
{
    int polls = POLLS;

    (void)atomic_compare_exchange_strong_explicit(&state, &polls, LEAVING, memory_order_seq_cst,
                                                  memory_order_relaxed); /* A */
    host_poll_gate_wait(&gate);
}
