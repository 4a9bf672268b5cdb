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

#include "rma/origin/issue.h"
#include "rma/win/win.h"

/* One operation of len > 0 bytes at the target's address vaddr. The target is accessible and the
 * arguments are right. May wait for room in a queue. Errors: those of cma.h, and of issue_op. */
int assisted_put(struct win *w, struct rma_target *t, const struct rma_op *op, uint64_t vaddr,
                 size_t len);
int assisted_get(struct win *w, struct rma_target *t, const struct rma_op *op, uint64_t vaddr,
                 size_t len);
int assisted_accumulate(struct win *w, struct rma_target *t, const struct rma_op *op, bool fetch,
                        uint64_t vaddr, size_t len);
int assisted_compare_and_swap(struct win *w, struct rma_target *t, const struct rma_op *op,
                              uint64_t vaddr, size_t len);

/* issue_flush has returned for t, or for all targets (NULL): forget what is known to be done now.
 */
void assisted_flushed(struct win *w, struct rma_target *t);
/* The passive target epoch of t, or of all targets (NULL), is over, with or without an error:
 * forget everything. */
void assisted_end(struct win *w, struct rma_target *t);

#endif
