/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c - programs that use sessions and never call MPI_Init (MPI 4.1, 11.3).
 *
 * The engine ends with the last session, unless the world model is in use: then
 * MPI_Finalize ends it (init.c). While it lives without the world model it keeps
 * a session of its own, not counted, for the communicator of self.h. Built where
 * the host declares sessions.
 */
#include <mpi.h>

#include <stdbool.h>

#include "base/atomic.h"
#include "base/err.h"
#include "mpi/carrier.h"
#include "mpi/engine_get.h"
#include "mpi/export.h"
#include "mpi/host.h"
#include "mpi/host_check.h"
#include "mpi/meet.h"
#include "mpi/self.h"

static _Atomic int sessions;
static MPI_Session own = MPI_SESSION_NULL; /* engine_get and engine_end hold a lock */

/* The host's own, as in host.h. */
static struct {
    HOST_MEMBER(Session_init)
    HOST_MEMBER(Session_finalize)
} host;

__attribute__((constructor)) static void host_session_fill(void)
{
    HOST_FILL(host, Session_init);
    HOST_FILL(host, Session_finalize);
}

MRMA_PUBLIC int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    int rc;

    host_check();
    carrier_before_init();
    rc = host.Session_init(info, errhandler, session);
    carrier_after_init();
    if (rc == MPI_SUCCESS)
        atomic_fetch_add_explicit(&sessions, 1, memory_order_relaxed);
    return rc;
}
MRMA_EXPORT_MPI(Session_init);

static bool world_in_use(void)
{
    int up = 0;

    PMPI_Initialized(&up);
    return up;
}

MRMA_PUBLIC int PMPI_Session_finalize(MPI_Session *session)
{
    if (*session != MPI_SESSION_NULL &&
        atomic_fetch_sub_explicit(&sessions, 1, memory_order_acq_rel) == 1 && !world_in_use()) {
        engine_end();
        meet_end();
    }
    return host.Session_finalize(session);
}
MRMA_EXPORT_MPI(Session_finalize);

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
