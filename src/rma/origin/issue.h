/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * issue.h - the origin's side of packets: operations that go into open packets, and the
 * synchronization that is piggybacked on these.
 *
 * Every (window, target) pair has one open packet (struct pkt_target, pair.h), which is made when
 * the pair is first used. Functions take a target of packets, or one that is kernel-assisted and to
 * which single operations go by packet, unless they say otherwise.
 *
 * Locks: a function that may wait is called without the engine's lock, takes it itself, and gives
 * it up while it waits; the others are called with it. Each says which it is. What a function
 * returns is an enum mrma_err. Functions that send may return MRMA_ERR_PROC_FAILED (logged), where
 * the connection to the target is lost, and MRMA_ERR_NO_MEM; functions that wait may also return
 * the errors of rma_wait_until.
 */
#ifndef MRMA_RMA_ORIGIN_ISSUE_H
#define MRMA_RMA_ORIGIN_ISSUE_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/origin/pair.h"
#include "rma/rma.h"

/* issue_init makes the origin's side of the new window w: no pair has been used. Nothing is
 * allocated. Called before anybody else sees w. */
void issue_init(struct win *w);

/* ---- operations ---- */

/* issue_operate makes t do the operation op of that kind. A short operation is put into the pair's
 * open packet, and leaves with what follows. One that is long, or has a request, leaves now. One
 * that may not be sent before t has begun its part of the epoch is deferred (rma.defer). Arguments,
 * locks, waits and errors are those of path_ops.operate (win/path_ops.h). */
int issue_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len);

/* issue_deferred does what issue_operate does, for an operation that was deferred, if that can be
 * done without waiting. True: *err is the result. False: nothing was done. It is for callers that
 * must not wait (progress/unsent.h). Under the engine's lock. */
bool issue_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, size_t len, int *err);

/* issue_plain does the commonest of what issue_operate does: it puts len bytes at from to offset,
 * in bytes, of t's memory, by a short record in the open packet. The caller knows that the put may
 * go by packet (rma_target.plain_max). Returns false, and has done nothing, where more than this is
 * needed: it is the first operation of the epoch, there is no room in the packet, or the record
 * would not be a short one. Takes the engine's lock, does not wait. */
bool issue_plain(struct win *w, struct rma_target *t, const void *from, int64_t offset, size_t len);

/* issue_plain_request is issue_plain for a put with a request, which is complete when its record is
 * in the packet. It returns false, too, where the put is to leave at once. */
bool issue_plain_request(struct win *w, struct rma_target *t, const void *from, int64_t offset,
                         size_t len);

/* issue_rdma is issue_operate for a target on the network whose window memory is registered there:
 * the channel does the put or get by itself where the rule says so (rdma.h); else packets do. */
int issue_rdma(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
               int64_t offset, size_t len);

/* ---- active target epochs ---- */

/* issue_is_open returns whether t is known to have begun its part of the present active target
 * epoch (it has posted, or has come to the fence), so that any number of packets may be sent. If
 * nothing was ever sent to t it returns false. Under the engine's lock. */
bool issue_is_open(const struct rma_target *t);

/* issue_await_open asks t to say when it has begun its part of the present active target epoch, and
 * waits for the answer; the open packet leaves first. Returns MRMA_ERR_RMA_SYNC if t has refused a
 * packet of this epoch, and so may never answer. May wait. */
int issue_await_open(struct win *w, struct rma_target *t);

/* issue_epoch_lasts returns whether packets that leave now belong to the epoch of the operations
 * that wait. They do not between the moment at which MPI_Win_fence with MPI_MODE_NOSUCCEED has
 * ended the epoch and issue_closing. Under the engine's lock. */
bool issue_epoch_lasts(const struct win *w);

/* issue_closing sets whether MPI_Win_fence is ending a fence phase (closing). While it is, packets
 * belong to that phase, although by the state of the window its epoch is over already. Takes the
 * engine's lock, does not wait. */
