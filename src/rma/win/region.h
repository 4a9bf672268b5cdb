/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.h - attached memory of dynamic windows (MPI 4.1, 12.2.4).
 *
 * The owner keeps its regions, which are disjoint, in a balanced tree, in which the processes of
 * its node look them up. The first nodes of the tree lie behind the owner's control block. More
 * nodes are made as they are needed, in chunks, each as large as all nodes before it together.
 * Regions without a byte are known to the owner alone. There is no limit but memory.
 */
#ifndef MRMA_RMA_WIN_REGION_H
#define MRMA_RMA_WIN_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rma;
struct rma_exported;
struct rma_op;
struct rma_target;
struct win;
struct win_ctl;

/* The regions of one process as this one sees them: its own (win.regions) or those of a target
 * whose control block is mapped here (rma_target.regions). */
struct region_view;

/* region_ctl_bytes returns how many bytes the first nodes take behind the control block of a
 * dynamic window. */
size_t region_ctl_bytes(void);

/* region_open_own makes the view that becomes win.regions of a dynamic window. It has no region
 * yet, and its first nodes lie offset bytes behind the beginning of the control block. It is called
 * before others know of the block. The caller owns the view. NULL: there is no memory. */
struct region_view *region_open_own(struct win *w, size_t offset);

/* region_close_own frees what region_open_own has made, and all chunks, when nobody looks anything
 * up any more. NULL: nothing happens. */
void region_close_own(struct rma *r, struct region_view *own);

/* region_open makes t->regions, where w is a dynamic window and t a target whose control block is
 * mapped here. For this process itself t->regions is win.regions. MRMA_ERR_NO_MEM. */
int region_open(struct win *w, struct rma_target *t);

/* region_close ends region_open, if there was one. */
void region_close(const struct win *w, struct rma_target *t);

/* region_covers returns whether [addr, addr+len) is attached at the process whose regions these
 * are, by one region or by several that touch. No locks; other processes may attach and detach
 * meanwhile. Regions that cannot be mapped here, for want of memory, count as not attached, with a
 * message. */
bool region_covers(struct region_view *view, uint64_t addr, uint64_t len);

/* region_find finds the one attached region that has all of [addr, addr+len), and sets *mem to the
 * segment by which others attach it. False: no single region has all of it, or others cannot attach
 * that region; *mem may have changed. No locks. */
bool region_find(struct region_view *view, uint64_t addr, uint64_t len, struct rma_exported *mem);

/* region_at returns whether addr lies in a region, which begins at *base and has *len bytes. view
 * may be NULL, as it is in a window that is not dynamic: the result is then false. No locks. */
bool region_at(struct region_view *view, uint64_t addr, uint64_t *base, uint64_t *len);

/* region_allows returns whether what op names at t, piece by piece, is attached there now. Where
 * synchronization with t goes by packets the result is true, since t looks itself. No locks. */
bool region_allows(const struct rma_target *t, const struct rma_op *op);

/* region_attach enters [addr, addr+size) into the regions of w at this process. Regions without a
 * byte overlap with none: any number of them may be at one address. MRMA_ERR_RMA_ATTACH: some byte
 * of it is attached already, which is logged; MRMA_ERR_NO_MEM. Under the engine's lock. */
int region_attach(struct win *w, uint64_t addr, uint64_t size);

/* region_detach takes out the region that begins at addr. Where regions without a byte were
 * attached there, too, it takes out the one that was attached last. *empty says whether that region
 * had no byte. MRMA_ERR_RMA_ATTACH: no region begins there, which is logged. Needs no memory. Under
 * the engine's lock. */
int region_detach(struct win *w, uint64_t addr, bool *empty);

/* region_drop_all detaches all that is attached to w at this process, at the window's end. Nothing
 * happens for other windows. */
void region_drop_all(struct win *w);

#endif
