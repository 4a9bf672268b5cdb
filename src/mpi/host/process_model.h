/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_model.h - which of MPI's process models is in use: the world model, sessions, or both
 * (MPI 4.1, 11.1).
 */
#ifndef MRMA_MPI_HOST_PROCESS_MODEL_H
#define MRMA_MPI_HOST_PROCESS_MODEL_H

#include <stdbool.h>

/* world_in_use returns whether there is an MPI_COMM_WORLD: between MPI_Init and the end of
 * MPI_Finalize. Any thread. */
bool world_in_use(void);

/* world_begins is called before the host's MPI_Init. Any thread. */
void world_begins(void);

/* session_begins is called before the host's MPI_Session_init for a session of the program, which
 * counts from now on. It waits while another thread is between session_ends and session_end_over.
 * Any thread. */
void session_begins(void);

/* session_ends takes a session of the program, or one that the host has refused, from the count,
 * and returns whether it was the last. If so, the caller ends what the windows have used, and calls
 * session_end_over. Any thread. */
bool session_ends(void);

/* session_end_over lets a first session begin again. Called after session_ends, by its caller. */
void session_end_over(void);

/* sessions_open returns whether there are sessions of the program. Any thread. */
bool sessions_open(void);

#endif
