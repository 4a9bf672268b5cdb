/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_requests.h - requests of messages whose begin is in the trace: what belongs to the handle.
 *
 * A handle may stand for several requests at a time: a host gives one to all sends that are
 * complete when they begin. Which of them a call completes does not matter then.
 */
#ifndef MRMA_MPI_TRACED_TRACED_REQUESTS_H
#define MRMA_MPI_TRACED_TRACED_REQUESTS_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

struct traced_request {
    struct traced_request *next; /* of this file alone */
    uint64_t handle;
    uint64_t number;   /* number in records; 0: what is under way is not recorded */
    uint32_t comm;     /* number of its communicator in records */
    bool sends, stays; /* stays: a persistent one, which is there until it is freed */
    /* For a persistent request: what its message is. */
    int peer, tag;
    uint64_t bytes;
};

/* traced_requests_add notes a copy of what belongs to a request. Any thread. Without memory it is
 * not noted. */
void traced_requests_add(MPI_Request request, struct traced_request what);

/* traced_requests_any returns whether any is noted. Any thread. */
bool traced_requests_any(void);

/* traced_requests_take finds what is noted of a request, and forgets it unless it stays; if it
 * stays, its number is 0 from then on. False: nothing is noted. Any thread. */
bool traced_requests_take(MPI_Request request, struct traced_request *what);

/* traced_requests_start gives a persistent request the number that get returns for it. False: no
 * such request is noted. Any thread, without locks. */
bool traced_requests_start(MPI_Request request, uint64_t (*get)(const struct traced_request *what));

/* traced_requests_forget forgets what is noted of a request. Any thread. */
void traced_requests_forget(MPI_Request request);

/* traced_requests_end forgets all. */
void traced_requests_end(void);

#endif
