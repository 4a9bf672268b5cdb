/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fetch_request.h - requests by number: each stands for one fetching operation by packet that
 * awaits its reply, which names the number. The request of an MPI R-operation, struct rma_req, is
 * something else (op_request.c).
 *
 * Ownership: a request holds a reference to the datatype whose cursor it uses and points into the
 * user's buffer, which stays the library's until the operation is locally complete. Locks: the
 * caller holds the engine's. Nothing here waits.
 */
#ifndef MRMA_RMA_ORIGIN_FETCH_REQUEST_H
#define MRMA_RMA_ORIGIN_FETCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "ch3/pkt.h"
#include "dtype/dtype.h"

struct origin_pair;
struct rma;
struct rma_op;
struct rma_req;
struct rma_target;
struct win;

struct origin_request {
    struct list_node link; /* in pair->requests, or in rma->spare_requests */
    uint32_t number;
    struct origin_pair *pair;
    struct dtype_cursor result;
    const struct dtype *type;
    void *addr;
    size_t left, pos; /* bytes of the packed result */
    size_t kept;      /* of these, bytes of which the target keeps a copy: those of accumulates */
    bool plain;       /* they go to addr as they are, and result is not used */
    uint32_t behind;  /* pair->written when the request was made: its reply proves that these
                          operations are done */
    uint32_t
        lock_seq;     /* pair->lock_seq when it was made: its reply proves that this lock is held */
    uint64_t last_op; /* as in struct origin_pair */
    struct rma_req *req;
};

/* origin_init makes the layer's table of requests by number, which is empty. Called at the layer's
 * start, before anybody else sees r. */
void origin_init(struct rma *r);

/* origin_fini frees the table, which is empty, and what is kept for later requests. */
void origin_fini(struct rma *r);

/* origin_request_new makes a request by number for the result of op, which is of that fetching
 * kind, and sets *number, which goes into the records of the operation. op->req, if there is one,
 * and pair are charged with it until it ends. The buffer of the result is the library's until then;
 * of the datatype it takes a reference. MRMA_ERR_NO_MEM. */
int origin_request_new(struct origin_pair *pair, enum pkt_op_kind kind, const struct rma_op *op,
                       uint32_t *number);

/* How much an origin may have outstanding, and so how much a target may have queued for it. */
enum {
    ORIGIN_PAIR_STREAMS = 64,          /* large operations of a pair */
    ORIGIN_PAIR_REQUESTS = 4096,       /* requests by number of a pair */
    ORIGIN_REQUESTS = 64 * 1024,       /* requests by number of the process; when they are used up
                                          each pair may have one */
    ORIGIN_PAIR_FETCHING = 1024 * 1024 /* bytes of results that the target keeps until they leave */
};

/* origin_request_room returns whether pair may have another request by number, within these limits.
 */
bool origin_request_room(const struct origin_pair *pair);

/* origin_request_cancel ends the request by that number with err, since its operation was not sent
 * after all. Nothing happens if it has ended. */
void origin_request_cancel(struct win *w, uint32_t number, int err);

/* origin_abandon is called when the call of the R-operation of req fails with err after parts of it
 * have begun. Its requests by number end, so that replies to them are not taken any more. Parts
 * that cannot be taken back end by themselves and need req and the user's buffers until then: in
 * that case the function returns MRMA_SUCCESS, since the call has started the operation after all,
 * and req will return the error. Otherwise it returns err, and the caller may drop req. */
int origin_abandon(struct origin_pair *pair, struct rma_req *req, int err);

/* origin_fail_requests ends all requests by number of pair with err, since nothing will come for it
 * any more.
 */
void origin_fail_requests(struct origin_pair *pair, int err);

/* origin_request_find returns the request by that number, or NULL if there is none of the pair of w
 * and t. */
struct origin_request *origin_request_find(struct win *w, struct rma_target *t, uint32_t number);

/* origin_request_end ends rq with err, and takes its part off the request of an R-operation. */
void origin_request_end(struct rma *r, struct origin_request *rq, int err);

#endif
