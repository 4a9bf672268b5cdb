/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_progress.h - progress of the host, made from within the library's own waits.
 *
 * While a process waits in a call of this library, messages that it has begun by calls of the host
 * must make progress (MPI 4.1, 2.9). host_poll.h is the other direction.
 */
#ifndef MRMA_MPI_HOST_HOST_PROGRESS_H
#define MRMA_MPI_HOST_HOST_PROGRESS_H

/* host_progress_begin makes what host_progress needs. Returns MRMA_SUCCESS, or MRMA_ERR_OTHER if
 * the host refuses it, and nothing is to be undone then. The caller holds the lock of the
 * process-wide state. */
int host_progress_begin(void);

/* host_progress_end undoes host_progress_begin. No other thread is in a call. */
void host_progress_end(void);

/* host_progress makes one round of the host's progress, for all of its communicators. One thread at
 * a time calls it, which may call MPI and holds no lock of the library, between host_progress_begin
 * and host_progress_end. It waits for nobody, except for locks of the host. */
void host_progress(void);

#endif
