/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_error.h - errors of R-operations, which the call that completes the request returns.
 *
 * The host is not told of these errors: hosts differ in what they make of the error of a
 * generalized request (MPICH gives MPI_ERR_OTHER in statuses), and they would call the handler of a
 * communicator. The request completes without an error there; then the call of the Wait or Test
 * family that has completed it takes the error from here, calls the error handler of the window, on
 * which the operation was started, and returns the class, or sets it in the status (MPI 4.1, 3.7.3
 * and 3.7.5).
 */
#ifndef MRMA_MPI_REQUESTS_REQUEST_ERROR_H
#define MRMA_MPI_REQUESTS_REQUEST_ERROR_H

#include <mpi.h>

#include "mpi/requests/request.h"

/* The handles of a call before the host has changed them. */
struct request_handles {
    MPI_Request few[16], *all; /* all: NULL if there was no memory */
    int n;
};

/* request_handles_keep keeps the n handles at requests, which may be NULL; request_handles_drop is
 * to follow. */
void request_handles_keep(struct request_handles *kept, int n, const MPI_Request *requests);

/* request_handles_drop frees what request_handles_keep has allocated. */
void request_handles_drop(struct request_handles *kept);

/* request_failed is called for r, whose operation has ended with an error, before the host is told
 * that the request is complete. */
void request_failed(struct mpi_request *r);

/* request_failed_any returns whether any request has failed whose error no call has returned. */
bool request_failed_any(void);

/* request_told_one follows the host's MPI_Wait, MPI_Test, MPI_Waitany or MPI_Testany, which has
 * completed the request at that index and returned rc, MPI_SUCCESS. Returns what the entry point
 * returns. */
int request_told_one(const struct request_handles *kept, int index, int rc);

/* request_told_many follows the host's MPI_Waitall, MPI_Testall, MPI_Waitsome or MPI_Testsome,
 * which has returned rc and completed *done requests, those at indices (NULL: the first). requests
 * and statuses are the caller's. Returns what the entry point returns. */
int request_told_many(const struct request_handles *kept, const MPI_Request *requests,
                      const int *done, const int *indices, MPI_Status *statuses, int rc);

#endif
