/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self.h - a private communicator of this process alone, errors return.
 *
 * Carriers of windows are made on it. In the world model it comes from
 * MPI_COMM_SELF; a program that uses sessions only has no MPI_COMM_SELF, and gets
 * it from a session of ours. self.c or self_session.c, by what the host has.
 */
#ifndef MRMA_MPI_HOST_SELF_H
#define MRMA_MPI_HOST_SELF_H

#include <mpi.h>

/* self_make makes the communicator. Returns MRMA_SUCCESS and *self, which self_free frees, or
 * MRMA_ERR_OTHER if the host refuses it. */
int self_make(MPI_Comm *self);

/* self_free frees what self_make has made, and the session that was made for it. */
void self_free(MPI_Comm *self);

/* self_rank returns the rank of this process in MPI_COMM_WORLD or, in a program that uses sessions
 * only, in the process set mpi://WORLD; 0 where the host does not say. Between self_make and
 * self_free. */
int self_rank(void);

/* self_from_world makes the communicator from MPI_COMM_SELF, by a split, since a dup would run copy
 * call-backs of the user. Returns what the host returns. */
static inline int self_from_world(MPI_Comm *self)
{
    int rc = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, self);

    if (rc == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(*self, MPI_ERRORS_RETURN);
    return rc;
}

#endif
