/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.h - attached memory of dynamic windows (MPI 4.1, 12.2.4).
 *
 * The owner keeps its regions, which are disjoint, in a balanced tree, where processes of its node
 * look them up. The first nodes of the tree lie behind the owner's control block; more of them, in
 * chunks of which each is as large as all before, are made as they are needed. Regions without a
 * byte are known to the owner alone. There is no limit but memory.
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

/* region_ctl_bytes returns what the first nodes take behind the control block of a dynamic
 * window. */
size_t region_ctl_bytes(void);

/* region_open_own makes what becomes win.regions of a dynamic window, with no region, whose first
 * nodes lie offset bytes behind the beginning of its control block; before others know of the
 * block. The caller owns it. NULL: there is no memory. */
struct region_view *region_open_own(struct win *w, size_t offset);

/* region_close_own frees what region_open_own has made, and all chunks. Nobody looks anything up
 * any more. NULL: nothing happens. */
void region_close_own(struct rma *r, struct region_view *own);

/* region_open makes t->regions of a target of the dynamic window w whose control block is mapped;
 * of this process itself that is win.regions. MRMA_ERR_NO_MEM. */
int region_open(struct win *w, struct rma_target *t);

/* region_close ends region_open, if there was one. */
void region_close(const struct win *w, struct rma_target *t);

/* region_covers returns whether [addr, addr+len) is attached at the process whose regions these
 * are, by one region or by several that touch. No locks; other processes may attach and detach
 * meanwhile. Regions that cannot be mapped here, for want of memory, count as not attached, with a
 * message. */
bool region_covers(struct region_view *view, uint64_t addr, uint64_t len);

/* region_find finds the one attached region that has all of [addr, addr+len), and says in *mem by
 * which segment others attach it. False: no single region has it, or others cannot attach that one;
 * *mem may have changed. No locks. */
bool region_find(struct region_view *view, uint64_t addr, uint64_t len, struct rma_exported *mem);

/* region_at returns whether addr lies in a region, which begins at *base and has *len bytes. view
 * is NULL where the window is not dynamic, and has no regions. No locks. */
bool region_at(struct region_view *view, uint64_t addr, uint64_t *base, uint64_t *len);

/* region_allows returns whether what op names at t, piece by piece, is attached there now. Also
 * true if t is synchronized with by packets: it looks itself. No locks. */
bool region_allows(const struct rma_target *t, const struct rma_op *op);

/* region_attach enters [addr, addr+size) into the regions of w at this process. Regions without a
 * byte overlap with none: any number may be at one address. MRMA_ERR_RMA_ATTACH: some of it is
 * attached already, which a message says; MRMA_ERR_NO_MEM. Under the engine's lock. */
int region_attach(struct win *w, uint64_t addr, uint64_t size);

/* region_detach takes out the region that begins at addr; where there are several, since regions
 * without a byte were attached there, too, it is the one that was attached last. *empty: it had no
 * byte. MRMA_ERR_RMA_ATTACH: there is none, with a message. Needs no memory. Under the engine's
 * lock. */
int region_detach(struct win *w, uint64_t addr, bool *empty);

/* region_drop_all detaches all that is attached to w at this process, at the window's end. Nothing
 * happens for other windows. */
void region_drop_all(struct win *w);

#endif
