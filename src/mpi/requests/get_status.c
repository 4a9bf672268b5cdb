/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * get_status.c - MPI_Request_get_status_any, _all and _some (MPI 4.1, 3.7.6).
 *
 * As in request_test.c: the host's functions, and for requests of R-operations, which the host
 * takes for inactive ones, those of request_many.h. Exported on every host (declared.h).
 *
 * No state, no locks. Neighbour: request.c, which makes progress.
 */
#include <mpi.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/requests/request.h"
#include "mpi/requests/request_many.h"

static bool are_any(int count, const MPI_Request *requests)
{
    if (request_pending())
        request_advance();
    return requests_are_any(count, requests);
}

MRMA_PUBLIC int PMPI_Request_get_status_any(int count, GET_STATUS_REQUEST requests[], int *index,
                                            int *flag, MPI_Status *status)
{
    const bool ours = are_any(count, requests);
    const int ended = ours ? requests_first_ended(count, requests) : -1;

    if (ended >= 0) {
        *index = ended;
        *flag = 1;
        request_status(status);
        return MPI_SUCCESS;
    }
    const int rc = mpi_host.Request_get_status_any(count, requests, index, flag, status);
    if (ours && rc == MPI_SUCCESS && *flag && *index == MPI_UNDEFINED)
        *flag = 0;
    return rc;
}
MRMA_EXPORT_MPI(Request_get_status_any);

MRMA_PUBLIC int PMPI_Request_get_status_all(int count, GET_STATUS_REQUEST requests[], int *flag,
                                            MPI_Status statuses[])
{
    const bool ours = are_any(count, requests);
    const int rc = mpi_host.Request_get_status_all(count, requests, flag, statuses);

    if (!ours || rc != MPI_SUCCESS || !*flag)
        return rc;
    *flag = requests_all_ended(count, requests);
    for (int i = 0; *flag && statuses != MPI_STATUSES_IGNORE && i < count; i++)
        if (request_find(requests[i]) != NULL)
            request_status(&statuses[i]);
    return rc;
}
MRMA_EXPORT_MPI(Request_get_status_all);

MRMA_PUBLIC int PMPI_Request_get_status_some(int incount, GET_STATUS_REQUEST requests[],
                                             int *outcount, int indices[], MPI_Status statuses[])
{
    const bool ours = are_any(incount, requests);
    const int rc = mpi_host.Request_get_status_some(incount, requests, outcount, indices, statuses);

    if (!ours || rc != MPI_SUCCESS)
        return rc;
    int k = *outcount == MPI_UNDEFINED ? 0 : *outcount;
    for (int i = 0; i < incount; i++) {
        struct mpi_request *r = request_find(requests[i]);
        if (r == NULL || !request_ended(r))
            continue;
        indices[k] = i;
        request_status(statuses != MPI_STATUSES_IGNORE ? &statuses[k] : MPI_STATUS_IGNORE);
        k++;
    }
    *outcount = k;
    return rc;
}
MRMA_EXPORT_MPI(Request_get_status_some);
