/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xpmem_path.h - operations on regions of a dynamic window, which this process attaches when it
 * first uses them (env.h, struct rma_attach). See xpmem_path.c.
 */
#ifndef MRMA_RMA_PATH_XPMEM_PATH_H
#define MRMA_RMA_PATH_XPMEM_PATH_H

#include "rma/win/path_ops.h"

/* attached_operate does what path_ops.operate says, for a target whose regions are attached. */
int attached_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                     const struct rma_op *op, int64_t offset, size_t len);

#endif
