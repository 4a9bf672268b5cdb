/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path_state.h - what src/rma/path keeps in struct rma_target. Nobody else touches it.
 *
 * Locks: see stage.c.
 */
#ifndef MRMA_RMA_PATH_PATH_STATE_H
#define MRMA_RMA_PATH_PATH_STATE_H

#include <stdint.h>

struct win_stage;

/* The stages that one peer has in another's control block for one purpose, one behind the other. */
struct stage_row {
    struct win_stage *first;
    uint32_t bytes; /* of each; 0: there are none */
};

/* Stages of a memory peer: mine in its control block, and its in mine. */
struct stage_target {
    struct stage_row out, in;             /* of PSCW epochs */
    struct stage_row out_phase, in_phase; /* of fence phases */
    uint32_t used;                        /* bytes in the stage of the present access epoch */
    uint32_t posts_seen;                  /* posts when the origin last looked */
};

/* stage_first_target sets the counters of a target that is being made to first
 * (win/first_number.h). */
static inline void stage_first_target(struct stage_target *stage, uint32_t first)
{
    stage->posts_seen = first;
}

#endif
