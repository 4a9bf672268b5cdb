/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meet.h - before a window: have all processes of the communicator this library?
 *
 * Asked where processes of another MPI_COMM_WORLD take part (spawned, connected): those may have
 * been started without it, and would wait for ever in the host's creation of a window while this
 * process waits in ours.
 */
#ifndef MRMA_MPI_MEET_H
#define MRMA_MPI_MEET_H

#include <mpi.h>

#include <stddef.h>

/* Collective over an intracommunicator. MRMA_SUCCESS, or MRMA_ERR_OTHER with a text in msg[len],
 * the same at all processes that have the library. Waits as long as it takes until all have come,
 * and then not for long. */
int meet_all(MPI_Comm comm, char *msg, size_t len);

#endif
