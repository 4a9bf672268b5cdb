/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * share.h - memory of MPI_Win_create and of attached regions that is shared where it is
 * (mpirma_share_create).
 *
 * Whoever has windows over pages that are shared so, or attached regions in them, holds them: they
 * are made private again only when no process can be storing there any more.
 */
#ifndef MRMA_RMA_WIN_SHARE_H
#define MRMA_RMA_WIN_SHARE_H

#include "rma/win/win.h"

/* Before the records are exchanged, when the window has its index: hold what is shared of its
 * memory. */
int share_hold(struct win *w);
/* Does this process ask for it, for memory that is not shared yet? */
bool share_wanted(const struct win *w);
/* When it is known who is on the node: if it is wanted, and anybody else is there to map them,
 * replace the pages. What is refused is said in a note; the window goes on without. True: they were
 * replaced. The window's hint says from now on whether its memory is shared in place. */
bool share_try(struct win *w);
/* The window's end, after the network has let go of its memory. */
void share_drop(struct win *w);

/* The same for an attached region, under the engine's lock. */
int share_hold_region(struct win *w, uint64_t addr, uint64_t size);
void share_drop_region(struct win *w, uint64_t addr, uint64_t size);

#endif
