/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies.h - requests of operations that fetch, which wait for replies. Under the engine's lock.
 */
#ifndef MRMA_RMA_ORIGIN_REPLIES_H
#define MRMA_RMA_ORIGIN_REPLIES_H

#include <stdint.h>

#include "rma/origin/pair.h"

struct pkt_hdr;

/* Requests of this engine: none yet. */
void origin_init(struct rma *r);

/* A part of a request-based operation begins, and has ended. req NULL: there is none. */
void origin_charge(struct rma_req *req);
void origin_discharge(struct rma_req *req, int err);

/* A request for op's result; its number goes into the records. The operation's
 * rma_req and the pkt_target are charged with it. MRMA_ERR_NO_MEM. */
int origin_request(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op,
                   uint32_t *number);

/* What an origin may have outstanding, and so what a target may have queued for it. */
enum {
    ORIGIN_PAIR_STREAMS = 64,          /* large operations of a pair of window and target */
    ORIGIN_PAIR_REQUESTS = 4096,       /* requests of such a pair */
    ORIGIN_REQUESTS = 64 * 1024,       /* of the process; beyond that one of a pair */
    ORIGIN_PAIR_FETCHING = 1024 * 1024 /* bytes of results that the target keeps until they leave */
};
/* May pt have another request? */
bool origin_request_room(const struct pkt_target *pt);

/* The operation was not sent after all: forget its request. */
void origin_request_cancel(struct win *w, uint32_t number, int err);
/* The call of an operation with a request fails after parts of it have begun. Replies to it are
 * taken no more. What cannot be taken back ends by itself and needs req and the user's buffers
 * until then: the call has started the operation after all (MRMA_SUCCESS), and req tells the error.
 * Else err, and req may be dropped. */
int origin_abandon(struct pkt_target *pt, struct rma_req *req, int err);

/* A PKT_REPLY or, with err, a PKT_ERROR for a request has come from t. */
bool origin_reply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr,
                  const void *body); /* false: refused */
void origin_error(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr);

/* Nothing will come for pt any more: end all its requests. */
void origin_fail(struct pkt_target *pt, int err);

#endif
