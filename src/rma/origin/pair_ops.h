/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair_ops.h - operations by packet: they go into the open packet of the pair of window and target
 * (origin_impl.h), or behind it in packets of their own. A function takes a target of packets, or
 * one that is kernel-assisted and to which single operations go by packet.
 */
#ifndef MRMA_RMA_ORIGIN_PAIR_OPS_H
#define MRMA_RMA_ORIGIN_PAIR_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ch3/pkt.h"

struct rma_op;
struct rma_target;
struct win;

/* origin_operate makes t do the operation op of that kind. A short operation is put into the pair's
 * open packet, and leaves with what follows. One that is long, or has a request, leaves now. One
 * that may not be sent before t has begun its part of the epoch is deferred (rma.defer). Arguments,
 * locks, waits and errors are those of path_ops.operate (win/path_ops.h). */
int origin_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                   const struct rma_op *op, int64_t offset, size_t len);

/* origin_operate_deferred does what origin_operate does, for an operation that was deferred, if
 * that can be done without waiting. True: *err is the result. False: nothing was done. It is for
 * callers that must not wait (progress/unsent.h). Under the engine's lock. */
bool origin_operate_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                             const struct rma_op *op, size_t len, int *err);

/* origin_put_plain does the commonest of what origin_operate does: it puts len bytes at from to
 * offset, in bytes, of t's memory, by a short record in the open packet. The caller knows that the
 * put may go by packet (rma_target.plain_max). Returns false, and has done nothing, where more than
 * this is needed: it is the first operation of the epoch, there is no room in the packet, or the
 * record would not be a short one. Takes the engine's lock, does not wait. */
bool origin_put_plain(struct win *w, struct rma_target *t, const void *from, int64_t offset,
                      size_t len);

/* origin_put_plain_request is origin_put_plain for a put with a request, which is complete when its
 * record is in the packet. It returns false, too, where the put is to leave at once. */
bool origin_put_plain_request(struct win *w, struct rma_target *t, const void *from, int64_t offset,
                              size_t len);

#endif
