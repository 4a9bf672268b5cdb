/*
 * assisted.h - operations on a kernel-assisted target: a process of this node whose window memory
 * is not shared.
 *
 * The origin reaches that memory by cross-memory attach (cma.h). Where the target's threads poll
 * for packets anyway, the origin may send the operation as a packet instead, and the target does
 * it: a packet through the ring costs less than a system call, and of a large copy each process
 * does one half at the same time. The choice is one pure function of the operation and of what the
 * target does now; see assisted.c for its rule.
 *
 * The target's lock is taken in shared memory as always, so the packets ask for none
 * (PKT_EPOCH_NOCHECK). What was sent is done when the target has acknowledged it, which flush and
 * unlock wait for. In the active target epochs of fence and PSCW nothing is sent: small puts go
 * into a stage (stage.h), everything else by the kernel.
 */
#ifndef MRMA_RMA_PATH_ASSISTED_H
#define MRMA_RMA_PATH_ASSISTED_H

struct win;

/* What concerns all targets of a window at once; for one it is in path_assisted (path.h,
 * path_ops.h). */

/* issue_flush has returned for all targets: forget what is known to be done now. */
void assisted_flushed_all(struct win *w);
/* The passive target epoch of all targets is over, with or without an error: forget what was sent
 * in it. */
void assisted_end_all(struct win *w);

#endif
