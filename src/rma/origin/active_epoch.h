/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active_epoch.h - active target epochs by packets: whether a target has begun its part, and how
 * the epoch ends, by MPI_Win_fence or MPI_Win_complete. Locks, waits and errors are those of
 * outstanding.h.
 */
#ifndef MRMA_RMA_ORIGIN_ACTIVE_EPOCH_H
#define MRMA_RMA_ORIGIN_ACTIVE_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

struct origin_pair;
struct rma_target;
struct win;

/* origin_target_is_open returns whether t is known to have begun its part of the present active
 * target epoch (it has posted, or has come to the fence), so that any number of packets may be
 * sent. If nothing was ever sent to t it returns false. Under the engine's lock. */
bool origin_target_is_open(const struct rma_target *t);

/* origin_await_target asks t to say when it has begun its part of the present active target epoch,
 * and waits for the answer; the open packet leaves first. Returns MRMA_ERR_RMA_SYNC if t has
 * refused a packet of this epoch, and so may never answer. May wait. */
int origin_await_target(struct win *w, struct rma_target *t);

/* origin_epoch_lasts returns whether packets that leave now belong to the epoch of the operations
 * that wait. They do not between the moment at which MPI_Win_fence with MPI_MODE_NOSUCCEED has
 * ended the epoch and origin_set_closing. Under the engine's lock. */
bool origin_epoch_lasts(const struct win *w);

/* origin_set_closing sets whether MPI_Win_fence is ending a fence phase (closing). While it is,
 * packets belong to that phase, although by the state of the window its epoch is over already.
 * Takes the engine's lock, does not wait. */
void origin_set_closing(struct win *w, bool closing);

/* origin_fence ends a fence phase by markers: it sends one to every packet target of the window,
 * used or not, behind the phase's operations; and waits for those puts and gets of the channel that
 * a marker could overtake. It does not wait for the markers of others. May wait. */
int origin_fence(struct win *w);

/* origin_send_marker sends the marker to t alone. It is the function end_phase of the
 * synchronization by packets (win/sync_ops.h). Under the engine's lock, which it gives up while it
 * waits to send. */
int origin_send_marker(struct win *w, struct rma_target *t);

/* origin_send_phase sends the operations of the ending fence phase that have not left yet, and no
 * markers, for fences that end by counts (sync/fence_counts.h). Puts and gets that the channel does
 * by itself are done when it returns. May wait. */
int origin_send_phase(struct win *w);

/* origin_phase_next lists how many bytes went by packet in the phase that origin_send_phase has
 * sent: it sets *rank and *bytes for the next target that got any, and sets that target's count
 * back to 0. *at is NULL in the first call; later calls get what the call before has left in it.
 * Returns false if there are no more. Under the engine's lock, which is kept from the first call to
 * the last. */
bool origin_phase_next(struct win *w, struct origin_pair **at, int *rank, uint64_t *bytes);

/* origin_phase_end forgets which targets the ending fence phase has used. Under the engine's lock.
 */
void origin_phase_end(struct win *w);

/* origin_complete_begin begins the end of an access epoch of MPI_Win_start, before any target is
 * told of the end: it waits for those puts and gets of the channel that this message could
 * overtake. May wait. */
int origin_complete_begin(struct win *w);

/* origin_complete tells t that the access epoch to it has ended, behind all operations of the
 * epoch. It is the function complete of the synchronization by packets (win/sync_ops.h). It may
 * wait until it can send. */
int origin_complete(struct win *w, struct rma_target *t);

/* origin_complete_end follows the origin_complete of all targets, and waits until the replies to
 * this process's operations have come and everything that it sends has left. err is the first error
 * of these calls; if there was one, origin_complete_end does not wait, and returns err. May wait.
 */
int origin_complete_end(struct win *w, int err);

#endif
