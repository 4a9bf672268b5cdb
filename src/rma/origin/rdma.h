/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.h - large puts and gets that the channel does by itself, from and to user memory, without
 * packets (the network: ch3/channel.h, CH3_CAP_RDMA), and what ends of epochs need of them.
 *
 * They are a path to a target of its own (path_rdma of path/packets.c, entered by issue_rdma of
 * issue.h), of targets on the network whose window memory is registered there. Both sides must be
 * contiguous and the operation not shorter than the channel finds worth it; all others go by
 * packets.
 * Under the engine's lock, but for rdma_await.
 */
#ifndef MRMA_RMA_ORIGIN_RDMA_H
#define MRMA_RMA_ORIGIN_RDMA_H

#include <stdbool.h>

#include "rma/origin/pair.h"

/* Before what ends an epoch leaves towards pt (NULL: all targets): wait for what it could
 * overtake. delivered: for all of them, as what leaves takes another way. Called without
 * the lock. May wait. */
int rdma_await(struct win *w, const struct pkt_target *pt, bool delivered);

/* Nobody waits any more for those to pt: their requests end with err. The channel may
 * still use the user's memory. */
void rdma_fail(struct pkt_target *pt, int err);

#endif
