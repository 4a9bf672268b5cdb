/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_many.h - the requests of R-operations among those of one call of the Wait or Test family.
 *
 * The host takes them for inactive ones: it may be given the whole array, skips them, and sets
 * their statuses, if any, to those of inactive ones. Then the functions here do what is to be done
 * for them. n and requests are always the caller's; requests may be NULL.
 */
#ifndef MRMA_MPI_REQUESTS_REQUEST_MANY_H
#define MRMA_MPI_REQUESTS_REQUEST_MANY_H

#include <mpi.h>

#include <stdbool.h>

/* requests_are_any returns whether some request is of an R-operation. */
bool requests_are_any(int n, const MPI_Request *requests);

/* requests_await waits until all requests of R-operations have ended, and returns how many of the
 * requests these are. */
int requests_await(int n, const MPI_Request *requests);

/* requests_all_ended returns whether all requests of R-operations have ended. */
bool requests_all_ended(int n, const MPI_Request *requests);

/* requests_first_ended returns the index of the first request of an R-operation that has ended; -1:
 * there is none. */
int requests_first_ended(int n, const MPI_Request *requests);

/* requests_finish_one completes the request at that index, as request_finish does. */
int requests_finish_one(MPI_Request *requests, int index, MPI_Status *status);

/* requests_finish_all completes all requests of R-operations, which have ended, in a call that has
 * completed all others with rc, MPI_SUCCESS or MPI_ERR_IN_STATUS. statuses may be
 * MPI_STATUSES_IGNORE. Of several errors all are in the statuses, and the handler is called once,
 * with the code of the first one: a call raises one error (3.7.5). Returns what the call returns.
 */
int requests_finish_all(int n, MPI_Request *requests, MPI_Status *statuses, int rc);

/* requests_finish_some completes the requests of R-operations that have ended, behind the *done
 * others that are at indices and in statuses; *done may be MPI_UNDEFINED, and is a number then.
 * Otherwise as requests_finish_all. */
int requests_finish_some(int n, MPI_Request *requests, int *done, int *indices,
                         MPI_Status *statuses, int rc);

/* requests_host_went_on returns whether a call of the host that has returned rc has completed what
 * it could. */
bool requests_host_went_on(int rc);

#endif