void issue_closing(struct win *w, bool closing);

/* issue_fence ends a fence phase by markers: it sends one to every packet target of the window,
 * used or not, behind the phase's operations; and waits for those puts and gets of the channel that
 * a marker could overtake. It does not wait for the markers of others. May wait. */
int issue_fence(struct win *w);

/* issue_marker sends the marker to t alone. It is the function end_phase of the synchronization by
 * packets (win/sync_ops.h). Under the engine's lock, which it gives up while it waits to send. */
int issue_marker(struct win *w, struct rma_target *t);

/* issue_phase sends the operations of the ending fence phase that have not left yet, and no
 * markers, for fences that end by counts (sync/fence_counts.h). Puts and gets that the channel does
 * by itself are done when it returns. May wait. */
int issue_phase(struct win *w);

/* issue_phase_next lists how many bytes went by packet in the phase that issue_phase has sent: it
 * sets *rank and *bytes for the next target that got any, and sets that target's count back to 0.
 * *at is NULL in the first call; later calls get what the call before has left in it. Returns false
 * if there are no more. Under the engine's lock, which is kept from the first call to the last. */
bool issue_phase_next(struct win *w, struct pkt_target **at, int *rank, uint64_t *bytes);

/* issue_phase_end forgets which targets the ending fence phase has used. Under the engine's lock.
 */
void issue_phase_end(struct win *w);

/* issue_completing begins the end of an access epoch of MPI_Win_start, before any target is told of
 * the end: it waits for those puts and gets of the channel that this message could overtake. May
 * wait. */
int issue_completing(struct win *w);

/* issue_complete tells t that the access epoch to it has ended, behind all operations of the epoch.
 * It is the function complete of the synchronization by packets (win/sync_ops.h). It may wait until
 * it can send. */
int issue_complete(struct win *w, struct rma_target *t);

/* issue_completed follows the issue_complete of all targets, and waits until the replies to this
 * process's operations have come and everything that it sends has left. err is the first error of
 * these calls; if there was one, issue_completed does not wait, and returns err. May wait. */
int issue_completed(struct win *w, int err);

/* ---- passive target epochs ---- */

/* issue_lock_begin begins an epoch of MPI_Win_lock on t, whose kind is in rma_target.lock, or the
 * use of t in one of MPI_Win_lock_all. Usually nothing is sent, since the first packet of the epoch
 * asks for the lock. The lock is asked for, and awaited, at once in two cases: where the program
 * may use load and store under it (MPI_Win_allocate_shared), and where another thread's lock has
 * not been asked for yet. May wait: in these cases, and for the acknowledgement of an earlier
 * unlock for which nobody has waited (mpirma_weak_unlock). */
int issue_lock_begin(struct win *w, struct rma_target *t);

/* issue_lock_await asks for the lock that this thread took last, in whatever window, if that was
 * not asked for yet, and waits until it is granted. It is called before the thread locks one more
 * target. So locks are acquired in the order of the calls, and a program that takes several locks
 * in an order of its own cannot deadlock. Returns MRMA_SUCCESS also where the target has refused
 * the request: the error is kept for the next synchronization. May wait. */
int issue_lock_await(struct rma *r);

/* issue_await_unlocked is called before MPI_Win_lock_all. In a window with mpirma_weak_unlock it
 * waits until all unlocks are acknowledged, since an exclusive lock that is still held would wait
 * for this process, which then holds all locks. In other windows it returns at once. May wait. */
int issue_await_unlocked(struct win *w);

/* issue_flush completes what was issued to t, or, if t is NULL, to all targets: at the target, or,
 * if local is true, so far that the buffers here may be used again. Requests go to all targets with
 * something outstanding before the first answer is awaited. It also returns the first error that a
 * target has reported since the last synchronization. It is the function flush of the paths by
 * packets. May wait. */
int issue_flush(struct win *w, struct rma_target *t, bool local);

