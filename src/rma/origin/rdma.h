/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.h - the way to a target on the network whose window memory is registered there: puts and
 * gets that the channel does by itself, from and to user memory, without packets (ch3/channel.h,
 * CH3_CAP_RDMA). Such targets have a path of their own (path_rdma of path/packets.c). rdma_choice.h
 * chooses which operations on such a target the channel does by itself; all others go by packets.
 */
#ifndef MRMA_RMA_ORIGIN_RDMA_H
#define MRMA_RMA_ORIGIN_RDMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ch3/pkt.h"

struct rma_op;
struct rma_target;
struct win;

/* origin_rdma_operate is origin_operate for a target on the network whose window memory is
 * registered there: the channel does the put or get by itself where the rule says so (rdma.h); else
 * packets do. */
int origin_rdma_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                        const struct rma_op *op, int64_t offset, size_t len);

/* origin_rdma_deferred does what origin_rdma_operate does for a put or get that was deferred,
 * without request and notification, in a window that is not dynamic, if the channel can start it at
 * once. MRMA_AGAIN: nothing was done, since that would wait. MRMA_ERR_NO_MEM: it has to go by
 * packet. It is for callers that must not wait (progress/unsent.h). Under the engine's lock. */
int origin_rdma_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                         const struct rma_op *op, int64_t offset, size_t len);

/* origin_rdma_takes_at_once returns whether a contiguous operation of len bytes on t, whose path is
 * PATH_RDMA, has read the data that it sends when its call returns, whatever way it goes. */
bool origin_rdma_takes_at_once(const struct win *w, const struct rma_target *t, size_t len);

#endif
