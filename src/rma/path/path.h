/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.h - the ways to a target and the filters of this room (win/path_ops.h), and functions for
 * synchronization: access to a target in the present epoch (access.c), what concerns all
 * kernel-assisted targets of a window at once (assisted.c), and what happens to a target whose
 * process is lost (lost_target.c).
 *
 * Operations themselves are entered by rma.h (operations.c). Everything here is called by
 * application threads without the engine's lock, unless it says otherwise.
 */
#ifndef MRMA_RMA_PATH_PATH_H
#define MRMA_RMA_PATH_PATH_H

#include "rma/win/path_ops.h"
#include "rma/win/win.h"

extern const struct path_ops path_mapped, path_assisted, path_packets, path_net_packets, path_rdma;

/* The way to a target whose process is lost, and the route of such a target in any window. */
extern const struct path_ops path_lost;
extern const struct route path_lost_route;

/* The filter that finds out whether the target is accessible in the present epoch (ready.c). */
extern const struct path_ops path_ready;

/* The filter that puts small puts into stages (stage.c). */
extern const struct path_ops path_stage;

/* route_enter returns the table by which calls on t, which was used before, enter its route. Calls
 * on a target that is known to be accessible go past path_ready. While operations on t wait, t is
 * never known to be accessible. */
static inline const struct path_ops *route_enter(const struct win *w, const struct rma_target *t)
{
    const struct route *r = target_route(t);
    return likely(target_ready(w, t)) ? r->ops[r->known] : r->ops[0];
}

/* ---- access ---- */

/* epoch_includes returns MRMA_SUCCESS if the present epoch of w includes t, else MRMA_ERR_RMA_SYNC.
 * If the epoch is that of a fence, it is noted that the epoch is used. */
int epoch_includes(struct win *w, const struct rma_target *t);

/* epoch_access waits where the first access to t, which the epoch includes, has to wait for the
 * target, and marks t ready, unless operations on it have to wait (deferred.h). Errors as
 * sync_ops.access. May wait. */
int epoch_access(struct win *w, struct rma_target *t);

/* ---- operations that were deferred ---- */

/* mapped_leave does an operation that was deferred (deferred.h) on t, whose memory is mapped here,
 * without a wait for what others do next: for the agent, or a thread that polls. *err is the
 * result. False: a call has to do the operation, and nothing was done. Under the engine's lock. */
bool mapped_leave(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len, int *err);

/* assisted_leave does what mapped_leave does, on a kernel-assisted target. */
bool assisted_leave(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, int64_t offset, size_t len, int *err);

/* ---- kernel-assisted targets ---- */

/* assisted_settle does the operations that were gathered for t. It is called at the end of an
 * active target epoch, and before origin_flush and its kin. When it is called after these, it also
 * forgets that something was sent to t, if that is known to be done now. Returns the errors of
 * cma.h, or MRMA_ERR_PROC_FAILED. */
int assisted_settle(struct win *w, struct rma_target *t);

/* assisted_settle_all does what assisted_settle does for all targets, and returns the first error.
 */
int assisted_settle_all(struct win *w);

/* assisted_copy_bytes lets the kernel copy len bytes between memory here and the target's, from
 * byte offset of its window memory on: to the target if write is true. Returns the errors of
 * sys/cma.h. Without the engine's lock. */
int assisted_copy_bytes(struct win *w, struct rma_target *t, bool write, void *here, int64_t offset,
                        size_t len);

/* assisted_end_all forgets what was sent in the passive target epoch of all targets, which is over,
 * with or without an error. */
void assisted_end_all(struct win *w);

/* assisted_lose forgets what was gathered for t or sent to it, since its process is lost. Under the
 * engine's lock. */
void assisted_lose(struct win *w, struct rma_target *t);

/* assisted_drop forgets what is kept for t, whose window ends. Under the engine's lock. */
void assisted_drop(struct rma_target *t);

/* ---- lost processes ---- */

/* path_lose makes operations on t fail at once from now on: t is a target of this node whose
 * control block is mapped here, and its process is lost. Under the engine's lock. */
void path_lose(struct win *w, struct rma_target *t);

#endif
