/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.h - the ways to a target that there are, a table of functions each (win/path_ops.h), those
 * that stand in front of them (front.c), and what synchronization needs of this room: access to a
 * target in the present epoch (access.c), what concerns all kernel-assisted targets of a window at
 * once (assisted.c), and what becomes of a target whose process is lost (lost_target.c).
 *
 * Operations themselves are entered by rma.h (op.c). Everything here is called by application
 * threads without the engine's lock, unless it says otherwise.
 */
#ifndef MRMA_RMA_PATH_PATH_H
#define MRMA_RMA_PATH_PATH_H

#include "rma/win/path_ops.h"
#include "rma/win/win.h"

extern const struct path_ops path_mapped, path_assisted, path_packets, path_rdma;

/* The same by their number. */
extern const struct path_ops *const path_by_number[PATH_COUNT];

/* ---- in front of them ---- */

/* The table of a target that is not known to be accessible in the present epoch. */
extern const struct path_ops path_unready;

/* The table of a kernel-assisted target with stages: rma_target.path_ops, from stage_attach on. */
extern const struct path_ops path_stage_first;

/* path_of returns the table that calls on t go through now: its own if it is known to be
 * accessible, else path_unready. As long as operations on t wait it is never known to be. */
static inline const struct path_ops *path_of(const struct win *w, const struct rma_target *t)
{
    return likely(target_ready(w, t)) ? target_path_ops(t) : &path_unready;
}

/* ---- access ---- */

/* epoch_includes tells whether the present epoch of w includes t, and if it is that of a fence,
 * notes that it is used. MRMA_ERR_RMA_SYNC: it does not. */
int epoch_includes(struct win *w, const struct rma_target *t);

/* epoch_access waits where the first access to t, which the epoch includes, has to wait for the
 * target, and marks t ready, unless operations on it have to wait (deferred.h). Errors as
 * sync_ops.access. */
int epoch_access(struct win *w, struct rma_target *t);

/* ---- kernel-assisted targets ---- */

/* Do what was gathered for t, or for all targets: at the end of an active target epoch, and before
 * issue_flush and its kin. Behind these: forget what is known to be done now. Errors of procmem.h.
 */
int assisted_settle(struct win *w, struct rma_target *t);
int assisted_settle_all(struct win *w);
/* The passive target epoch of all targets is over, with or without an error: forget what was sent
 * in it. */
void assisted_end_all(struct win *w);
/* The process of t is lost: forget what was gathered for it or sent to it. Under the engine's lock.
 */
void assisted_lose(struct win *w, struct rma_target *t);

/* ---- lost processes ---- */

/* The process of t, a target of this node whose control block is mapped here, is lost: from now on
 * operations on t fail at once. Under the engine's lock. */
void path_lose(struct win *w, struct rma_target *t);

#endif
