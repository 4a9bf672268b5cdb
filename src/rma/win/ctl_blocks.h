/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctl_blocks.h - memory for control blocks. Memory that has been a control block is used for
 * nothing else until the layer ends: when it is given back, it is kept for the process's next
 * window.
 *
 * The reason: a process that is in the last barrier of a window may still hear of a lost peer when
 * others have left that barrier already. It then writes the loss into their control blocks
 * (lost.c), together with the window's generation, so that a later window in the same block takes
 * no notice.
 */
#ifndef MRMA_RMA_WIN_CTL_BLOCKS_H
#define MRMA_RMA_WIN_CTL_BLOCKS_H

#include <stddef.h>

struct rma;
struct win_ctl;

/* ctl_blocks_take sets *out to a block of at least size bytes that no window of this process uses;
 * its content is undefined. ctl_blocks_give ends that. MRMA_ERR_NO_MEM, or what rma_env.mem_alloc
 * returned. Takes the engine's lock. */
int ctl_blocks_take(struct rma *r, size_t size, struct win_ctl **out);

/* ctl_blocks_give gives a block back, for the next window. NULL: nothing happens. Under the
 * engine's lock. */
void ctl_blocks_give(struct rma *r, struct win_ctl *ctl);

/* ctl_blocks_fini gives all blocks back to the environment, used or not, at the layer's end. */
void ctl_blocks_fini(struct rma *r);

#endif
