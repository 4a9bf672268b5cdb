/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_create.h - the steps of window creation (win_create of rma.h), one file each.
 */
#ifndef MRMA_RMA_CREATE_WIN_CREATE_H
#define MRMA_RMA_CREATE_WIN_CREATE_H

#include "rma/create/win_exchange.h"
#include "rma/win/proc_records.h"
#include "rma/win/proc_table.h"
#include "rma/win/win.h"

/* MPI_Win_allocate_shared: what is exchanged when the segment is made, and when
 * all have mapped it. */
struct win_segment {
    struct rma_mem_loc loc;
    int64_t err;
};

struct win_part {
    uint64_t offset; /* offset of the process's part in the segment */
    uint64_t vaddr;  /* the process's own address of its part */
    int64_t err;
};

/* What the creation knows until it is over. Only w->records is kept. */
struct win_plan {
    struct boot *boot;
    struct win_detail mine;
    struct rma_notice *notice; /* for the node, at that place: */
    int slot;
    struct rma_notice unseen; /* takes the place of the notice where no place was left, which is an
                                 error */
    int err;                  /* error of the preparation; others are told of it only by the first
                                 exchange */
    uint64_t untouched;       /* bytes that the creation has reserved or will */
    /* Of the exchanges. */
    const struct win_detail *details; /* by rank; NULL: all are like mine, except for size and
                                         unit */
    size_t details_stride;            /* bytes from one of the details to the next */
    struct rma_procs procs;           /* until records are published */
    int *place;                       /* memory for procs.place */
    bool new_table;                   /* the table is not known to later creations yet */
    struct boot_records gathered;     /* details, where the bootstrap has memory for them */
    /* Memory for the exchanges, which the process gets before the first one. */
    char *memory;              /* of everything that does not say otherwise */
    void *room, *details_room; /* room: allocated by itself, since it may become the table's */
    struct proc_table *spare;
    struct win_segment *segments; /* MPI_Win_allocate_shared: by rank, */
    struct win_part *parts;       /* the same, */
    char *segment_base;           /* address of the segment here */
    void *net_room;               /* room for opening the network, if there is one, */
    struct rma_net_key *keys;     /* and the keys that this gives for all */
    bool packets_only;            /* the kernel has refused cross-memory attach to a process: all
                                     use packets */
    bool refused;                 /* result: a peer would need cross-memory attach and is refused */
    bool unattached;              /* result: what a peer has exported could not be attached */
    int slots;                    /* result: how many slots the control block needs, if it has too
                                     few */
};

/* ---- win_plan.c ---- */

/* win_plan_room gets the memory that exchanges after the first may need. MRMA_ERR_NO_MEM;
 * win_plan_end frees it in any case. */
int win_plan_room(struct win *w, struct win_plan *plan);

/* win_plan_notice takes a place for the notice of a window that is made: plan->notice and
 * plan->slot. MRMA_ERR_NO_MEM, with a message, if there is none. Takes the engine's lock. */
int win_plan_notice(struct rma *r, struct win_plan *plan);

/* win_plan_end frees plan and what it has, except what the window has taken over. Takes the
 * engine's lock. */
void win_plan_end(struct rma *r, struct win_plan *plan);

/* ---- win_life.c ---- */

/* win_new makes the structure of a window as spec says, without memory, targets or a number; the
 * hints are those of this process. Only win_delete frees it. NULL: no memory. */
struct win *win_new(struct rma *r, const struct win_spec *spec);

/* win_take_place enters w into the layer's table of windows, and sets its index and generation,
 * under which packets find it from now on. MRMA_ERR_NO_MEM. Takes the engine's lock. */
int win_take_place(struct win *w);

/* win_delete frees w and all that hangs on it, however far its creation has come, and gives back
 * what was published for it, unless w->abandoned says that others may still use that. Sends nothing
 * and does not wait. Under the engine's lock. */
void win_delete(struct win *w);

/* ---- win_shared.c ---- */

/* win_share_memory makes the memory of MPI_Win_allocate_shared and finds this process's part of it;
 * plan has what all processes have told of their parts. Collective, also after a local error; waits
 * for the others. Returns success at all processes or an error at each, not necessarily the same.
 * Without the engine's lock. */
int win_share_memory(struct win *w, struct win_plan *plan);

/* ---- node_targets.c ---- */

/* win_own_path returns the path by which the other processes of its node reach this process's
 * memory, which notice describes, if the kernel lets them: PATH_MAPPED, PATH_ASSISTED, or
 * PATH_PACKETS where packets are forced. Only the process itself calls it, once, when it has its
 * memory of w; the others read the answer in the notice. */
enum rma_path win_own_path(const struct win *w, const struct rma_notice *notice);

/* win_make_targets chooses path and synchronization for the ranks of this node, from the records,
 * and reaches the peers' memory; targets on other nodes are made later. MRMA_AGAIN: the control
 * block has too few slots, and plan->slots are needed; any other error: a peer or its memory cannot
 * be had. plan->refused and plan->unattached may be set without an error. Whatever it returns,
 * win_free_targets frees what it has made. Not collective. Under the engine's lock. */
int win_make_targets(struct win *w, struct win_plan *plan);

/* win_free_targets lets go of all targets, peers and mapped memory of w. Under the engine's lock.
 */
void win_free_targets(struct win *w);

/* ---- route.c ---- */

/* win_make_routes makes the routes of w, before there is any target and when it is known whether
 * strict mode is on. */
void win_make_routes(struct win *w);

/* ---- win_atomics.c ---- */

/* win_choose_atomics makes the network's cards do accumulates on w, which was made and which nobody
 * has used yet, if mpirma_fabric_atomics asks for it and the cards can; that hint says afterwards
 * whether they do. Collective; all processes come to the same result. Returns an error of the
 * exchange. Without the engine's lock. */
int win_choose_atomics(struct win *w, struct win_plan *plan);

/* ---- win_hints.c ---- */

/* win_agree_hints sets w->hints to values that are right for all processes of w, where their
 * details show that they have given different hints. All know by then whether strict mode is on. It
 * returns MRMA_ERR_INFO_VALUE at all processes, and only in strict mode. Does not wait. */
int win_agree_hints(struct win *w, const struct win_plan *plan);

#endif
