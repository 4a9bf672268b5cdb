/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_create.h - the steps of window creation.
 */
#ifndef MRMA_RMA_CREATE_WIN_CREATE_H
#define MRMA_RMA_CREATE_WIN_CREATE_H

#include "rma/win/proc_records.h"
#include "rma/win/win.h"

/* MPI_Win_allocate_shared: what is exchanged when the segment is made, and when
 * all have mapped it. */
struct win_segment {
    struct rma_mem_loc loc;
    int64_t err;
};

struct win_part {
    uint64_t offset; /* of the process's part in the segment */
    uint64_t vaddr;  /* its own address of that */
    int64_t err;
};

/* What creation knows until it is over. The records are w->records. */
struct win_plan {
    struct boot *boot;
    struct win_record mine;
    struct win_segment *segments; /* MPI_Win_allocate_shared: by rank, */
    struct win_part *parts;       /* the same, */
    char *segment_base;           /* and where the segment is here */
    void *net_room;               /* for opening the network, if there is one */
    bool packets_only;            /* a process was refused cross-memory attach: all use packets */
    bool refused;                 /* out: a peer would need it and is refused */
    bool unattached;              /* out: what a peer has exported could not be attached */
    int slots;                    /* out: slots that the control block needs, if it has too few */
};

/* win_life.c: a record with nothing in it yet, NULL: no memory; a free index for it; all of it
 * goes. */
struct win *win_new(struct rma *r, const struct win_spec *spec);
int win_take_place(struct win *w);
void win_delete(struct win *w);

/* win_shared.c: this process's part of the memory. Collective even after a local error. */
int win_share_memory(struct win *w, struct win_plan *plan);

/* route.c: the path by which the other processes of its node reach the memory of the process that
 * rec tells of, where the kernel lets them: PATH_MAPPED, PATH_ASSISTED, or PATH_PACKETS where these
 * are forced. The process itself asks, once, when its memory of w is there; the others read the
 * answer in its record. */
enum rma_path win_own_path(const struct win *w, const struct win_record *rec);

/* Choose path and synchronization for the ranks of this node and reach the peers'
 * memory; the others' targets are made later. MRMA_AGAIN: plan->slots. */
int win_route(struct win *w, struct win_plan *plan);
void win_unroute(struct win *w);

/* win_hints.c: what w->hints are where its processes gave different ones; all know if they are
 * strict. MRMA_ERR_INFO_VALUE at all processes, and only then. */
int win_agree_hints(struct win *w);

#endif
