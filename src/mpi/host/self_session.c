/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self_session.c - self.h on hosts that have sessions (MPI 4.1, 11.3).
 *
 * A program that has not initialised the world model has no MPI_COMM_SELF: the communicator then
 * comes from a session of the library's own, which lives as long as the communicator. The functions
 * of self.h that make and free it are called under the lock of the process-wide state.
 */
#include "mpi/host/self.h"

#include <stdbool.h>

#include "base/err.h"
#include "mpi/host/host.h"

static MPI_Session own = MPI_SESSION_NULL;

/* The host's own, as in host.h: the library's own session is not counted among the program's. */
static struct {
    HOST_MEMBER(Session_init)
    HOST_MEMBER(Session_finalize)
} host;

__attribute__((constructor)) static void host_session_fill(void)
{
    HOST_FILL(host, Session_init);
    HOST_FILL(host, Session_finalize);
}

static bool world_in_use(void)
{
    int up = 0;

    PMPI_Initialized(&up);
    return up;
}

int self_make(MPI_Comm *self)
{
    MPI_Group group;
    int rc;

    if (world_in_use())
        return self_from_world(self) == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_OTHER;
    if (host.Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    rc = PMPI_Group_from_session_pset(own, "mpi://SELF", &group);
    if (rc == MPI_SUCCESS) {
        rc = PMPI_Comm_create_from_group(group, "libmpi-rma", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                         self);
        PMPI_Group_free(&group);
    }
    if (rc != MPI_SUCCESS)
        host.Session_finalize(&own);
    return rc == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}

void self_free(MPI_Comm *self)
{
    PMPI_Comm_free(self);
    if (own != MPI_SESSION_NULL)
        host.Session_finalize(&own);
}

int self_rank(void)
{
    MPI_Group all;
    int rank = 0;

    if (own == MPI_SESSION_NULL)
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    else if (PMPI_Group_from_session_pset(own, "mpi://WORLD", &all) == MPI_SUCCESS) {
        PMPI_Group_rank(all, &rank);
        PMPI_Group_free(&all);
    }
    return rank;
}
