/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll_mpich.h - the engine's poll inside MPICH's progress, by MPIX_Async_start of MPICH 4.3
 * and later.
 *
 * Where the host does not have that function, host_poll_mpich_begin is not called, and
 * host_poll_mpich_end does nothing.
 */
#ifndef MRMA_MPI_HOST_HOST_POLL_MPICH_H
#define MRMA_MPI_HOST_HOST_POLL_MPICH_H

#include <stdbool.h>

struct rma;

/* host_poll_mpich_begin lets MPICH's progress poll rma, if it does not yet. threads says whether
 * several threads may call MPI; otherwise the calling thread alone polls, and calls end. Returns 0,
 * or MPICH's error code if it refuses: nothing is polled then, and the agent serves. One thread at
 * a time is in begin or end; MPICH is initialised. */
int host_poll_mpich_begin(struct rma *rma, bool threads);

/* host_poll_mpich_end ends that: when it returns no thread is in the engine from within MPICH's
 * progress, and none enters it until the next begin. It waits for a thread that is in it, which
 * waits for nobody. MPICH forgets the function when it next calls it, at the latest when it
 * ends. */
void host_poll_mpich_end(void);

#endif
