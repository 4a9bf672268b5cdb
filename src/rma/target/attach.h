/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attach.h - MPI_Win_attach and MPI_Win_detach (MPI 4.1, 12.2.4; win_attach and win_detach of
 * rma.h), and the keys by which origins on the network reach attached memory without packets.
 *
 * Locks: the engine's is held by the caller of the functions here.
 */
#ifndef MRMA_RMA_TARGET_ATTACH_H
#define MRMA_RMA_TARGET_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

struct ch3_channel;
struct rma_target;
struct win;

/* target_regions_register makes every region that is attached to w from now on be registered with
 * channel, which puts and gets by itself; NULL: with no channel. */
void target_regions_register(struct win *w, struct ch3_channel *channel);

/* target_region_asked answers t's PKT_REGION_ASK with the region that has the address addr. */
void target_region_asked(struct win *w, struct rma_target *t, uint64_t addr);

/* target_region_left takes a PKT_REGION_LEFT: t's process does not use the region with that number
 * any more. Returns false if it was not asked to leave a region: the packet is to be refused. */
bool target_region_left(struct win *w, const struct rma_target *t, uint32_t number);

/* target_regions_end ends all registrations of regions of w, at the window's end. */
void target_regions_end(struct win *w);

#endif
