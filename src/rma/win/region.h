/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.h - attached memory of dynamic windows (MPI 4.1, 12.2.4).
 *
 * The owner keeps its regions, sorted and disjoint, behind its control block, where processes of
 * its node look them up.
 */
#ifndef MRMA_RMA_WIN_REGION_H
#define MRMA_RMA_WIN_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct rma_exported;
struct rma_op;
struct rma_target;
struct win;
struct win_ctl;

/* region_covers returns whether [addr, addr+len) is attached at the process that owns the control
 * block, by one region or by several that touch. No locks; other processes may attach and detach
 * meanwhile. */
bool region_covers(struct win_ctl *ctl, uint64_t addr, uint64_t len);

/* region_find finds the one attached region that has all of [addr, addr+len), and says in *mem by
 * which segment others attach it. False: no single region has it, or others cannot attach that one;
 * *mem may have changed. No locks. */
bool region_find(struct win_ctl *ctl, uint64_t addr, uint64_t len, struct rma_exported *mem);

/* region_allows returns whether what op names at t, piece by piece, is attached there now. Also
 * true if t is synchronized with by packets: it looks itself. No locks. */
bool region_allows(const struct rma_target *t, const struct rma_op *op);

/* region_attach enters [addr, addr+size) into the tables of w at this process. MRMA_ERR_RMA_ATTACH:
 * some of it is attached already, or there are too many regions. Under the engine's lock. */
int region_attach(struct win *w, uint64_t addr, uint64_t size);

/* region_detach takes the region that begins at addr out of these tables. MRMA_ERR_RMA_ATTACH:
 * there is none. Under the engine's lock. */
int region_detach(struct win *w, uint64_t addr);

/* region_drop_all detaches all that is attached to w at this process, at the window's end. Nothing
 * happens for other windows. */
void region_drop_all(struct win *w);

#endif
