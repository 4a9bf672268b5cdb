/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self.c - self.h on hosts that have no sessions. No state, no locks.
 */
#include "mpi/host/self.h"

#include "base/err.h"

int self_make(MPI_Comm *self)
{
    return self_from_world(self) == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}

void self_free(MPI_Comm *self)
{
    PMPI_Comm_free(self);
}

int self_rank(void)
{
    int rank = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
