/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * get_status.c - MPI_Request_get_status_any, _all and _some (MPI 4.1, 3.7.6).
 *
 * As in request_test.c, these are the host's functions; while a request of an R-operation is
 * pending, one round of progress of the engine comes before them. Exported on every host
 * (declared.h).
 *
 * No state, no locks. Neighbour: request.c, which makes progress.
 */
#include <mpi.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/requests/request.h"

MRMA_PUBLIC int PMPI_Request_get_status_any(int count, GET_STATUS_REQUEST requests[], int *index,
                                            int *flag, MPI_Status *status)
{
    if (request_pending())
        request_advance();
    return mpi_host.Request_get_status_any(count, requests, index, flag, status);
}
MRMA_EXPORT_MPI(Request_get_status_any);

MRMA_PUBLIC int PMPI_Request_get_status_all(int count, GET_STATUS_REQUEST requests[], int *flag,
                                            MPI_Status statuses[])
{
    if (request_pending())
        request_advance();
    return mpi_host.Request_get_status_all(count, requests, flag, statuses);
}
MRMA_EXPORT_MPI(Request_get_status_all);

MRMA_PUBLIC int PMPI_Request_get_status_some(int incount, GET_STATUS_REQUEST requests[],
                                             int *outcount, int indices[], MPI_Status statuses[])
{
    if (request_pending())
        request_advance();
    return mpi_host.Request_get_status_some(incount, requests, outcount, indices, statuses);
}
MRMA_EXPORT_MPI(Request_get_status_some);
