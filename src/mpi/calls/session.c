/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c - programs that use sessions and never call MPI_Init (MPI 4.1, 11.3).
 *
 * The engine ends with the last session, unless the world model is in use: then
 * MPI_Finalize ends it (init.c). While it lives without the world model it keeps
 * a session of its own, not counted (host/self_session.c). Built where the host
 * declares sessions.
 *
 * No locks: sessions are counted by an atomic. Neighbours: engine_get.c, which ends the engine;
 * carrier.h; meet.c.
 */
#include <mpi.h>

#include <stdbool.h>

#include "base/atomic.h"
#include "mpi/calls/engine_get.h"
#include "mpi/host/carrier.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/host/host_check.h"
#include "mpi/host/meet.h"
#include "mpi/process/state.h"

static _Atomic int sessions;

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
    if (!engine_disabled())
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
