/*
 * session.c - the end of programs that use sessions and never call MPI_Init (MPI
 * 4.1, 11.3).
 *
 * The engine ends with the last session, unless the world model is in use: then
 * MPI_Finalize ends it (init.c). Built where the host declares sessions.
 */
#include <mpi.h>

#include "base/atomic.h"
#include "mpi/engine_get.h"
#include "mpi/export.h"
#include "mpi/host.h"

static _Atomic int sessions;

/* The host's own, as in host.h. */
static __typeof__(PMPI_Session_init) *host_session_init;
static __typeof__(PMPI_Session_finalize) *host_session_finalize;

__attribute__((constructor)) static void host_session_fill(void)
{
    *(void **)&host_session_init = host_symbol("PMPI_Session_init");
    *(void **)&host_session_finalize = host_symbol("PMPI_Session_finalize");
}

MRMA_PUBLIC int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    int rc = host_session_init(info, errhandler, session);

    if (rc == MPI_SUCCESS)
        atomic_fetch_add_explicit(&sessions, 1, memory_order_relaxed);
    return rc;
}
MRMA_EXPORT_MPI(Session_init);

MRMA_PUBLIC int PMPI_Session_finalize(MPI_Session *session)
{
    int world = 0;

    PMPI_Initialized(&world);
    if (*session != MPI_SESSION_NULL &&
        atomic_fetch_sub_explicit(&sessions, 1, memory_order_acq_rel) == 1 && !world)
        engine_end();
    return host_session_finalize(session);
}
MRMA_EXPORT_MPI(Session_finalize);
