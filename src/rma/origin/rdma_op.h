/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma_op.h - one operation that the channel does by itself, from and to user memory, without
 * packets (on the network: ch3/channel.h, CH3_CAP_RDMA): a part of a put or get, or an atomic
 * operation; and how the ends of epochs wait for such operations. For the files of src/rma/origin.
 *
 * Errors of such operations are kept for the window's next synchronization (origin_take_error), and
 * told to their requests.
 */
#ifndef MRMA_RMA_ORIGIN_RDMA_OP_H
#define MRMA_RMA_ORIGIN_RDMA_OP_H

#include <stdbool.h>

#include "ch3/channel.h"
#include "rma/origin/origin_impl.h"

struct origin_key;

/* Data that are moved in one part. */
struct origin_rdma_part {
    bool put;
    char *local;
    uint64_t remote; /* offset from the beginning of the target's memory; for a region the
                        address */
    size_t len;
    struct rma_req *req;
    struct origin_key *key;          /* key of the region; NULL: the window's memory */
    const struct ch3_atomic *atomic; /* NULL: a put or get */
    uint32_t word;                   /* word that the put carries; 0: none */
};

/* origin_rdma_start starts p, which is no longer than the channel takes. It is one of the pair's
 * streams until it is done, unless the channel has taken the data with the call. Under the engine's
 * lock, which it gives up while the pair has too many streams or the channel has no room. Errors
 * are those of origin_rdma_operate (rdma.h); MRMA_ERR_NO_MEM: packets may do it. */
int origin_rdma_start(struct origin_pair *pair, const struct origin_rdma_part *p);

/* origin_rdma_start_at_once is origin_rdma_start for callers that must not wait. MRMA_AGAIN: the
 * channel has no room, and nothing was done. */
int origin_rdma_start_at_once(struct origin_pair *pair, const struct origin_rdma_part *p);

/* origin_rdma_atomic starts an atomic operation on len bytes at offset of the target's memory,
 * whose epoch has begun there; the old contents come to result. It is outstanding like a get, also
 * for the request req. Under the engine's lock, which it gives up while the channel has no room.
 * Errors are those of origin_rdma_operate. */
int origin_rdma_atomic(struct origin_pair *pair, const struct ch3_atomic *atomic, void *result,
                       uint64_t offset, size_t len, struct rma_req *req);

/* origin_rdma_confirm starts a get behind the channel's puts to pair if their end does not say that
 * their data is in place (ch3_rdma_needs_read), unless a get has followed them already. The get is
 * outstanding like any other until it is done. It is called where all puts must be in place and no
 * packet follows them. Under the engine's lock, which it gives up while the channel has no room.
 * Errors are those of origin_rdma_operate. */
int origin_rdma_confirm(struct origin_pair *pair);

/* origin_rdma_await waits until the puts and gets of the channel to pair are done (NULL: to all
 * targets of w), before a message that ends an epoch is sent there, which could arrive before their
 * data. Without delivered it does not wait for puts over a channel that keeps packets behind the
 * data of earlier puts (ch3_rdma_is_ordered): that is enough where the message is a packet to the
 * same target. With delivered it waits for all of them, since the message comes by another way.
 * Returns the errors of rma_wait_until, not those of the operations. Without the engine's lock. May
 * wait. */
int origin_rdma_await(struct win *w, const struct origin_pair *pair, bool delivered);

/* origin_rdma_fail ends the channel's puts and gets to pair with err, as far as this layer is
 * concerned, when nobody waits for them any more. The channel may still use the user's memory,
 * until it calls done. Under the engine's lock. */
void origin_rdma_fail(struct origin_pair *pair, int err);

#endif
