/*
 * target_lock.h - the lock of a target, in its control block: what processes that reach the block
 * do to it, on their own behalf (lock.c, lock_all.c) or, at the target, on that of packets
 * (lock_queue.c). Nothing here waits.
 *
 * The word is that of lockword.h. Who changes it by an exchange wakes those who sleep for it.
 *
 * Direct targets: the holders of a node are counted in one word (the control
 * block of the direct group's lowest rank). Who holds lock_all looks at a
 * target's lock word once, before its first access there; an exclusive request
 * whose turn has come looks at the count.
 *
 *   lock_all, access to t                exclusive lock on t
 *   A: holders += 1 (seq_cst)            C: ticket in t.lock (seq_cst)
 *   B: t.lock has a ticket queued?       D: holders == 0? go on
 *
 * A before D in the single order of these operations: the exclusive request sees
 * the holder and steps back, i.e. marks the word as yielded (so that B passes)
 * and waits for holders == 0. Otherwise D is before A, hence C before B: B sees
 * the ticket and waits until it is released or yielded. Both may find each other;
 * then the exclusive one steps back, never both. To try again it takes the mark
 * off first and looks at the count after (the same pair again).
 */
#ifndef MRMA_RMA_WIN_TARGET_LOCK_H
#define MRMA_RMA_WIN_TARGET_LOCK_H

#include "rma/win/lockword.h"
#include "rma/win/win.h"

/* The lock word of a direct target was changed by an exchange: wake who sleeps for it, and the
 * target itself if packets wait there. */
void lock_notify(struct rma_target *t);

/* The rest of it: the target itself. */
void lock_wake_owner(struct rma_target *t);

/* lock_notify, part of its caller. */
static inline __attribute__((always_inline)) void fast_lock_notify(struct rma_target *t)
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
