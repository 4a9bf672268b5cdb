/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self.h - a private communicator of this process alone, errors return.
 *
 * Carriers of windows are made on it. In the world model it comes from
 * MPI_COMM_SELF; a program that uses sessions only has no MPI_COMM_SELF, and gets
 * it from a session of ours. self.c or session.c, by what the host has.
 */
#ifndef MRMA_MPI_HOST_SELF_H
#define MRMA_MPI_HOST_SELF_H

#include <mpi.h>

/* MRMA_ERR_OTHER. */
int self_make(MPI_Comm *self);
void self_free(MPI_Comm *self);
/* The rank of this process in MPI_COMM_WORLD or, in a program that uses sessions only, in the
 * process set mpi://WORLD; between self_make and self_free. 0 where the host does not say. */
int self_rank(void);

/* From MPI_COMM_SELF; a split, since a dup would run copy call-backs of the user. */
static inline int self_from_world(MPI_Comm *self)
{
    int rc = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, self);

    if (rc == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(*self, MPI_ERRORS_RETURN);
    return rc;
}

#endif
