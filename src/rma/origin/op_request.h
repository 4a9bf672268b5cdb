/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_request.h - the request of an MPI R-operation, struct rma_req (rma.h), whose parts are counted
 * here. fetch_request.h has the requests by number, which are something else.
 */
#ifndef MRMA_RMA_ORIGIN_OP_REQUEST_H
#define MRMA_RMA_ORIGIN_OP_REQUEST_H

struct rma_req;

/* origin_charge notes that one more part of the R-operation of req is under way, so that req is not
 * complete before that part's origin_discharge. NULL: nothing happens. Any thread, with or without
 * the lock. */
void origin_charge(struct rma_req *req);

/* origin_discharge notes that a part of the R-operation of req has ended with err; the first error
 * of all parts is kept. When it was the last part, the request is complete, and the program may
 * free what it refers to. NULL: nothing happens. Any thread, with or without the lock. */
void origin_discharge(struct rma_req *req, int err);

#endif
