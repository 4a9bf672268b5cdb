/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_lock.h - the lock of a target, in its control block: what processes that reach the block
 * do to it, on their own behalf (lock.c, lock_all.c) or, at the target, on that of packets
 * (lock_queue.c). Nothing here waits.
 *
 * The word is that of lockword.h. Who changes it by an exchange wakes those who sleep for it.
 *
 * The holders of lock_all on a node are counted in one word (the control block of the direct
 * group's lowest rank). Who holds lock_all looks at a target's lock word once, before its first
 * access there; an exclusive request whose turn has come looks at the count. If it finds a holder
 * it steps back: it marks the word as yielded and waits until there is none
 * (doc/memory-ordering.md, "MPI_Win_lock_all against exclusive locks", steps A to D).
 */
#ifndef MRMA_RMA_WIN_TARGET_LOCK_H
#define MRMA_RMA_WIN_TARGET_LOCK_H

#include "rma/win/lockword.h"
#include "rma/win/win.h"

/* Wake the target itself. */
void lock_wake_owner(struct rma_target *t);

/* The lock word of a direct target was changed by an exchange: wake who sleeps for it, and the
 * target itself if packets wait there. */
static inline __attribute__((always_inline)) void lock_notify(struct rma_target *t)
{
    event_notify_exchanged(&t->ctl->lock_event);
    if (unlikely(atomic_load_explicit(&t->ctl->packets_wait, memory_order_seq_cst)))
        lock_wake_owner(t);
}

/* An exclusive ticket whose turn has come: true if no lock_all holder is in the way; else the
 * request has stepped back (*yielded) and must ask again. */
bool lock_all_pass(struct win *w, struct rma_target *t, bool *yielded);
/* One more or one less who holds lock_all in this process's direct group. */
void lock_all_join(struct win *w);
void lock_all_leave(struct win *w);

#endif
