/*
 * handover.h - operations that a kernel-assisted target does itself: of passive target epochs, and, if it
 * polls, of others.
 *
 * Where the target polls, or has just polled (rma_peer_attentive), what would take system
 * calls goes to it by packet instead, through the ring. Its lock is taken as always, in
 * shared memory; the packets ask for none (PKT_EPOCH_NOCHECK). What was handed over is done
 * when the target has acknowledged it, which flush and unlock wait for; only then is the
 * lock given back. If the target does not poll in time its agent is woken and does it. In fence and PSCW epochs
 * its end is the epoch's.
 */
#ifndef MRMA_RMA_HANDOVER_H
#define MRMA_RMA_HANDOVER_H

#include "rma/issue.h"
#include "rma/win.h"

/* Shall this operation of len > 0 bytes be handed over? t is kernel-assisted and accessible, and
 * the arguments are right. */
bool handover_serves(const struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                     size_t len);
/* Do so. May wait. */
int handover_op(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op);
/* Or not: an accumulate of len bytes, or a put or get of so many contiguous ones, by system calls, which are timed now
 * and then. */
int handover_declined(const struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                      uint64_t vaddr, size_t len);

/* A packet of operations leaves for a direct target in a passive epoch; MRMA_AGAIN: it has to be queued.
 * Under the lock. Who waits for what it does must call handover_hurry after a short while. */
int handover_send(struct pkt_target *pt, const struct pkt_hdr *hdr);
/* What has left is not done yet; with wake: the target's agent shall do it. Under the lock. */
void handover_hurry(struct pkt_target *pt, bool wake);

/* Time spent waiting for t, or NULL: for all, belongs to what was handed over to it: the clock before that, and what follows
 * it. 0: not of interest. */
uint64_t handover_clock(const struct rma *r);
void handover_waited(struct win *w, struct rma_target *t, uint64_t begin);

/* issue_flush has returned for t, or NULL: for all; forget what is done now. */
void handover_flushed(struct win *w, struct rma_target *t);
/* The epoch of t, or of all, is over. */
void handover_end(struct win *w, struct rma_target *t);
/* The access epoch of fence or PSCW is about to end, and nothing is in open packets: wait until all answers are here and the
 * rest lies in the targets' rings; forget it. May wait. */
int handover_settle(struct win *w);

#endif
