/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_packet.h - between the files of the origin's side: the open packet of a (window, target)
 * pair, into which operations are put until it is sent with what ends an epoch or asks for an
 * answer, and whether the pair's epoch is open at the target, which says when it may be sent.
 *
 * All under the engine's lock; what may wait says so and gives it up meanwhile.
 */
#ifndef MRMA_RMA_ORIGIN_OPEN_PACKET_H
#define MRMA_RMA_ORIGIN_OPEN_PACKET_H

#include "rma/origin/pair.h"

/* The pair's state for the present epoch; made on first use. NULL: no memory. */
struct pkt_target *pkt_target_get(struct win *w, struct rma_target *t);
/* Remember that the present epoch has used it; forget all such, but for those whose last unlock is
 * not acknowledged (mpirma_weak_unlock): the next flush of all targets, and MPI_Win_lock_all, wait
 * for that, whatever epochs come before. */
void pkt_target_touch(struct pkt_target *pt);
void pkt_forget_touched(struct win *w);

/* Which epoch the pair's packets belong to now, enum pkt_epoch. */
uint8_t pkt_epoch_kind(const struct pkt_target *pt);
/* Header of a PKT_OPS of the present epoch without records and flags. */
struct pkt_hdr pkt_ops_header(const struct pkt_target *pt);
/* Is the epoch known to be open at the target, and what was sent before known to be applied there,
 * so that any number of packets may be sent? */
bool pkt_epoch_is_open(const struct pkt_target *pt);
/* The lock that was asked for by the pair's request number seq is known to be held. */
void pkt_lock_granted(struct pkt_target *pt, uint32_t seq);
/* A reply or an acknowledgement has come, in the epoch of that lock number: what it answers was
 * applied, so the epoch has begun there. */
void pkt_epoch_answered(struct pkt_target *pt, uint32_t lock_seq);

/* Wait for a condition of the origin's side, evaluated under the engine's lock: called and
 * returning without it. what names the condition in reports, rank whom it is about (-1: several).
 * The errors of rma_wait_until. */
int origin_wait(struct win *w, bool (*done)(void *), void *arg, const char *what, int rank);
/* The same for a condition on pt, called and returning with the lock. */
int pkt_wait(struct pkt_target *pt, bool (*done)(void *), const char *what);

/* Wait until the end of the last lock epoch is acknowledged, if nobody has (mpirma_weak_unlock):
 * that acknowledgement must not be taken for one of the next epoch, and what a target parks is
 * bounded. Before the first operation, and in MPI_Win_lock. */
int pkt_await_unlocked(struct pkt_target *pt);

/* Wait until pt may have another large operation. May wait. */
int pkt_make_stream_room(struct pkt_target *pt);

/* Send a packet of the pair; it is copied. MRMA_ERR_PROC_FAILED, MRMA_ERR_NO_MEM. */
int pkt_send(struct pkt_target *pt, const struct pkt_hdr *hdr);
/* Send the open packet with these flags piggybacked, enum pkt_flag; more: operations of this epoch
 * will follow. May wait. */
int pkt_send_open(struct pkt_target *pt, uint8_t flags, bool more);
/* Make sure that the open packet has at least need bytes of room behind used, and up to wish
 * if a packet may be so long. May wait. */
int pkt_make_room(struct pkt_target *pt, size_t need, size_t wish);

/* May so many packets leave now, before the target is known to have opened the epoch? */
bool pkt_may_send_early(const struct pkt_target *pt, size_t packets);
/* May an operation wait outside of packets for the target to open the epoch (path/deferred.h)? That
 * is so in windows that strict mode does not watch, unless it has a request, which must come to its
 * end though this process synchronizes with nobody. */
bool pkt_may_defer(const struct pkt_target *pt, const struct rma_req *req);
/* An operation that must not be sent before the target has opened the epoch: ask for its word,
 * which is awaited as long as it takes at most to come from a target that is there. MRMA_SUCCESS:
 * it is open; MRMA_AGAIN: not yet. May wait, for RMA_LATE_TARGET_WAIT_US at most. */
int pkt_open_soon(struct pkt_target *pt);
/* Ask the target to say when the epoch is open, if nobody has asked yet. The errors of pkt_send. */
int pkt_ask_open(struct pkt_target *pt);
/* Before a large operation: send what is in the open packet, ask, and wait until the epoch is open.
 * MRMA_ERR_RMA_SYNC: the target has refused it. May wait. */
int pkt_await_open(struct pkt_target *pt);
/* The same for one that goes in so many packets, which few need not wait for; overtakes: it may be
 * applied before what is in the open packet. May wait. */
int pkt_await_stream(struct pkt_target *pt, size_t packets, bool overtakes);
/* A packet that the pair does not send itself leaves: it asks for the lock, if that is due. */
void pkt_take_lock(struct pkt_target *pt, struct pkt_hdr *hdr);

#endif
