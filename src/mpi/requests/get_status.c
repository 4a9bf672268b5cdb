/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * get_status.c - MPI_Request_get_status_any, _all and _some (MPI 4.1, 3.7.6).
 *
 * As in test.c: the host's functions; while a request of an R-operation is pending,
 * one round of progress of the engine goes before. Built where the host declares
 * them: a program for a host without them has none to call. GET_STATUS_REQUEST is
 * MPI_Request, const or not, as the host declares it (config.h).
 *
 * No state, no locks. Neighbour: request.c, which makes progress.
 */
#include <mpi.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/requests/request.h"

#define MANY_FUNCTIONS(X) \
    X(Request_get_status_any) X(Request_get_status_all) X(Request_get_status_some)

/* The host's own, as in host.h. */
static struct {
    MANY_FUNCTIONS(HOST_MEMBER)
} host_many;

__attribute__((constructor)) static void host_many_fill(void)
{
#define FILL(name) HOST_FILL(host_many, name);
    MANY_FUNCTIONS(FILL)
#undef FILL
}

MRMA_PUBLIC int PMPI_Request_get_status_any(int count, GET_STATUS_REQUEST requests[], int *index,
                                            int *flag, MPI_Status *status)
{
    if (request_pending())
        request_advance();
    return host_many.Request_get_status_any(count, requests, index, flag, status);
}
MRMA_EXPORT_MPI(Request_get_status_any);

MRMA_PUBLIC int PMPI_Request_get_status_all(int count, GET_STATUS_REQUEST requests[], int *flag,
                                            MPI_Status statuses[])
{
    if (request_pending())
        request_advance();
    return host_many.Request_get_status_all(count, requests, flag, statuses);
}
MRMA_EXPORT_MPI(Request_get_status_all);

MRMA_PUBLIC int PMPI_Request_get_status_some(int incount, GET_STATUS_REQUEST requests[],
                                             int *outcount, int indices[], MPI_Status statuses[])
{
    if (request_pending())
        request_advance();
    return host_many.Request_get_status_some(incount, requests, outcount, indices, statuses);
}
MRMA_EXPORT_MPI(Request_get_status_some);
