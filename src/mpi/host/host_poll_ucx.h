/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll_ucx.h - the engine's poll inside the progress of an MPICH that uses UCX
 * and cannot call a function of this library itself: before 4.3, and over the standard ABI.
 *
 * MPICH calls ucp_worker_progress of libucp in each round of its progress, and the dynamic linker
 * gives it the first such function of the process. That is this library's function if the library
 * comes before libucp, as it does when it is preloaded, or linked before MPICH; its MPI functions
 * need this, too. The function polls, and calls UCX's. With a host that does not call it nothing is
 * polled.
 */
#ifndef MRMA_MPI_HOST_HOST_POLL_UCX_H
#define MRMA_MPI_HOST_HOST_POLL_UCX_H

#include <stdbool.h>

struct rma;

/* host_poll_ucx_begin lets rma be polled there, if it is not yet. threads says whether several
 * threads may call MPI; otherwise the calling thread alone polls, and calls end. One thread at a
 * time is in begin or end. */
void host_poll_ucx_begin(struct rma *rma, bool threads);

/* host_poll_ucx_end ends that: when it returns no thread is in the engine from there, and none
 * enters it until the next begin. It waits for a thread that is in it, which waits for nobody. */
void host_poll_ucx_end(void);

#endif
