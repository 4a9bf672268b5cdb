/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_packet.h - shared by the files of the origin's side: the open packet of a (window, target)
 * pair, into which operations are put until it is sent with the end of an epoch or a request for an
 * answer; and whether the pair's epoch is open at the target, which decides when the packet may be
 * sent.
 *
 * An epoch is open at the target when the target has begun its part of it (its post or its fence),
 * or has granted the lock; for MPI_MODE_NOCHECK, when it has passed the fences that this process
 * has passed.
 *
 * Locks: the engine's is held by the caller of each function but origin_wait. Functions that may
 * wait say so and give up the lock meanwhile, so other threads may have changed the pair when they
 * return. Errors are enum mrma_err; functions that wait may return the errors of rma_wait_until,
 * too.
 */
#ifndef MRMA_RMA_ORIGIN_OPEN_PACKET_H
#define MRMA_RMA_ORIGIN_OPEN_PACKET_H

#include "rma/origin/pair.h"

/* ---- the pair ---- */

/* pkt_target_get returns the state of the pair of w and t, which it makes on first use, and brings
 * it up to date for the present epoch: in an epoch of MPI_Win_lock_all a lock on t becomes due. It
 * belongs to the pair until pair_free. NULL: no memory. */
struct pkt_target *pkt_target_get(struct win *w, struct rma_target *t);

/* pkt_target_touch notes that the present epoch has used pt, so that calls that complete all
 * targets find it. */
void pkt_target_touch(struct pkt_target *pt);

/* pkt_forget_touched forgets which targets the ending epoch has used, except those whose last
 * unlock is not acknowledged (mpirma_weak_unlock): the next flush of all targets, and
 * MPI_Win_lock_all, wait for that acknowledgement, whatever epochs come before. */
void pkt_forget_touched(struct win *w);

/* ---- waits ---- */

/* origin_wait waits until done(arg), which is evaluated under the engine's lock. It is called
 * without the lock, and returns without it. what names the condition in reports; rank is the
 * process that it is about (-1: several). */
int origin_wait(struct win *w, bool (*done)(void *), void *arg, const char *what, int rank);

/* pkt_wait waits until done(pt), as origin_wait does; if that is true already it returns
 * MRMA_SUCCESS at once. Unlike origin_wait it is called with the lock, and returns with it. */
int pkt_wait(struct pkt_target *pt, bool (*done)(void *), const char *what);

/* pkt_await_unlocked waits until the end of the pair's last lock epoch is acknowledged, if nobody
 * has waited for that (mpirma_weak_unlock): that acknowledgement must not be taken for one of the
 * next epoch, and only so much may wait at a target. Called before the first operation, and in
 * MPI_Win_lock. May wait. */
int pkt_await_unlocked(struct pkt_target *pt);

/* pkt_make_stream_room waits until pt has fewer large operations under way than it may have
 * (ORIGIN_PAIR_STREAMS). May wait. */
int pkt_make_stream_room(struct pkt_target *pt);

/* pkt_make_ready_now sends the open packet if that has no room for an operation. It returns whether
 * an operation on pt can now be issued, with pt->hurries, without waiting for anything except room
 * for its request: the target has begun its part of the epoch, and there is room in the send queue
 * and for a large operation. Under the engine's lock. */
bool pkt_make_ready_now(struct pkt_target *pt);

/* pkt_make_room makes sure that the open packet has at least need bytes of room behind used, and
 * wish bytes if a packet may be so long: the packet's memory grows, or the packet is sent. need
 * fits into an empty packet. May wait, unless pt->hurries. */
int pkt_make_room(struct pkt_target *pt, size_t need, size_t wish);

/* ---- sending ---- */

/* pkt_send sends the packet of hdr->len bytes that begins with hdr, behind all that the pair has
 * sent; it is copied. It does not ask whether the packet may leave yet. Returns
 * MRMA_ERR_PROC_FAILED or MRMA_ERR_NO_MEM; then the datatypes that the target was sent count as
 * unknown there. */
int pkt_send(struct pkt_target *pt, const struct pkt_hdr *hdr);

/* pkt_send_open sends the open packet, even if it is empty, with flags (enum pkt_flag) piggybacked;
 * it waits until a packet may leave (pkt_may_send_early). If another thread has meanwhile sent what
 * this call was for, nothing is sent. more says that operations of this epoch will follow. May
 * wait. */
int pkt_send_open(struct pkt_target *pt, uint8_t flags, bool more);

/* pkt_send_or_ask sends the open packet, for callers that do not wait. If the packet may not leave
 * before the target has begun its part of the epoch, it is taken out of the list of what is unsent
 * (unsent.h), the target is asked, and the packet leaves when the answer comes (pkt_word_came).
 * Returns the errors of pkt_send. */
int pkt_send_or_ask(struct pkt_target *pt);

/* pkt_word_came is called when any answer of the target has come and was noted. An open packet that
 * had to wait for it leaves; so does one that has an operation with a request, if no other
 * operation awaits an answer. */
void pkt_word_came(struct pkt_target *pt);

/* ---- before the epoch is open ---- */

/* pkt_most_early returns how many packets of the pair may be early at the same time. */
unsigned pkt_most_early(const struct pkt_target *pt);

/* pkt_may_send_early returns whether so many packets may leave now though the epoch is not known to
 * be open: only a few may wait at a target (early.h). */
bool pkt_may_send_early(const struct pkt_target *pt, size_t packets);

/* pkt_wait_opened waits until done(pt), which is true at the latest when the target has begun its
 * part of the epoch; a trace shows the wait as one for that. May wait. */
int pkt_wait_opened(struct pkt_target *pt, bool (*done)(void *));

/* pkt_ask_open asks the target to say when the epoch is open, unless it is known to be open, the
 * target was asked already, or the end of the last access epoch has asked for the post. Returns the
 * errors of pkt_send. Does not wait. */
int pkt_ask_open(struct pkt_target *pt);

#endif
