/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.h - the ways to a target that there are, a table of functions each (win/path_ops.h), and
 * what synchronization needs of this room: access to a target in the present epoch (MPI 4.1, 12.5;
 * access.c), what concerns all kernel-assisted targets of a window at once (assisted.c), and what
 * becomes of a target whose process is lost (lost_target.c).
 *
 * Operations themselves are entered by rma.h (op.c). Everything here is called by application
 * threads without the engine's lock, unless it says otherwise.
 */
#ifndef MRMA_RMA_PATH_PATH_H
#define MRMA_RMA_PATH_PATH_H

#include "rma/win/path_ops.h"

extern const struct path_ops path_mapped, path_assisted; /* the others: origin/issue.h */

/* The same by their number. */
extern const struct path_ops *const path_by_number[PATH_COUNT];

/* ---- access ---- */

/* Slow half of "may this target be accessed": checks the epoch, waits where access must wait for
 * the target, marks the target ready, unless operations on it have to wait (deferred.h). */
int epoch_access(struct win *w, struct rma_target *t);

/* An operation in a fence epoch that needs no access to its target: a put into its stage. */
int epoch_use_fence(struct win *w);

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
