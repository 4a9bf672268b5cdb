/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self.h - a private communicator of this process alone, errors return; and which of the world
 * model and sessions is in use.
 *
 * Carriers of windows are made on the communicator. In the world model it comes from MPI_COMM_SELF.
 * A program with sessions may have no MPI_COMM_SELF, or lose it when it calls MPI_Finalize before
 * its last session ends, and gets the communicator from a session of the library's own.
 */
#ifndef MRMA_MPI_HOST_SELF_H
#define MRMA_MPI_HOST_SELF_H

#include <mpi.h>

#include <stdbool.h>

/* world_in_use returns whether there is an MPI_COMM_WORLD: between MPI_Init and the end of
 * MPI_Finalize. Any thread. */
bool world_in_use(void);

/* world_begins is called before the host's MPI_Init. Any thread. */
void world_begins(void);

/* session_begins is called before the host's MPI_Session_init for a session of the program. Any
 * thread. */
void session_begins(void);

/* session_begun counts a session of the program. Any thread. */
void session_begun(void);

/* session_ended takes a session of the program from the count, and returns whether it was the last.
 * Any thread. */
bool session_ended(void);

/* sessions_open returns whether there are sessions of the program. Any thread. */
bool sessions_open(void);

/* self_make makes the communicator: from MPI_COMM_SELF, or from a session of the library's own
 * where the program has sessions. Returns MRMA_SUCCESS and *self, which self_free frees, or
 * MRMA_ERR_OTHER if the host refuses it. The caller holds the lock of the process-wide state. */
int self_make(MPI_Comm *self);

/* self_free frees what self_make has made, and the session that was made for it. The caller holds
 * the lock of the process-wide state. */
void self_free(MPI_Comm *self);

/* self_rank returns the rank of this process in MPI_COMM_WORLD or, where that is not in use, in the
 * process set mpi://WORLD; 0 where the host does not say. Between self_make and self_free. */
int self_rank(void);

/* self_outlives_world returns whether there is a communicator that may be used behind MPI_Finalize:
 * one that self_make has made from a session. Not during self_make or self_free. */
bool self_outlives_world(void);

#endif
