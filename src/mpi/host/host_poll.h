/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll.h - the engine's poll inside the host's own progress.
 *
 * A process that waits in a call of the host (MPI_Recv, MPI_Barrier, MPI_Wait, ...) makes no
 * progress here, and its agent thread must be woken for each packet. Open MPI lets others register
 * a function that its progress loop calls; there the engine polls in every blocking call of the
 * host, from the first window that uses packets to the end of the engine. MPICH from 4.3 on has
 * such a list, too (host_poll_mpich.h); under an older MPICH on UCX the engine polls from a
 * function of UCX (host_poll_ucx.h), there while there are windows. With other hosts the agent
 * serves.
 */
#ifndef MRMA_MPI_HOST_HOST_POLL_H
#define MRMA_MPI_HOST_HOST_POLL_H

#include <stdbool.h>

struct log;
struct rma;

/* host_poll_window_made notes that a window was created, and registers the poll of rma with the
 * host if the host allows that, if it is not registered yet, and if there is something to poll.
 * threads says whether more than one thread may call MPI (MPI_THREAD_SERIALIZED or above). If the
 * host refuses, log gets a warning, once until host_poll_end, and the agent serves. Any
 * thread. */
void host_poll_window_made(struct rma *rma, bool threads, const struct log *log);

/* host_poll_window_freed takes one host_poll_window_made back, after the end of the window. Any
 * thread. */
void host_poll_window_freed(void);

/* host_poll_end takes the registration back, because the engine ends: when it returns nobody polls
 * it from within the host. No other thread is in a call of this library. */
void host_poll_end(void);

/* host_poll_close is called before the host may end. MPICH waits in its end until everything that
 * is registered with it is gone, so the registration is taken back, and nothing is registered until
 * host_poll_open. One thread at a time ends the host. */
void host_poll_close(void);

/* host_poll_open is called when the host has ended: windows that are made later, in another
 * session, may be registered again. */
void host_poll_open(void);

#endif
