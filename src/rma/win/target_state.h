/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_state.h - what the target's side of packets keeps in a window. Only src/rma/target touches
 * it; what it keeps for each origin is struct pkt_origin (target.h). Guarded by the engine's lock.
 */
#ifndef MRMA_RMA_WIN_TARGET_STATE_H
#define MRMA_RMA_WIN_TARGET_STATE_H

#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "ch3/channel.h"

/* The regions of this process in a dynamic window that others on the network may know: attach.c. */
struct target_regions {
    struct ch3_channel *channel; /* the channel with which they are registered; NULL: none */
    struct map attached;         /* struct attached, by the address where each begins */
    struct list leaving;         /* struct attached of regions that are being detached while others
                                    still have their keys */
    uint32_t last_number;
};

/* In struct win. */
struct target_win {
    struct list lockq;           /* struct pkt_origin waiting for this window's lock */
    uint32_t nlockq;             /* how many */
    struct list parked;          /* struct pkt_origin with parked packets */
    struct list_node lockq_link; /* in rma->lock_wins while lockq is not empty */
    struct target_regions regions;
};

#endif
