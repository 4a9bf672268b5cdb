/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - requests of R-operations (MPI 4.1, 12.3.5) as the application sees them.
 *
 * Their handles are the host's, which takes them for inactive ones (request_pool.h); the Wait and
 * Test families find them among the others, and treat them themselves. While some operation with a
 * request is not complete (request_pending) these calls make progress, and go round between that
 * and the host's own test of its requests. Before the first R-operation they are two branches and a
 * jump to the host. Only application threads, inside their own calls, take note of a completion.
 */
#ifndef MRMA_MPI_REQUESTS_REQUEST_H
#define MRMA_MPI_REQUESTS_REQUEST_H

#include <mpi.h>

#include <stdbool.h>

#include "mpi/process/win_table.h"
#include "mpi/requests/request_pool.h"
#include "mpi/traced/traced.h"
#include "rma/rma.h"

/* requests_matter returns whether a call of the Wait or Test family has more to do than the host's.
 * Any thread. */
static inline bool requests_matter(void)
{
    return requests_made() || request_pending();
}

/* request_new returns a request for an operation that is about to be issued; func names the call,
 * for messages. request_issued, which must follow, takes it over. NULL: no memory, or the host
 * refuses a handle. Any thread. */
struct mpi_request *request_new(const char *func);

/* request_issued is called when the operation of r, described by op, was issued on the window of
 * rec with result err, an enum mrma_err; OP_NOTHING (errhan.h): there was none to issue, as its
 * target is MPI_PROC_NULL. Without error *request becomes the application's handle, which is
 * complete already or will be completed by request_advance; with an error r is gone and the
 * window's error handler has been called. Returns what the entry point returns. */
int request_issued(struct mpi_request *r, const struct win_rec *rec, int err,
                   const struct rma_op *op, MPI_Request *request);

/* request_complete returns the handle of every operation that is complete when its call returns;
 * MPI_REQUEST_NULL: there is none yet, or each operation has its own. Any thread. */
static inline MPI_Request request_complete(void)
{
    /* Pairs with request_pool_use_shared. */
    const struct mpi_request *r = atomic_load_explicit(&request_common, memory_order_acquire);

    return likely(r != NULL) ? r->handle : MPI_REQUEST_NULL;
}

extern MRMA_HIDDEN _Atomic bool request_unsent_noted;

/* request_note_unsent is the part of request_may_be_unsent for the case that nothing is noted. */
void request_note_unsent(void);

/* request_may_be_unsent follows the issue of an operation whose request was not made by
 * request_new: if it has been left unsent, the next call for any request sends it. Any thread.
 * Where one thread at a time is in MPI, it has noted and takes the note by itself. */
static inline void request_may_be_unsent(void)
{
    if (unlikely(mpi_state.threads) ||
        unlikely(!atomic_load_explicit(&request_unsent_noted, memory_order_relaxed)))
        request_note_unsent();
}

/* request_finish is for a call that completes r, which has ended: *status, unless it is
 * MPI_STATUS_IGNORE, becomes the request's, but for MPI_ERROR. An error of the operation is told
 * then, to the error handler of the window on which it was started (3.7.3, 3.7.5); quietly: the
 * handler is not called. Returns what the call returns of it. r is gone. */
int request_finish(struct mpi_request *r, MPI_Status *status, bool quietly);

/* request_status makes *status, unless it is MPI_STATUS_IGNORE, that of an R-operation, but for
 * MPI_ERROR. */
void request_status(MPI_Status *status);

/* request_traced_call is called at the beginning of a call of the Wait or Test family while a trace
 * is taken: if one of its n requests is an R-operation's, or for notifications, it is recorded that
 * the call begins. Returns what traced_return takes. requests may be NULL; caller: as in
 * traced_enter. */
enum trace_call request_traced_call(enum trace_call call, int n, const MPI_Request *requests,
                                    const void *caller);

/* request_traced_tests records that a call of the Test family has found these n requests not
 * complete, as far as they are R-operations'. requests may be NULL. */
void request_traced_tests(int n, const MPI_Request *requests);

/* TRACED of traced.h, for these calls. */
#define TRACED_REQUESTS(name, n, requests)                                                      \
    const enum trace_call traced_call_of_this __attribute__((cleanup(traced_return), unused)) = \
        unlikely(mpi_trace != NULL)                                                             \
            ? request_traced_call(TRACE_CALL_##name, n, requests, __builtin_return_address(0))  \
            : TRACE_CALL_NONE

/* request_advance does one round of progress, and takes note of the operations that are complete.
 * Only while request_pending; by application threads only, without locks. It never waits for
 * another process. */
void request_advance(void);

#endif
