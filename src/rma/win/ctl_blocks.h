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

/* A block of at least size bytes, its content undefined. Takes the engine's lock. */
int ctl_blocks_take(struct rma *r, size_t size, struct win_ctl **out);
/* Under the engine's lock. NULL is none. */
void ctl_blocks_give(struct rma *r, struct win_ctl *ctl);
/* All go back to the environment. */
void ctl_blocks_fini(struct rma *r);

#endif
