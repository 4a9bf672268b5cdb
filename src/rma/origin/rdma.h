/*
 * rdma.h - large puts and gets that the channel does by itself, from and to user
 * memory, without packets (the network: ch3/channel.h, CH3_CAP_RDMA).
 *
 * Used where the window's memory is registered at the target, both sides are
 * contiguous and the operation is not shorter than the channel finds worth it.
 * Under the engine's lock, but for rdma_settle.
 */
#ifndef MRMA_RMA_ORIGIN_RDMA_H
#define MRMA_RMA_ORIGIN_RDMA_H

#include <stdbool.h>

#include "rma/origin/pair.h"

/* Can this operation go without packets? */
bool rdma_serves(const struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op);

/* Start it, the epoch being open at the target. Counted with the streams of pt until it is
 * done. MRMA_AGAIN: nothing has been done, use packets. May wait. */
int rdma_issue(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op);

/* Before what ends an epoch leaves towards pt (NULL: all targets): wait for what it could
 * overtake. delivered: for all of them, as what leaves takes another way. Called without
 * the lock. May wait. */
int rdma_settle(struct win *w, const struct pkt_target *pt, bool delivered);

/* Nobody waits any more for those to pt: their requests end with err. The channel may
 * still use the user's memory. */
void rdma_fail(struct pkt_target *pt, int err);

/* The window ends: no peer may reach its memory any more. */
void rdma_close(struct win *w);

#endif
