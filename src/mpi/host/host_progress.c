/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_progress.c - see host_progress.h.
 *
 * The host is asked for the status of a request that is never complete, a generalized one of this
 * library. A caller that asks again and again must at last be told that a request is complete (MPI
 * 4.1, 3.7.6). So the call makes progress in every MPI library, without knowledge of its insides;
 * and since a generalized request belongs to no communicator, the progress is not that of one
 * communicator alone. An MPI_Iprobe on a communicator of this process alone would not do: MPICH
 * then looks into a queue of the process, and moves nothing.
 *
 * No locks: those of the callers. Neighbours: calls/engine_get.c, which begins, ends, and hands
 * host_progress down; rma/progress/advance_host.c, which calls it.
 */
#include "mpi/host/host_progress.h"

#include <mpi.h>
#include <stddef.h>

#include "base/err.h"
#include "mpi/host/host.h"

static MPI_Request never; /* not complete before host_progress_end */

static int on_query(void *extra, MPI_Status *status)
{
    (void)extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int on_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int on_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

int host_progress_begin(void)
{
    return PMPI_Grequest_start(on_query, on_free, on_cancel, NULL, &never) == MPI_SUCCESS
               ? MRMA_SUCCESS
               : MRMA_ERR_OTHER;
}

void host_progress_end(void)
{
    PMPI_Grequest_complete(never);
    mpi_host.Request_free(&never);
}

void host_progress(void)
{
    int complete;

    mpi_host.Request_get_status(never, &complete, MPI_STATUS_IGNORE);
}
