/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.c - MPI_Init, MPI_Init_thread, MPI_T_init_thread, MPI_Finalize: replaced to prepare the host
 * for carriers (carrier.h), and to learn of the end.
 *
 * The first thing that MPI_Finalize does is to delete the attributes of MPI_COMM_SELF, latest
 * first, and the applications' delete call-backs may still use and free windows (MPI 4.1, 11.2.4).
 * So the engine ends in the delete call-back of an attribute that is set before all others, right
 * after initialisation. Where that was not possible, since this library was loaded later, it ends
 * when MPI_Finalize is called. Polls in the host's progress must be taken back before that
 * (host_poll_mpich.c). A thread that makes carriers ahead must have ended before that, too: on Open
 * MPI it would wait for the lock that the host holds around the call-backs.
 *
 * No locks: MPI is initialised and finalized by one thread. Neighbours: engine_get.c, stats.c and
 * traced.c, which end here; session.c, for programs without MPI_Init.
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/conf.h"
#include "base/err.h"
#include "mpi/calls/engine_get.h"
#include "mpi/host/carrier.h"
#include "mpi/host/carrier_stock.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/host/host_check.h"
#include "mpi/host/host_poll.h"
#include "mpi/host/own_comm.h"
#include "mpi/host/process_model.h"
#include "mpi/process/tell_environment.h"
#include "mpi/process/state.h"
#include "mpi/process/print_stats.h"
#include "mpi/traced/traced.h"

static bool hooked; /* written by the thread that initialises MPI */

/* Windows of sessions outlive MPI_Finalize; the last session ends the engine then. */
static void end_job(void)
{
    if (!sessions_open() || !self_outlives_world())
        engine_end();
    stats_end_job();
    traced_end_job();
}

static int on_self_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    end_job();
    return MPI_SUCCESS;
}

static void hook_the_end(void)
{
    int keyval;

    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_self_deleted, &keyval, NULL) !=
        MPI_SUCCESS)
        return;
    hooked = PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL) == MPI_SUCCESS;
    PMPI_Comm_free_keyval(&keyval);
}

/* begin_job does not report on the environment in spawned processes: it is that of their parents,
 * which have reported it. */
static void begin_job(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    struct conf conf;
    char msg[256];
    int rank = 0;

    PMPI_Comm_get_parent(&parent);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    environment_tell(engine_messages(), rank == 0 && parent == MPI_COMM_NULL);
    hook_the_end();
    if (conf_load(&conf, getenv, msg, sizeof msg) != MRMA_SUCCESS || conf.disable)
        return; /* engine_get reports values that make no sense */
    self_make_ahead();
    stats_begin_job(&conf);
    traced_begin_job(&conf);
}

MRMA_PUBLIC int PMPI_Init(int *argc, char ***argv)
{
    int rc;

    host_check();
    if (!engine_disabled())
        carrier_before_init();
    world_begins();
    rc = mpi_host.Init(argc, argv);
    carrier_after_init();
    if (rc == MPI_SUCCESS) {
        begin_job();
    }
    return rc;
}
MRMA_EXPORT_MPI(Init);

MRMA_PUBLIC int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc;

    host_check();
    if (!engine_disabled())
        carrier_before_init();
    world_begins();
    rc = mpi_host.Init_thread(argc, argv, required, provided);
    carrier_after_init();
    if (rc == MPI_SUCCESS) {
        begin_job();
    }
    return rc;
}
MRMA_EXPORT_MPI(Init_thread);

/* A host may read in MPI_T_init_thread what it otherwise reads in MPI_Init. */
MRMA_PUBLIC int PMPI_T_init_thread(int required, int *provided)
{
    int rc;

    host_check();
    if (!engine_disabled())
        carrier_before_init();
    rc = mpi_host.T_init_thread(required, provided);
    carrier_after_init();
    return rc;
}
MRMA_EXPORT_MPI(T_init_thread);

MRMA_PUBLIC int PMPI_Finalize(void)
{
    int rc;

    host_poll_close();
    carrier_stock_pause();
    if (!hooked)
        end_job();
    rc = mpi_host.Finalize();
    carrier_stock_resume();
    host_poll_open();
    return rc;
}
MRMA_EXPORT_MPI(Finalize);
