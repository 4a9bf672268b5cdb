/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_copy.h - operations by the kernel's cross-memory attach (process_vm_readv and
 * _writev): same node, memory that is not shared. The target is not involved.
 *
 * Each function works between this process's buffers and the memory of peer. vaddr is the target's
 * own address from which the pieces' displacements count. The operation is complete when the
 * function returns. Errors are those of sys/cma.h, with a message in log; after an error the
 * operation may have been done in part. No locks but the stripes.
 */
#ifndef MRMA_RMA_PATH_ASSISTED_COPY_H
#define MRMA_RMA_PATH_ASSISTED_COPY_H

#include "base/log.h"
#include "ch3/pkt.h"
#include "rma/env.h"
#include "rma/rma.h"

/* assisted_put does the put op. The pieces at the target are not checked here. */
int assisted_put(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op);

/* assisted_get does the get op. The pieces at the target are not checked here. */
int assisted_get(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op);

/* assisted_acc does the accumulate op, holding the stripes of its elements; with fetch the old
 * contents go to op's result. acc_lock_mode has been called. May wait for those who hold the
 * stripes. */
int assisted_acc(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op, bool fetch);

/* assisted_cas does the compare-and-swap op, holding the stripe of its element. acc_lock_mode has
 * been called. May wait for the holder of the stripe. */
int assisted_cas(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op);

/* assisted_by_kernel does op, which is of that kind, by the function above for it. */
int assisted_by_kernel(const struct rma_peer *peer, const struct log *log, enum pkt_op_kind kind,
                       uint64_t vaddr, const struct rma_op *op);

#endif
