/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies.h - requests of operations that fetch, which wait for replies.
 *
 * Two things are called a request: struct rma_req is that of an MPI R-operation, whose parts are
 * counted by origin_charge and origin_discharge; a request by number stands for one fetching
 * operation by packet that awaits its reply, which names the number.
 *
 * Locks: the caller holds the engine's lock, except for origin_charge and origin_discharge, which
 * need none. Nothing here waits.
 */
#ifndef MRMA_RMA_ORIGIN_REPLIES_H
#define MRMA_RMA_ORIGIN_REPLIES_H

#include <stdint.h>

#include "rma/origin/pair.h"

struct pkt_hdr;

/* origin_init makes the layer's table of requests by number, which is empty. Called at the layer's
 * start, before anybody else sees r. */
void origin_init(struct rma *r);

/* origin_fini frees the table, which is empty, and what is kept for later requests. */
void origin_fini(struct rma *r);

/* origin_charge notes that one more part of the R-operation of req is under way, so that req is not
 * complete before that part's origin_discharge. NULL: nothing happens. Any thread, with or without
 * the lock. */
void origin_charge(struct rma_req *req);

/* origin_discharge notes that a part of the R-operation of req has ended with err; the first error
 * of all parts is kept. When it was the last part, the request is complete, and the program may
 * free what it refers to. NULL: nothing happens. Any thread, with or without the lock. */
void origin_discharge(struct rma_req *req, int err);

/* origin_request makes a request by number for the result of op, which is of that fetching kind,
 * and sets *number, which goes into the records of the operation. op->req, if there is one, and pt
 * are charged with it until it ends. The buffer of the result is the library's until then; of the
 * datatype it takes a reference. MRMA_ERR_NO_MEM. */
int origin_request(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op,
                   uint32_t *number);

/* How much an origin may have outstanding, and so how much a target may have queued for it. */
enum {
    ORIGIN_PAIR_STREAMS = 64,          /* large operations of a pair */
    ORIGIN_PAIR_REQUESTS = 4096,       /* requests by number of a pair */
    ORIGIN_REQUESTS = 64 * 1024,       /* requests by number of the process; when they are used up
                                          each pair may have one */
    ORIGIN_PAIR_FETCHING = 1024 * 1024 /* bytes of results that the target keeps until they leave */
};

/* origin_request_room returns whether pt may have another request by number, within these limits.
 */
bool origin_request_room(const struct pkt_target *pt);

/* origin_request_cancel ends the request by that number with err, since its operation was not sent
 * after all. Nothing happens if it has ended. */
void origin_request_cancel(struct win *w, uint32_t number, int err);

/* origin_abandon is called when the call of the R-operation of req fails with err after parts of it
 * have begun. Its requests by number end, so that replies to them are not taken any more. Parts
 * that cannot be taken back end by themselves and need req and the user's buffers until then: in
 * that case the function returns MRMA_SUCCESS, since the call has started the operation after all,
 * and req will return the error. Otherwise it returns err, and the caller may drop req. */
int origin_abandon(struct pkt_target *pt, struct rma_req *req, int err);

/* origin_reply takes a PKT_REPLY of t: puts its parts into the buffers of the requests that they
 * name, and ends those that are complete. Returns false, with a message, if a part was refused. */
bool origin_reply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body);

/* origin_error takes a PKT_ERROR of t: the window's next synchronization returns its error, and the
 * request by number that it names, or all requests of the pair, end with that error. Instead the
 * packet may tell that a process is lost (win_lost_got). */
void origin_error(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr);

/* origin_fail ends all requests by number of pt with err, since nothing will come for it any more.
 */
void origin_fail(struct pkt_target *pt, int err);

#endif
