/*
 * open_packet.h - between the files of the origin's side: the open packet of a
 * (window, target) pair. operation.c puts operations into it, epoch_end.c and completion.c
 * send it with what ends an epoch or asks for an answer.
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

/* Wait for a condition on pt. Called and returning with the engine's lock, which is given up
 * meanwhile; what names the condition in reports. */
int pkt_wait(struct pkt_target *pt, bool (*done)(void *), const char *what);

/* Send a packet of the pair; it is copied. MRMA_ERR_PROC_FAILED, MRMA_ERR_NO_MEM. */
int pkt_send(struct pkt_target *pt, const struct pkt_hdr *hdr);
/* Send the open packet with these flags piggybacked, enum pkt_flag; more: operations of this epoch
 * will follow. May wait. */
int pkt_send_open(struct pkt_target *pt, uint8_t flags, bool more);
/* Make sure that the open packet has at least need bytes of room behind used, and up to wish
 * if a packet may be so long. May wait. */
int pkt_make_room(struct pkt_target *pt, size_t need, size_t wish);
/* The same without sending: false if need bytes do not fit in. */
bool pkt_grow(struct pkt_target *pt, size_t need, size_t wish);

#endif