/* issue_push sends the open packets of a passive epoch, and does not flush. If a packet may not
 * leave before its target has granted the lock it waits for that. Returns the errors of
 * pkt_send_open (open_packet.h); after an error other packets may not have left. May wait. */
int issue_push(struct win *w);

/* issue_lock_end completes what was issued to t, at the target, and gives back the lock on t if it
 * was asked for by packet. With mpirma_weak_unlock it waits for local completion only. Whatever it
 * returns, the epoch has ended for the pair. Errors are those of issue_flush. It is the function
 * unlock of the paths by packets. May wait. */
int issue_lock_end(struct win *w, struct rma_target *t);

/* issue_unlock_all does what issue_lock_end does, for all targets that the epoch of
 * MPI_Win_lock_all has used. The requests to all leave before the first answer is awaited. May
 * wait. */
int issue_unlock_all(struct win *w);

/* ---- what is outstanding ---- */

/* issue_all_done returns whether all that was issued to t by packet is done at the target, as far
 * as this process knows. Under the engine's lock. */
bool issue_all_done(const struct rma_target *t);

/* issue_requests_due returns whether any operation of w awaits a reply, or is a large operation
 * that has not left in full. Under the engine's lock. */
bool issue_requests_due(const struct win *w);

/* issue_nothing_due returns whether issue_requests_due is false and nothing of w waits in a send
 * queue. Under the engine's lock. */
bool issue_nothing_due(const struct win *w);

/* issue_keep_error notes err for the window's next synchronization, which returns it, since the
 * call of the failed operation has returned already. Only the first error is kept. Under the
 * engine's lock. */
static inline void issue_keep_error(struct win *w, int err)
{
    if (!w->origin_side.err)
        w->origin_side.err = err;
}

/* issue_take_error returns the first error that was kept, or that a target has reported, since it
 * was last called, and logs which target has reported it. MRMA_SUCCESS: there was none. Under the
 * engine's lock. */
int issue_take_error(struct win *w);

/* issue_confirm makes sure that all errors that targets have reported have arrived; MPI_Win_free
 * calls it. It asks those targets for an acknowledgement that got operations and have not answered
 * since (fence, complete), and waits for the acknowledgements. It does not return the reported
 * errors: issue_take_error does. May wait. */
int issue_confirm(struct win *w);

/* ---- for the handlers of packets; under the engine's lock ---- */

/* issue_got_posts notes that t has posted so many exposure epochs to this process. A number less
 * than the known one has left t before. Returns false if t cannot have posted so many, since an
 * exposure follows the end of the access epoch before: the packet is to be refused. */
bool issue_got_posts(struct rma_target *t, uint32_t posts);

/* issue_got_open takes t's answer to pkt_ask_open: if lock is true, the lock that was asked for as
 * number seq is granted; otherwise t has begun the fence phase seq. An answer that is out of date
 * is ignored. */
void issue_got_open(struct rma_target *t, uint32_t seq, bool lock);

/* issue_got_ack takes t's acknowledgement that the flush or unlock number seq, and everything sent
 * before it, is done. Returns false if this is not the next acknowledgement that is awaited: the
 * packet is to be refused. */
bool issue_got_ack(struct rma_target *t, uint32_t seq);

/* ---- ends of pairs; under the engine's lock ---- */

/* pair_lost is called when the connection to t is lost: the requests of the pair, if it has any,
 * end with MRMA_ERR_PROC_FAILED, which the window's next synchronization returns, too. */
void pair_lost(struct rma_target *t);

/* pair_fail_all ends all requests of all pairs of w with err, since nothing will come for the
 * window any more. */
void pair_fail_all(struct win *w, int err);

/* pair_free frees the state of the pair of t, with everything that it still awaits, when the window
 * ends. If there is no pair (t->pkt is NULL) it does nothing. */
void pair_free(struct rma_target *t);

#endif
