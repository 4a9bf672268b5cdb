/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_state.h - what the target's side of packets keeps in a window. Only src/rma/target touches
 * it; what it keeps for each origin is struct pkt_origin (target.h). Guarded by the engine's lock.
 */
#ifndef MRMA_RMA_TARGET_TARGET_STATE_H
#define MRMA_RMA_TARGET_TARGET_STATE_H

#include <stdint.h>

#include "base/list.h"

/* In struct win. */
struct target_win {
    struct list lockq;           /* struct pkt_origin waiting for this window's lock */
    uint32_t nlockq;             /* how many */
    struct list parked;          /* struct pkt_origin with parked packets */
    struct list_node lockq_link; /* in rma->lock_wins while lockq is not empty */
};

#endif
