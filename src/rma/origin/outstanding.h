/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outstanding.h - what is outstanding at the targets of a window by packet, and how it is
 * completed: according to their answers to flushes, unlocks and operations that fetch.
 *
 * Locks: a function that may wait is called without the engine's lock, takes it itself, and gives
 * it up while it waits; the others are called with it. Results are enum mrma_err. Functions that
 * send may return MRMA_ERR_PROC_FAILED (logged), where the connection to the target is lost, and
 * MRMA_ERR_NO_MEM; functions that wait may also return the errors of rma_wait_until.
 */
#ifndef MRMA_RMA_ORIGIN_OUTSTANDING_H
#define MRMA_RMA_ORIGIN_OUTSTANDING_H

#include <stdbool.h>

#include "rma/win/win.h"

/* origin_all_done returns whether all that was issued to t by packet is done at the target, as far
 * as this process knows. Under the engine's lock. */
bool origin_all_done(const struct rma_target *t);

/* origin_requests_due returns whether any operation of w awaits a reply, or is a large operation
 * that has not left in full. Under the engine's lock. */
bool origin_requests_due(const struct win *w);

/* origin_nothing_due returns whether origin_requests_due is false and nothing of w waits in a send
 * queue. Under the engine's lock. */
bool origin_nothing_due(const struct win *w);

/* origin_all_left returns whether everything that w had to send has left the send queues. A call
 * that returned earlier could not rely on the program to call again and push the rest. Under the
 * engine's lock. */
static inline bool origin_all_left(const struct win *w)
{
    return w->queued == 0;
}

/* origin_flush completes what was issued to t, or, if t is NULL, to all targets: at the target, or,
 * if local is true, so far that the buffers here may be used again. Requests go to all targets with
 * something outstanding before the first answer is awaited. It also returns the first error that a
 * target has reported since the last synchronization. It is the function flush of the paths by
 * packets. May wait. */
int origin_flush(struct win *w, struct rma_target *t, bool local);

/* origin_push sends the open packets of a passive epoch, and does not flush. If a packet may not
 * leave before its target has granted the lock it waits for that. Returns the errors of
 * origin_send_open (open_packet.c); after an error other packets may not have left. May wait. */
int origin_push(struct win *w);

/* origin_await_unlocked is called before MPI_Win_lock_all. In a window with mpirma_weak_unlock it
 * waits until all unlocks are acknowledged, since an exclusive lock that is still held would wait
 * for this process, which then holds all locks. In other windows it returns at once. May wait. */
int origin_await_unlocked(struct win *w);

/* origin_confirm makes sure that all errors that targets have reported have arrived; MPI_Win_free
 * calls it. It asks those targets for an acknowledgement that got operations and have not answered
 * since (fence, complete), and waits for the acknowledgements. It does not return the reported
 * errors: origin_take_error does. May wait. */
int origin_confirm(struct win *w);

#endif
