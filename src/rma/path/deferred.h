/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deferred.h - operations that wait because their target may not be accessed yet: its MPI_Win_post
 * has not been seen, or it has not begun the phase of the fence. Operations by packet wait here
 * when no more packets may be sent before that, or before the target has granted its lock. (Where
 * locks are taken in memory, no operation waits for them.)
 *
 * The call of such an operation returns at once (MPI 4.1, 12.5.2 and 12.5.3 leave that open). The
 * operation is kept, with references to its datatypes, in a queue of the target. The call that
 * finds that the target may be accessed carries the queue out, in the order of the calls: the next
 * operation on the target, or the call that flushes it or ends the epoch. Data that go out are
 * copied only if they are short and the path reads them at once, since some programs use such a
 * buffer again before the epoch has ended; all other buffers are the library's until then. While a
 * queue is not empty all operations on its target go into it, with two exceptions: puts into stages
 * (stage.h), which are not ordered with others; and R-operations and notified operations, since a
 * program may wait for their requests or notifications before it ends the epoch. The latter wait in
 * their calls until the target may be accessed and the queue is carried out; but if there is no
 * queue, an R-operation by packet that has room in the open packet does not wait where an agent
 * sends the packet later (issue, origin/pair_ops.c). What the target has attached (dynamic windows)
 * is looked at when an operation is carried out, since it counts from the beginning of the exposure
 * on.
 *
 * A queue is also entered as unsent (progress/unsent.h): when the target may be accessed, the agent
 * (or a thread that polls, in a process without an agent) carries out the operations that need no
 * wait. Over packets the target's word lets it look at once; where the target is reached by memory
 * nobody tells this process, and the looks become rarer while the target is late. It holds the
 * engine's lock from the first operation to the last, so no call meets it halfway. An operation
 * that would have to wait for others, or that names memory that is not attached, is left to a call,
 * and so are all operations behind it.
 *
 * The size of a queue is bounded (by conf.tune.defer_queue bytes, without the buffers of the
 * program, and one more operation): beyond it the call waits for the target, and carries the queue
 * out.
 *
 * Locks: queues and rma_target.deferral are changed under the engine's lock, which all functions
 * but deferred_drop take themselves.
 */
#ifndef MRMA_RMA_PATH_DEFERRED_H
#define MRMA_RMA_PATH_DEFERRED_H

#include "ch3/pkt.h"
#include "rma/win/win.h"

/* deferred_wait returns whether operations on t wait, or have waited and are being carried out now:
 * then other operations on t must not go past them. With or without the engine's lock. If it
 * returns false, what another thread has carried out comes before what the caller does next. */
static inline bool deferred_wait(const struct rma_target *t)
{
    return unlikely(atomic_load_explicit(&t->deferral, memory_order_acquire) != DEFERRAL_NONE);
}

/* deferred_any returns whether operations on any target of w wait. If it returns false, what
 * another thread has carried out comes before what the caller does next: a signal of the caller
 * that ends the epoch tells of stores of that thread, too. */
static inline bool deferred_any(const struct win *w)
{
    return __atomic_load_n(&w->path_side.ndeferring, __ATOMIC_ACQUIRE) != 0;
}

/* deferred_begin makes operations on t wait from now on if t is not accessible (sync_ops.h), which
 * it asks once more, under the lock. Returns whether they wait. */
bool deferred_begin(struct win *w, struct rma_target *t);

/* deferred_add keeps op, which was checked, if operations on t wait, op may be one of them, and
 * there is room. True: it is kept, or *err is MRMA_ERR_NO_MEM. False: no operation waits any more,
 * since t may be accessed now, for which the function has waited if need be; *err is MRMA_SUCCESS,
 * or the error with which t cannot be accessed. May wait. */
bool deferred_add(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len, int *err);

/* deferred_early keeps op, which may not be sent before t has begun its part of the epoch, and
 * makes all operations on t wait behind it. Results and errors are those of deferred_add: false
 * also if t has begun just now. May wait. It is rma.defer, by which src/rma/origin calls it. */
bool deferred_early(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, int64_t offset, size_t len, int *err);

/* deferred_run carries out what waits, since t may be accessed, unless another thread is doing so.
 * An operation that fails is an error of the window's next synchronization (origin_keep_error).
 * With err, t cannot be accessed any more, and what waits is forgotten. Returns err. May wait, as
 * the operations may. */
int deferred_run(struct win *w, struct rma_target *t, int err);

/* deferred_finish is called when a passive target epoch of t ends, or is flushed: it waits until t
 * may be accessed, and carries out what waits for that. MRMA_ERR_PROC_FAILED, MRMA_ERR_RMA_SYNC.
 * Errors of the operations are returned by the synchronization of which this call is a part. May
 * wait. */
int deferred_finish(struct win *w, struct rma_target *t);

/* deferred_end does what deferred_finish does for all targets on which operations wait, when the
 * epoch ends, or is flushed. MRMA_ERR_PROC_FAILED; other errors are those of the next
 * synchronization. May wait. */
int deferred_end(struct win *w);

/* deferred_drop forgets what waits for t, when the window ends after a failure. Under the engine's
 * lock. */
void deferred_drop(struct rma_target *t);

#endif
