/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path_state.h - what src/rma/path keeps in struct win and struct rma_target. Nobody else touches
 * it.
 *
 * Locks: see stage.c for stages, and deferred.h and assisted.c for the others.
 */
#ifndef MRMA_RMA_WIN_PATH_STATE_H
#define MRMA_RMA_WIN_PATH_STATE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "rma/win/progress_state.h"

struct cma_queue;
struct win;
struct win_stage;

/* In struct win. */
struct path_win {
    uint32_t ndeferring;   /* targets whose operations are deferred: deferred.h */
    struct list deferring; /* these; nothing if there are none */
};

/* In struct rma_target. */
struct path_target {
    struct list deferred;          /* its operations that wait: deferred.h */
    size_t deferred_bytes;         /* that they take here */
    struct list_node link;         /* in path_win.deferring while they wait */
    struct cma_queue *gathered;    /* those that share a system call: assisted.c */
    struct unsent unsent;          /* entered while there are any */
    struct win *unsent_of;         /* of this target */
    _Atomic uint64_t copied_in;    /* win.gen at the last operation that could have been queued */
    _Atomic uint32_t regions_gone; /* as in its control block at the last look: xpmem_path.c */
};

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
