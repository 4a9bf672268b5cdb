/*
 * epoch_open.h - between the files of the origin's side: is the epoch open at the target, and what
 * may be sent before that is known.
 *
 * All under the engine's lock; what may wait says so and gives it up meanwhile.
 */
#ifndef MRMA_RMA_ORIGIN_EPOCH_OPEN_H
#define MRMA_RMA_ORIGIN_EPOCH_OPEN_H

#include "rma/origin/pair.h"

/* Which epoch the pair's packets belong to now, enum pkt_epoch. */
uint8_t pkt_epoch_kind(const struct pkt_target *pt);

/* Header of a PKT_OPS of the present epoch without records and flags. */
struct pkt_hdr pkt_ops_header(const struct pkt_target *pt);

/* Is the epoch known to be open at the target, so that any number of packets may be sent? */
bool pkt_epoch_is_open(const struct pkt_target *pt);
/* Conditions for pkt_wait, of a struct pkt_target: the epoch is open, or the target has reported an
 * error; the open packet may be sent, or there is nothing to send any more. */
bool pkt_epoch_open_or_failed(void *pt);
bool pkt_may_send(void *pt);

/* Ask the target to say when the epoch is open, if nobody has asked yet. */
int pkt_ask_open(struct pkt_target *pt);
/* Before a large operation: send what is in the open packet, ask, and wait until the epoch is open,
 * or the target has reported an error. May wait. */
int pkt_await_open(struct pkt_target *pt);
/* The same for one that goes in so many packets, which few need not wait for; overtakes: it may be
 * applied before what is in the open packet. May wait. */
int pkt_await_stream(struct pkt_target *pt, size_t packets, bool overtakes);

/* The lock that was asked for is known to be held. */
void pkt_lock_granted(struct pkt_target *pt);

/* A packet leaves: it asks for the lock, if that is due. */
void pkt_take_lock(struct pkt_target *pt, struct pkt_hdr *hdr);
/* A packet leaves: count it if it is early. Where more of the epoch will follow, it asks in
 * time when the epoch is open. */
void pkt_count_early(struct pkt_target *pt, struct pkt_hdr *hdr, bool more);

#endif
