/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctl_blocks.h - memory for control blocks. A block that has been one stays one: given
 * back, it is kept for the process's next window and for nothing else, until the layer
 * ends.
 *
 * For a process may still hear of a lost peer when it is in the last barrier of a
 * window that others have left already, and then writes that into their control blocks
 * (lost.c). It names the window's generation with it, so a later window in the same
 * block takes no notice.
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
