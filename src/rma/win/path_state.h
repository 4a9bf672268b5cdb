/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path_state.h - what src/rma/path keeps in struct win and struct rma_target. Nobody else touches
 * it.
 *
 * Locks: stage.c names them for stages, deferred.h, joint.h and
 * assisted.c for the other fields.
 */
#ifndef MRMA_RMA_WIN_PATH_STATE_H
#define MRMA_RMA_WIN_PATH_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "rma/win/progress_state.h"

struct cma_queue;
struct rma_target;
struct win;
struct win_stage;

enum { JOINT_OWN = 32, JOINT_MAPPED = 8 };

/* An operation that this process has published: joint.c. */
struct joint_own {
    struct win *win; /* NULL: the entry is free */
    struct rma_target *target;
    void *buf;       /* the side here; */
    int64_t offset;  /* the side there, from the beginning of the target's memory */
    int place;       /* on the target's board */
    uint32_t number; /* changes with each use of the entry */
    int err;         /* of a chunk that this process has copied */
    bool put;        /* not a get */
    bool redone;     /* a thread makes the whole copy once more */
};

/* A buffer of another process that is mapped here: joint_help.c. */
struct joint_mapped {
    void *handle; /* of rma_env.mem_map; NULL: none */
    uint64_t used;
};

/* A process that was seen alive: joint_help.c. */
struct joint_seen {
    int32_t pid;
    uint32_t started;
    uint64_t at;
};

/* In struct rma. */
struct path_rma {
    struct joint_own own[JOINT_OWN];
    struct joint_mapped mapped[JOINT_MAPPED];
    struct joint_seen seen;
    uint32_t started; /* when this process began; 0: not asked yet, or not known */
};

/* In struct win. */
struct path_win {
    _Atomic uint32_t njoint; /* how many entries of path_rma.own are the window's */
    uint32_t ndeferring;     /* how many targets have deferred operations: deferred.h */
    struct list deferring;   /* these targets; not initialised if there are none */
};

/* In struct rma_target. */
struct path_target {
    struct list deferred;          /* its operations that wait: deferred.h */
    size_t deferred_bytes;         /* that they take here */
    struct list_node link;         /* in path_win.deferring while they wait */
    struct cma_queue *gathered;    /* its operations that will share a system call: assisted.c */
    struct unsent unsent;          /* entered while any operations are gathered */
    struct win *unsent_of;         /* of this target */
    _Atomic uint32_t regions_gone; /* the count in its control block at the last look:
                                      xpmem_path.c */
};

/* The stages that one process has in another's control block for one purpose, one behind the
 * other. */
struct stage_row {
    struct win_stage *first;
    uint32_t bytes; /* size of each stage; 0: there are no stages */
};

/* Stages of a memory peer: this process's in the peer's control block, and the peer's in this
 * process's. */
struct stage_target {
    struct stage_row out, in;             /* of PSCW epochs */
    struct stage_row out_phase, in_phase; /* of fence phases */
    uint32_t used;                        /* bytes used in the stage of the present access epoch */
    uint32_t posts_seen;                  /* count of posts when the origin last looked */
};

/* stage_first_target sets the counters of a target that is being made to first
 * (win/first_number.h). */
static inline void stage_first_target(struct stage_target *stage, uint32_t first)
{
    stage->posts_seen = first;
}

#endif
