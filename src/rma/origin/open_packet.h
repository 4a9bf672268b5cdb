/*
 * open_packet.h - between the files of the origin's side: the open packet of a
 * (window, target) pair. issue.c puts operations into it, issue_active.c and
 * issue_passive.c send it with what ends an epoch.
 *
 * All under the engine's lock; what may wait says so and gives it up meanwhile.
 */
#ifndef MRMA_RMA_ORIGIN_OPEN_PACKET_H
#define MRMA_RMA_ORIGIN_OPEN_PACKET_H

#include "rma/origin/pair.h"

/* The pair's state for the present epoch; made on first use. NULL: no memory. */
struct pkt_target *pkt_target_get(struct win *w, struct rma_target *t);
/* Remember that the present epoch has used it; forget all such. */
void pkt_target_touch(struct pkt_target *pt);
void pkt_forget_touched(struct win *w);

/* Header of a PKT_OPS of the present epoch, but for len, flags and count. */
void issue_header(const struct pkt_target *pt, struct pkt_hdr *hdr);

/* Which epoch its packets belong to now. */
uint8_t pkt_epoch_kind(const struct pkt_target *pt); /* enum pkt_epoch */

/* Is the epoch known to be open at the target (or has the target reported an
 * error)? A condition for pkt_wait. */
bool pkt_is_opened(void *pt);
bool pkt_surely_opened(const struct pkt_target *pt); /* without the errors */
/* Before a large operation: send what is open, and wait for that condition. */
int pkt_await_open(struct pkt_target *pt);
/* The same for one that goes in so many packets, which few need not wait for; overtakes: it may be
 * applied before what is open. May wait. */
int pkt_await_stream(struct pkt_target *pt, size_t packets, bool overtakes);
/* The packet that leaves next asks for the lock, if that is due. */
void pkt_take_lock(struct pkt_target *pt, struct pkt_hdr *hdr);
/* Ask the target to say when the epoch is open, if nobody has asked yet. */
int pkt_ask_open(struct pkt_target *pt);
/* Wait for a condition on pt. */
int pkt_wait(struct pkt_target *pt, bool (*done)(void *), const char *what);

/* Send the open packet with what rides on it; more: operations of this epoch
 * will follow. May wait. */
int pkt_send_open(struct pkt_target *pt, uint8_t flags, bool more);
/* Make sure that the open packet has at least need bytes of room behind used, and up to wish
 * if a packet may be so long. May wait. */
int pkt_make_room(struct pkt_target *pt, size_t need, size_t wish);
/* The same without sending: false if need bytes do not fit in. */
bool pkt_grow(struct pkt_target *pt, size_t need, size_t wish);

#endif
