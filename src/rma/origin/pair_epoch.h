/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair_epoch.h - the present epoch of a pair of window and target (pair.h): of what kind its
 * packets are, and whether it is open at the target; and the lock that the first packet of the
 * epoch asks for.
 *
 * Locks: the caller holds the engine's. Nothing here waits or sends.
 */
#ifndef MRMA_RMA_ORIGIN_PAIR_EPOCH_H
#define MRMA_RMA_ORIGIN_PAIR_EPOCH_H

#include "rma/origin/pair.h"

/* pkt_epoch_kind returns which kind of epoch packets that are sent now belong to, enum pkt_epoch.
 */
uint8_t pkt_epoch_kind(const struct pkt_target *pt);

/* pkt_ops_header returns the header of a PKT_OPS of the present epoch, without records and flags.
 */
struct pkt_hdr pkt_ops_header(const struct pkt_target *pt);

/* pkt_epoch_is_open returns whether the epoch is known to be open at the target, and everything
 * sent before is known to be applied there, so that any number of packets may be sent. */
bool pkt_epoch_is_open(const struct pkt_target *pt);

/* pkt_lock_granted notes that the target has granted the lock that was asked for as number seq.
 * Nothing happens if that is not the lock that is being waited for. */
void pkt_lock_granted(struct pkt_target *pt, uint32_t seq);

/* pkt_epoch_answered notes that a reply or an acknowledgement has come for what was sent in the
 * lock epoch number lock_seq, or in one without a lock: the target has applied it, so the epoch is
 * open there. */
void pkt_epoch_answered(struct pkt_target *pt, uint32_t lock_seq);

/* pkt_take_lock makes hdr, the header of a packet that is about to leave, carry the request for the
 * pair's lock, if one is due; it is not due any more then. It is for packets of streams;
 * pkt_send_open does this by itself. */
void pkt_take_lock(struct pkt_target *pt, struct pkt_hdr *hdr);

#endif
