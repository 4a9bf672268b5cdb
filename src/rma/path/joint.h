/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * joint.h - large puts and gets that the origin and a target of its node make together
 * (sys/joint_board.h).
 *
 * A put or get of at least conf.tune.joint_copy bytes, of one piece on both sides, to a target that
 * is in a wait at that moment is published on the target's board and not made; its call returns.
 * The target takes chunks of it in its waits (joint_help). The origin takes chunks in the call that
 * completes the operation: a flush or its local form, an unlock, MPI_Win_complete, a fence,
 * MPI_Win_sync. That call returns when all chunks are done, so the buffer is the origin's again
 * then, and the bytes are in place for all that comes behind the call. So an origin that computes
 * lets a target that waits copy everything, and where both wait each copies a half. A target that
 * computes takes no chunk, and one that is not in a wait when the operation is called is not asked
 * at all.
 *
 * Operations with a request or a notification are made at once, since they may be awaited by other
 * means than a call of the origin on this window. Other puts and gets have no order among
 * each other and with accumulates before they are completed (MPI 4.1, 12.7), so they do not wait
 * for those that are published. Strict checks (MPIRMA_STRICT) look at memory as operations are
 * called, so nothing is published in their windows.
 *
 * How the two reach each other's memory: the origin copies its chunks as it copies everything to
 * this target, by load and store or by the kernel. The target copies by load and store if the
 * origin's buffer is in memory that it can map; else by the kernel, if that reaches the origin. If
 * the kernel refuses this, or the buffer cannot be mapped, the origin makes the whole copy once
 * more, and asks that process no more.
 *
 * A target that dies leaves an operation that fails. An origin that dies leaves chunks that nobody
 * needs: a target takes none from an origin that it knows to be dead (joint_lose_peer), and looks
 * whether an origin lives before it copies for one that has published long ago, since the kernel
 * knows the origin by a number that another process may have later (as assisted.c does).
 *
 * Locks: the operations that this process has published (path_rma.own), rma_target.joint and
 * path_win.njoint are changed under the engine's lock. Chunks are copied without it.
 */
#ifndef MRMA_RMA_PATH_JOINT_H
#define MRMA_RMA_PATH_JOINT_H

#include "base/cpu.h"
#include "base/err.h"
#include "rma/win/win.h"

/* The filter that publishes operations, in front of the ways mapped and assisted. */
extern const struct path_ops path_joint;

/* joint_any returns whether any operation of w is published. If not, all chunks of those that were
 * are done, also for a thread that finds that another one has completed them. With or without the
 * engine's lock. */
static inline bool joint_any(const struct win *w)
{
    return unlikely(atomic_load_explicit(&w->path_side.njoint, memory_order_acquire) !=
                    0); /* pairs with remove_entry of joint.c */
}

/* joint_await_access waits, for a small part of the time that a large copy takes, until t may be
 * accessed: if the operation were deferred (deferred.h), the origin itself would copy everything in
 * the call that completes the epoch. */
void joint_await_access(struct win *w, struct rma_target *t);

/* joint_complete completes all operations of w on t that are published, or on all targets if t is
 * NULL: it takes chunks of them, and waits for those that the targets have taken.
 * MRMA_ERR_PROC_FAILED and the errors of sys/cma.h. May wait. */
int joint_complete(struct win *w, struct rma_target *t);

/* joint_end does what joint_complete does. Mostly nothing is published. */
static inline int joint_end(struct win *w, struct rma_target *t)
{
    return joint_any(w) ? joint_complete(w, t) : MRMA_SUCCESS;
}

/* joint_help takes one chunk that others have published for this process, and copies it. Returns
 * whether there was one. It is called by an application thread in a wait, without the engine's
 * lock, and waits for nobody. It is progress_hooks.help. */
bool joint_help(struct rma *r);

/* joint_drop gives up what this process has published for t, whose window ends or whose process is
 * lost. Under the engine's lock. */
void joint_drop(struct win *w, struct rma_target *t);

/* joint_lose_peer takes what is left of the operations that peer, which is dead, has published for
 * this process. */
void joint_lose_peer(struct rma *r, const struct rma_peer *peer);

/* joint_unmap unmaps the buffers of others that joint_help has mapped and no thread copies. Under
 * the engine's lock. */
void joint_unmap(struct rma *r);

#endif
