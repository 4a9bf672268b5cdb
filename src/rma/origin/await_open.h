/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * await_open.h - operations that may not leave before their target has begun its part of the epoch:
 * they are deferred, or their calls wait. Locks and errors are those of open_packet.h.
 */
#ifndef MRMA_RMA_ORIGIN_AWAIT_OPEN_H
#define MRMA_RMA_ORIGIN_AWAIT_OPEN_H

#include "rma/origin/pair.h"

/* pkt_may_defer returns whether an operation with this request (NULL: without one) may wait outside
 * of packets until the target opens the epoch (path/deferred.h). It may in windows that strict mode
 * does not watch, unless it has a request: a request must complete even if this process
 * synchronizes with nobody. */
bool pkt_may_defer(const struct pkt_target *pt, const struct rma_req *req);

/* pkt_open_soon is called for an operation that must not be sent before the epoch is open and that
 * may be deferred: it asks the target, and waits for the answer, but only once in an epoch and for
 * conf.tune.defer_wait at most. Returns MRMA_SUCCESS if the epoch is open, MRMA_AGAIN if it is not
 * open yet. May wait. */
int pkt_open_soon(struct pkt_target *pt);

/* pkt_await_open is called before a large operation: it sends the open packet, asks the target, and
 * waits until the epoch is open. Returns MRMA_ERR_RMA_SYNC if the target has refused a packet of
 * the epoch. May wait. */
int pkt_await_open(struct pkt_target *pt);

/* pkt_await_stream is called before a large operation that leaves in so many packets (SIZE_MAX:
 * unknown) and that is not put into the open packet: it waits as pkt_await_open does, unless the
 * packets are so few that they may leave early. The open packet leaves first, unless the operation
 * may be applied before what is in it (overtakes). May wait. */
int pkt_await_stream(struct pkt_target *pt, size_t packets, bool overtakes);

#endif
