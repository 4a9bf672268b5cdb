/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * passive_epoch.h - passive target epochs by packets: the lock of a packet target, for which the
 * first packet of the epoch asks, and the end of the epoch, which is piggybacked on its last one.
 * Locks, waits and errors are those of outstanding.h.
 */
#ifndef MRMA_RMA_ORIGIN_PASSIVE_EPOCH_H
#define MRMA_RMA_ORIGIN_PASSIVE_EPOCH_H

struct rma;
struct rma_target;
struct win;

/* origin_lock_begin begins an epoch of MPI_Win_lock on t, whose kind is in rma_target.lock, or the
 * use of t in one of MPI_Win_lock_all. Usually nothing is sent, since the first packet of the epoch
 * asks for the lock. The lock is asked for, and awaited, at once in two cases: where the program
 * may use load and store under it (MPI_Win_allocate_shared), and where another thread's lock has
 * not been asked for yet. May wait: in these cases, and for the acknowledgement of an earlier
 * unlock for which nobody has waited (mpirma_weak_unlock). */
int origin_lock_begin(struct win *w, struct rma_target *t);

/* origin_lock_await asks for the lock that this thread took last, in whatever window, if that was
 * not asked for yet, and waits until it is granted. It is called before the thread locks one more
 * target. So locks are acquired in the order of the calls, and a program that takes several locks
 * in an order of its own cannot deadlock. Returns MRMA_SUCCESS also where the target has refused
 * the request: the error is kept for the next synchronization. May wait. */
int origin_lock_await(struct rma *r);

/* origin_lock_end completes what was issued to t, at the target, and gives back the lock on t if it
 * was asked for by packet. With mpirma_weak_unlock it waits for local completion only. Whatever it
 * returns, the epoch has ended for the pair. Errors are those of origin_flush. It is the function
 * unlock of the paths by packets. May wait. */
int origin_lock_end(struct win *w, struct rma_target *t);

/* origin_unlock_all does what origin_lock_end does, for all targets that the epoch of
 * MPI_Win_lock_all has used. The requests to all leave before the first answer is awaited. May
 * wait. */
int origin_unlock_all(struct win *w);

#endif
