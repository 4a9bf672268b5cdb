/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll.h - the engine's poll inside the host's own progress.
 *
 * A process that waits in a call of the host (MPI_Recv, MPI_Barrier, MPI_Wait, ...) makes no
 * progress here, and its agent thread must be woken for each packet. Open MPI lets others register
 * a function that its progress loop calls; there the engine polls in every blocking call of the
 * host. MPICH 4.0 and 4.2 have no such function: there the agent serves.
 */
#ifndef MRMA_MPI_HOST_HOST_POLL_H
#define MRMA_MPI_HOST_HOST_POLL_H

struct rma;

/* host_poll_begin registers the poll of rma with the host, if the host allows that and it has not
 * been done. Called after the creation of a window that uses packets. Any thread. */
void host_poll_begin(struct rma *rma);

/* host_poll_end takes the registration back, because the engine ends. No other thread uses MPI. */
void host_poll_end(void);

#endif
