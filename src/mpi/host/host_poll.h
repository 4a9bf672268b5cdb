/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll.h - the engine's poll inside the host's own progress.
 *
 * A process that waits in a call of the host (MPI_Recv, MPI_Barrier, MPI_Wait, ...) makes no
 * progress here, and its agent thread must be woken for each packet. Open MPI, and MPICH from 4.3
 * on, let others register a function that their progress calls; there the engine polls in every
 * blocking call of the host. Elsewhere the agent serves.
 */
#ifndef MRMA_MPI_HOST_HOST_POLL_H
#define MRMA_MPI_HOST_HOST_POLL_H

#include <stdbool.h>

struct rma;

/* host_poll_begin registers the poll of rma with the host, if the host allows that and it has not
 * been done. threads: several threads may be in calls of the host at the same time. Called after the
 * creation of a window that uses packets. Any thread. */
void host_poll_begin(struct rma *rma, bool threads);

/* host_poll_end takes the registration back, because the engine ends. No other thread of the
 * application uses MPI; one of the host's own may be in its progress. */
void host_poll_end(void);

/* host_poll_pause takes the registration back and lets host_poll_begin do nothing until
 * host_poll_resume: MPI_Finalize begins, in which MPICH waits until all are out of its progress,
 * before the applications' delete call-backs that may still use windows. No other thread of the
 * application uses MPI. */
void host_poll_pause(void);

/* host_poll_resume lets host_poll_begin register again, since a program with open sessions may go on
 * after MPI_Finalize. */
void host_poll_resume(void);

#endif
