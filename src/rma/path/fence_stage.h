/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence_stage.h - small puts of fence phases to mapped targets that have not begun the phase, on a
 * node with more processes than processors.
 *
 * Each process has one stage in its own control block, for all its targets. Who comes last in the
 * barrier of the closing fence copies the puts of all stages to their places, before anybody leaves
 * the barrier (sync/barrier.c). So an origin that is ahead of its target does not wait in the
 * closing fence for the target to begin the phase, and then once more for it to end it, which
 * would be two changes of processes for one. A process that loads from mapped memory of another one
 * after the fence finds the puts in place, as it does where all puts are stores of their origins.
 *
 * All functions are called by application threads; nothing here waits.
 */
#ifndef MRMA_RMA_PATH_FENCE_STAGE_H
#define MRMA_RMA_PATH_FENCE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"

struct win;
struct win_ctl;
struct rma_target;

/* What stands in front of the data of a put. */
struct fence_stage_record {
    uint64_t offset;
    uint32_t len;
    uint32_t member; /* index of the target in win.memory_ranks */
};

/* The room is that of four puts of 1 KiB, because a halo has four strips. */
enum { FENCE_STAGE_ROOM = 4 * (1024 + sizeof(struct fence_stage_record)) };

/* fence_stage_bytes returns how many bytes the stage takes in a control block with so many slots,
 * a multiple of a cache line; 0: nobody uses it. */
size_t fence_stage_bytes(int nslots);

/* fence_stage_init makes an empty stage at that many bytes from the beginning of the control block,
 * which nobody else sees yet; or, if exists is false, notes that there is none. */
void fence_stage_init(struct win_ctl *ctl, size_t at, bool exists);

/* fence_stage_put keeps a put of len bytes from data to that offset in the memory of t, which has
 * these bytes, until the present fence phase ends. False: t may be accessed at once, the window
 * uses no such stages, or there is no room, and nothing was done. Under the engine's lock where
 * several threads may call. */
bool fence_stage_put(struct win *w, struct rma_target *t, const void *data, uint64_t offset,
                     size_t len);

/* fence_stage_copy_all copies the puts in the stages of all memory peers to their places, and
 * empties the stages. It is called by the process that came last in the closing fence's barrier,
 * while all others wait there. A put outside of the window is refused, with a message. */
void fence_stage_copy_all(struct win *w);

#endif
