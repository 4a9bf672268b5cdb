/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * create_state.h - what src/rma/create keeps in a window and in a target, to take down what it has
 * made. Nobody else touches it.
 *
 * Written while the window is created and freed; locks: the engine's, for what concerns peers.
 */
#ifndef MRMA_RMA_WIN_CREATE_STATE_H
#define MRMA_RMA_WIN_CREATE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/env.h"

/* In struct win. */
struct create_win {
    void *owned;                /* memory from env->mem_alloc behind base, or NULL */
    void *segment;              /* handle of MPI_Win_allocate_shared's segment, or NULL */
    uint64_t exported;          /* segment of its memory that others attach; 0: none */
    struct rma_net_mem net_mem; /* how the network reaches this process's memory: origin/rdma.c */
    uint64_t word; /* dynamic windows: the word that the network reads behind puts to regions */
    int nslots;    /* slots in every control block of the node */
};

/* In struct rma_target. */
struct create_target {
    void *map_handle, *ctl_handle; /* handles of its memory and of its control block; NULL: not
                                      mapped here */
    void *attachment; /* its memory, attached; NULL: it is not, or it is mapped otherwise */
    bool peer_kept;   /* the window's use of the peer stays counted when the window goes:
                         abandoned.c */
};

#endif
