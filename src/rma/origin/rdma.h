/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.h - puts and gets that the channel does by itself, from and to user memory, without
 * packets (the network: ch3/channel.h, CH3_CAP_RDMA), and what ends of epochs need of them.
 *
 * They are a path to a target of its own (path_rdma of path/packets.c, entered by issue_rdma of
 * network_ops.c), of targets on the network whose window memory is registered there. Which of the
 * operations on such a target go so is chosen by rdma_choice.h; all others go by packets. Errors of
 * such operations are kept for the window's next synchronization (issue_take_error), and told to
 * their requests.
 */
#ifndef MRMA_RMA_ORIGIN_RDMA_H
#define MRMA_RMA_ORIGIN_RDMA_H

#include <stdbool.h>

#include "ch3/channel.h"
#include "rma/origin/pair.h"

/* rdma_await waits until the channel has done its own puts and gets to pt (NULL: to all targets of
 * w), before a word that ends an epoch is sent there, which could arrive before their data. Without
 * delivered it does not wait for puts over a channel that keeps packets behind the data of earlier
 * puts (ch3_rdma_is_ordered): that serves where the word is a packet to the same target. delivered:
 * it waits for all of them, since the word comes by another way. Returns the errors of
 * rma_wait_until, not those of the operations. Without the engine's lock. May wait. */
int rdma_await(struct win *w, const struct pkt_target *pt, bool delivered);

/* rdma_open makes sure that the present epoch has begun at the target of pt, which the channel's
 * own operations do not ask. MRMA_AGAIN: it has not, and the operation, whose request is req, is to
 * be deferred (path/deferred.h). Under the engine's lock, which it gives up while it waits; errors
 * are those of issue_rdma. */
int rdma_open(struct pkt_target *pt, const struct rma_req *req);

/* rdma_move does a put or get on t by the channel where the rule says so, else by packet. Locks,
 * waits and errors as issue_rdma, and MRMA_AGAIN: nothing was done, and the operation is to be
 * deferred (path/deferred.h). */
int rdma_move(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
              int64_t offset, size_t len);

/* rdma_notify_behind sends the notification of op, which has not gone with the data, by packet
 * behind it: at once, where the channel keeps that order, else when the operation is done. Without
 * the engine's lock. May wait; errors as issue_operate. */
int rdma_notify_behind(struct win *w, struct rma_target *t, const struct rma_op *op);

/* rdma_issue_atomic starts an atomic operation on len bytes at offset of the target's memory, whose
 * epoch has begun there; what was there comes to result. It is outstanding like a get, for the
 * request req too. Under the engine's lock, which it gives up while the channel has no room. Errors
 * are those of issue_rdma. */
int rdma_issue_atomic(struct pkt_target *pt, const struct ch3_atomic *atomic, void *result,
                      uint64_t offset, size_t len, struct rma_req *req);

/* rdma_confirm has a get follow the channel's own puts to pt whose end does not say that their data
 * is in place (ch3_rdma_needs_read), unless one has followed already; the get is outstanding like
 * any other until it is done. Called where all puts must be in place without a packet behind them.
 * Under the engine's lock, which it gives up while the channel has no room. Errors are those of
 * issue_rdma. */
int rdma_confirm(struct pkt_target *pt);

/* rdma_issue_deferred does what issue_rdma does for a put or get that was deferred, without request
 * and notification, in a window that is not dynamic, if the channel can start it at once.
 * MRMA_AGAIN: nothing was done, since that would wait, or takes several parts. MRMA_ERR_NO_MEM: it
 * is to go by packet. For who must not wait (progress/unsent.h). Under the engine's lock. */
int rdma_issue_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                        const struct rma_op *op, int64_t offset, size_t len);

/* rdma_takes_at_once returns whether a contiguous operation of len bytes on t, whose path is that
 * of the channel's own puts and gets, has read the data that it sends when its call returns,
 * whatever way it goes. */
bool rdma_takes_at_once(const struct win *w, const struct rma_target *t, size_t len);

/* rdma_fail ends the channel's puts and gets to pt, for this layer, with err, when nobody waits for
 * them any more. The channel may still use the user's memory, until it calls done. Under the
 * engine's lock. */
void rdma_fail(struct pkt_target *pt, int err);

#endif
