/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.h - puts and gets that the channel does by itself, from and to user memory, without packets
 * (on the network: ch3/channel.h, CH3_CAP_RDMA), and how the ends of epochs wait for them.
 *
 * Targets on the network whose window memory is registered there have a path of their own
 * (path_rdma of path/packets.c, entered by issue_rdma of network_ops.c). rdma_choice.h chooses
 * which operations on such a target the channel does by itself; all others go by packets. Errors of
 * such operations are kept for the window's next synchronization (issue_take_error), and told to
 * their requests.
 */
#ifndef MRMA_RMA_ORIGIN_RDMA_H
#define MRMA_RMA_ORIGIN_RDMA_H

#include <stdbool.h>

#include "ch3/channel.h"
#include "rma/origin/pair.h"

/* rdma_await waits until the puts and gets of the channel to pt are done (NULL: to all targets of
 * w), before a message that ends an epoch is sent there, which could arrive before their data.
 * Without delivered it does not wait for puts over a channel that keeps packets behind the data of
 * earlier puts (ch3_rdma_is_ordered): that is enough where the message is a packet to the same
 * target. With delivered it waits for all of them, since the message comes by another way. Returns
 * the errors of rma_wait_until, not those of the operations. Without the engine's lock. May
 * wait. */
int rdma_await(struct win *w, const struct pkt_target *pt, bool delivered);

/* rdma_open makes sure that the present epoch has begun at the target of pt, since operations of
 * the channel do not ask for that. MRMA_AGAIN: it has not begun, and the operation, whose request
 * is req, is to be deferred (path/deferred.h). Under the engine's lock, which it gives up while it
 * waits; errors are those of issue_rdma. */
int rdma_open(struct pkt_target *pt, const struct rma_req *req);

/* rdma_move does a put or get on t by the channel where the rule says so, else by packet. Locks,
 * waits and errors are those of issue_rdma, and MRMA_AGAIN: nothing was done, and the operation is
 * to be deferred (path/deferred.h). */
int rdma_move(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
              int64_t offset, size_t len);

/* rdma_notify_behind sends the notification of op, which has not gone with the data, by packet
 * behind the data: at once where the channel keeps that order, else when the operation is done.
 * Without the engine's lock. May wait; errors as issue_operate. */
int rdma_notify_behind(struct win *w, struct rma_target *t, const struct rma_op *op);

/* rdma_issue_atomic starts an atomic operation on len bytes at offset of the target's memory, whose
 * epoch has begun there; the old contents come to result. It is outstanding like a get, also for
 * the request req. Under the engine's lock, which it gives up while the channel has no room. Errors
 * are those of issue_rdma. */
int rdma_issue_atomic(struct pkt_target *pt, const struct ch3_atomic *atomic, void *result,
                      uint64_t offset, size_t len, struct rma_req *req);

/* rdma_confirm starts a get behind the channel's puts to pt if their end does not say that their
 * data is in place (ch3_rdma_needs_read), unless a get has followed them already. The get is
 * outstanding like any other until it is done. It is called where all puts must be in place and no
 * packet follows them. Under the engine's lock, which it gives up while the channel has no room.
 * Errors are those of issue_rdma. */
int rdma_confirm(struct pkt_target *pt);

/* rdma_issue_deferred does what issue_rdma does for a put or get that was deferred, without request
 * and notification, in a window that is not dynamic, if the channel can start it at once.
 * MRMA_AGAIN: nothing was done, since that would wait. MRMA_ERR_NO_MEM: it has to go by packet. It
 * is for callers that must not wait (progress/unsent.h). Under the engine's lock. */
int rdma_issue_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                        const struct rma_op *op, int64_t offset, size_t len);

/* rdma_takes_at_once returns whether a contiguous operation of len bytes on t, whose path is
 * PATH_RDMA, has read the data that it sends when its call returns, whatever way it goes. */
bool rdma_takes_at_once(const struct win *w, const struct rma_target *t, size_t len);

/* rdma_fail ends the channel's puts and gets to pt with err, as far as this layer is concerned,
 * when nobody waits for them any more. The channel may still use the user's memory, until it calls
 * done. Under the engine's lock. */
void rdma_fail(struct pkt_target *pt, int err);

#endif
