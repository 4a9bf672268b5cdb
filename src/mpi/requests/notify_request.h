/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_request.h - persistent requests that complete after a number of notifications
 * (doc/notified.md).
 *
 * A request is a persistent receive of the host, of no bytes, on the library's private
 * communicator: MPI has no persistent generalized request, and a receive works with MPI_Start, the
 * Wait and Test families, MPI_Request_get_status and MPI_Request_free on every host. When the
 * notifications have come this process sends itself the message that completes it. It does so only
 * inside its own calls of the Wait and Test families, as for requests of R-operations: while a
 * request is active, request_pending is true.
 */
#ifndef MRMA_MPI_REQUESTS_NOTIFY_REQUEST_H
#define MRMA_MPI_REQUESTS_NOTIFY_REQUEST_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

struct rma_notified;
struct win_rec;

/* notify_request_new sets *request to an inactive request for these notifications, for which
 * rma_notify_expect has returned success. Returns MRMA_SUCCESS, MRMA_ERR_NO_MEM, or MRMA_ERR_OTHER
 * if the host refuses it. */
int notify_request_new(const struct win_rec *rec, const struct rma_notified *what,
                       MPI_Request *request);

/* notify_request_none sets *request to an inactive request that is complete as soon as it is
 * started, for notifications of MPI_PROC_NULL. Results are those of notify_request_new. */
int notify_request_none(MPI_Request *request);

/* notify_request_advance completes the active requests whose notifications have come. Only
 * application threads call it, without locks. */
void notify_request_advance(void);

/* notify_request_is returns whether the request is one of these. Any thread. */
bool notify_request_is(MPI_Request request);

/* notify_request_cancel makes the request inactive for the library, before the host cancels its
 * receive: it takes no notifications any more. Any other request is left alone. */
void notify_request_cancel(MPI_Request request);

/* notify_request_free forgets the request, before the host frees it; one that is active is
 * cancelled first, and takes no notifications. Any other request is left alone. */
void notify_request_free(MPI_Request request);

/* notify_request_orphan is called before the window of rec ends: active requests on it end with an
 * error, and none can be started any more. */
void notify_request_orphan(const struct win_rec *rec);

#endif
