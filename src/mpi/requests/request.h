/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - requests of R-operations (MPI 4.1, 12.3.5) as the application sees
 * them: requests of the host, generalized ones where the operation is not complete when its call
 * returns.
 *
 * A host gives generalized requests no progress inside its own waits. While some operation with a
 * request is not complete (request_pending), the Wait and Test families therefore alternate between
 * request_advance and the host's own test; otherwise they are one branch and a jump to the host.
 * Only application threads complete a request, inside their own calls.
 */
#ifndef MRMA_MPI_REQUESTS_REQUEST_H
#define MRMA_MPI_REQUESTS_REQUEST_H

#include <mpi.h>

#include <stdbool.h>

#include "base/atomic.h"
#include "base/list.h"
#include "mpi/host/export.h"
#include "mpi/process/win_table.h"
#include "mpi/traced/traced.h"
#include "rma/rma.h"

/* What an operation with a request was, for the message of an error that only comes to light when
 * the request completes. */
struct request_op {
    int target;
    int64_t disp;   /* as the program gave it */
    uint64_t bytes; /* at the target */
};

struct mpi_request {
    struct rma_req req;        /* what src/rma completes */
    MPI_Request handle;        /* the host's */
    struct request_op op;      /* its operation */
    const char *func;          /* the call that has made it, for messages */
    const struct win_rec *rec; /* NULL: the window is gone */
    _Atomic int holders;       /* holders: the host and, if the operation has failed, the call that
                                  is to return the error */
    struct list_node live;     /* in the list of requests for which the application has not
                                  waited */
    struct list_node failed;   /* in the list of those whose error no call has returned
                                  (request_error.h) */
};

extern MRMA_HIDDEN _Atomic unsigned request_npending;

/* request_pending returns whether some R-operation is not complete, as far as this process knows,
 * or has ended with an error that no call has returned yet. Any thread. */
static inline bool request_pending(void)
{
    return unlikely(atomic_load_explicit(&request_npending, memory_order_relaxed) != 0);
}

/* request_new returns a request for an operation that is about to be issued; func names the call,
 * for messages. request_issued, which must follow, takes it over. NULL: no memory. Any thread. */
struct mpi_request *request_new(const char *func);

/* request_issued is called when the operation of r, described by op, was issued on the window of
 * rec with result err, an enum mrma_err; OP_NOTHING (errhan.h): there was no operation to issue, as
 * its target is MPI_PROC_NULL. Without error *request becomes the application's handle, which is
 * complete already or will be completed by request_advance; with an error r is gone and the
 * window's error handler has been called. Returns what the entry point returns. */
int request_issued(struct mpi_request *r, const struct win_rec *rec, int err,
                   const struct rma_op *op, MPI_Request *request);

/* request_drop ends the hold of one of r's holders; the last one frees it. */
void request_drop(struct mpi_request *r);

/* request_orphan is called before the window of rec ends: errors of its requests do not go to its
 * error handler any more. */
void request_orphan(const struct win_rec *rec);

/* request_traced_call is called at the beginning of a call of the Wait or Test family while a trace
 * is taken: if one of its n requests is an R-operation's, or for notifications, it is recorded that
 * the call begins. Returns what traced_return takes. requests may be NULL; caller: as in
 * traced_enter. */
enum trace_call request_traced_call(enum trace_call call, int n, const MPI_Request *requests,
                                    const void *caller);

/* request_traced_tests records that a call of the Test family has found these n requests not
 * complete, as far as they belong to R-operations. requests may be NULL. */
void request_traced_tests(int n, const MPI_Request *requests);

/* TRACED of traced.h, for these calls. */
#define TRACED_REQUESTS(name, n, requests)                                                      \
    const enum trace_call traced_call_of_this __attribute__((cleanup(traced_return), unused)) = \
        unlikely(mpi_trace != NULL)                                                             \
            ? request_traced_call(TRACE_CALL_##name, n, requests, __builtin_return_address(0))  \
            : TRACE_CALL_NONE

/* request_advance does one round of progress, and completes, at the host, the requests whose
 * operations are complete. It is called only while request_pending, and only by application
 * threads, without locks. It never waits for another process. */
void request_advance(void);

#endif
