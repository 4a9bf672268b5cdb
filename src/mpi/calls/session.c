/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c - programs that use sessions, with or without MPI_Init (MPI 4.1, 11.3).
 *
 * The engine ends with the last session, unless the world model is in use: then MPI_Finalize ends
 * it (init.c). The functions are exported on every host (declared.h); on a host without sessions
 * they return an error, and a program for such a host does not call them.
 *
 * No locks, no state: host/own_comm.c counts sessions, and makes a thread with a first session wait
 * until another thread has ended the last one. Neighbours: engine_get.c, which ends the engine;
 * carrier.h; agree_library.c.
 */
#include <mpi.h>

#include "mpi/calls/engine_get.h"
#include "mpi/host/carrier.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/host/host_check.h"
#include "mpi/host/host_poll.h"
#include "mpi/host/agree_library.h"
#include "mpi/host/process_model.h"
#include "mpi/process/state.h"

MRMA_PUBLIC int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, HOST_SESSION *session)
{
    int rc;

    host_check();
    if (!engine_disabled())
        carrier_before_init();
    session_begins();
    rc = mpi_host.Session_init(info, errhandler, session);
    carrier_after_init();
    if (rc != MPI_SUCCESS && session_ends())
        session_end_over();
    return rc;
}
MRMA_EXPORT_MPI(Session_init);

/* The host's call may wait for other processes, so the next session does not wait for this call. */
MRMA_PUBLIC int PMPI_Session_finalize(HOST_SESSION *session)
{
    int rc;

    if (*session == HOST_SESSION_NULL || !session_ends())
        return mpi_host.Session_finalize(session);
    if (world_in_use()) {
        session_end_over();
        return mpi_host.Session_finalize(session);
    }
    host_poll_close();
    engine_end();
    meet_end();
    session_end_over();
    rc = mpi_host.Session_finalize(session);
    host_poll_open();
    return rc;
}
MRMA_EXPORT_MPI(Session_finalize);
