/*
 * handover.h - operations of passive target epochs that a kernel-assisted target does itself.
 *
 * Where the target polls, or has just polled (rma_peer_attentive), what would take system
 * calls goes to it by packet instead, through the ring. Its lock is taken as always, in
 * shared memory; the packets ask for none (PKT_EPOCH_NOCHECK). What was handed over is done
 * when the target has acknowledged it, which flush and unlock wait for; only then is the
 * lock given back. If the target does not poll in time its agent is woken and does it.
 */
#ifndef MRMA_RMA_HANDOVER_H
#define MRMA_RMA_HANDOVER_H

#include "rma/issue.h"
#include "rma/win.h"

/* What the kernel takes to copy between processes, in percent of memcpy's time (0: not known). It decides from which size
 * on contiguous puts and gets are handed over. Before there are windows. */
void handover_price(struct rma *r, unsigned percent);

/* Shall this operation of len > 0 bytes be handed over? t is kernel-assisted and accessible, and
 * the arguments are right. */
bool handover_serves(const struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                     size_t len);
/* Do so. May wait. */
int handover_op(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op);

/* A packet of operations leaves for a direct target in a passive epoch; MRMA_AGAIN: it has to be queued.
 * Under the lock. Who waits for what it does must call handover_hurry after a short while. */
int handover_send(struct pkt_target *pt, const struct pkt_hdr *hdr);
/* What has left is not done yet; with wake: the target's agent shall do it. Under the lock. */
void handover_hurry(struct pkt_target *pt, bool wake);

/* issue_flush has returned for t, or NULL: for all; forget what is done now. */
void handover_flushed(struct win *w, struct rma_target *t);
/* The epoch of t, or of all, is over. */
void handover_end(struct win *w, struct rma_target *t);

#endif
