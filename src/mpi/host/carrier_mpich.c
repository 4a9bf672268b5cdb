/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carrier_mpich.c - carrier.h on MPICH.
 *
 * Every window of MPICH duplicates its communicator, and a process has a fixed number of context
 * ids for communicators. MPI_Win_allocate_shared ends the process in an assertion when none is
 * left, where MPI_Comm_dup returns an error. So a communicator is made and freed first.
 *
 * No state, no locks. Neighbour: win.c, which makes the windows.
 */
#include "mpi/host/carrier.h"

#include <stdio.h>

#include "base/err.h"
#include "mpi/host/host.h"

/* MPICH needs nothing at initialisation. */
void carrier_before_init(void)
{
}

void carrier_after_init(void)
{
}

static int refused(int rc, char *msg, size_t len)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;

    PMPI_Error_string(rc, text, &n);
    snprintf(msg, len,
             "the host gives no further communicator, and each window takes one of its context "
             "ids: free windows or communicators that are not needed any more. The host says: %s",
             text);
    return MRMA_ERR_OTHER;
}

int carrier_make(MPI_Comm self, MPI_Win *carrier, char *msg, size_t len)
{
    MPI_Comm probe;
    MPI_Win made;
    void *base;
    int rc = PMPI_Comm_dup(self, &probe);

    if (rc != MPI_SUCCESS)
        return refused(rc, msg, len);
    PMPI_Comm_free(&probe);
    rc = mpi_host.Win_allocate_shared(0, 1, MPI_INFO_NULL, self, &base, &made);
    if (rc != MPI_SUCCESS)
        return refused(rc, msg, len);
    *carrier = made;
    return MRMA_SUCCESS;
}
