/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_copy.h - operations by the kernel's cross-memory attach (process_vm_readv and
 * _writev): same node, memory that is not shared. The target is not involved.
 *
 * vaddr: the target's own address of the pieces' origin. All are complete when the function
 * returns. Errors: those of sys/procmem.h, which log is told of.
 */
#ifndef MRMA_RMA_PATH_ASSISTED_COPY_H
#define MRMA_RMA_PATH_ASSISTED_COPY_H

#include "base/log.h"
#include "rma/env.h"
#include "rma/rma.h"

/* op between this process's buffers and peer, whose memory there is not checked here. Accumulates
 * and compare-and-swap hold the stripes of their elements; fetch: the old contents go to op's
 * result. */
int assisted_put(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op);
int assisted_get(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op);
int assisted_acc(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op, bool fetch);
int assisted_cas(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op);

#endif
