/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load_store.h - operations on memory of a target that is mapped here, at a known address: what
 * mapped.c does for the memory of a window, and xpmem_path.c for a region of a dynamic one, which
 * this process attaches when it first uses it (env.h, struct rma_attach).
 */
#ifndef MRMA_RMA_PATH_LOAD_STORE_H
#define MRMA_RMA_PATH_LOAD_STORE_H

#include "rma/win/path_ops.h"

/* load_store_operate does what path_ops.operate says, except for notifications. base is the address
 * here of the target's offset 0, which need not be mapped itself. In a dynamic window, where
 * offsets are addresses, base is NULL, or the distance from the target's addresses to those
 * here. */
int load_store_operate(struct win *w, struct rma_target *t, char *base, enum pkt_op_kind kind,
                       const struct rma_op *op, int64_t offset, size_t len);

/* attached_operate does what path_ops.operate says, for a target whose regions are attached. */
int attached_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                     const struct rma_op *op, int64_t offset, size_t len);

#endif
