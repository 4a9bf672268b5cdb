/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc_records.h - what a window knows of each of its processes, for as long as targets may still
 * be made from it: who it is (proc_table.h), and its part of the window, here.
 *
 * The parts are one copy a node. Until all have agreed that the window exists, each process has
 * what it has gathered. Then the lowest of the memory peers has put a copy into memory that the
 * node can map, and the others use that. A process that is alone on its node keeps its own. Where
 * all processes have said the same, and the window has those of its table in their order, there is
 * one part for all. Keys of the network are kept beside the parts, where it needs any: each is what
 * the card of that process has made of its address.
 */
#ifndef MRMA_RMA_WIN_PROC_RECORDS_H
#define MRMA_RMA_WIN_PROC_RECORDS_H

#include <assert.h>

#include "boot/boot.h"
#include "rma/env.h"
#include "rma/rma.h"

struct win;
struct proc_table;

/* A process's part of a window. */
struct win_record {
    uint64_t size;
    uint32_t place;      /* of its process in the table */
    uint32_t index, gen; /* how it knows the window */
    uint32_t disp_unit;
    uint8_t slot;      /* of the notice for its node (env.h), while the window is made */
    uint8_t untouched; /* how much of its memory it has reserved and has not touched:
                          win_exchange.h */
    uint16_t zero[3];
};
static_assert(sizeof(struct win_record) == 32, "what a process of a window takes on each node");

struct win_records {
    struct proc_table *table;     /* who its processes are; NULL: this one is alone, or all targets
                                     are made */
    const struct win_record *all; /* by rank; NULL: see same */
    const struct rma_net_key *keys; /* by rank; NULL: the network needs none */
    bool same; /* all NULL: the part of each is the one below, and its place is its rank */
    struct win_record part;
    struct boot_records gathered; /* all, as this process got it */
    void *own_keys;               /* keys, the same; of malloc */
    void *own;                    /* the node's copy, made by this process */
    void *mapped;                 /* handle of the node's copy, made by another */
};

/* records_are_there returns whether targets can still be made. */
bool records_are_there(const struct win *w);

/* record_of returns the part of rank. While records_are_there. */
struct win_record record_of(const struct win *w, int rank);

/* record_proc returns what the process of rank tells of itself. While records_are_there. */
const struct rma_proc_record *record_proc(const struct win *w, int rank);

/* record_key returns how the network reaches the memory of rank without packets. */
struct rma_net_key record_key(const struct win *w, int rank);

/* records_publish puts a copy of the parts and keys, and of a table that is new, where the node can
 * map it, if this process is the one that does so, before all agree that the window exists. The
 * control block can be seen by then. MRMA_ERR_NO_MEM, MRMA_ERR_OTHER or MRMA_ERR_INTERN; what this
 * process has stays. */
int records_publish(struct win *w, bool new_table);

/* records_keep is called when all have agreed: it uses the node's copies from now on and gives back
 * this process's own, or drops the records where no target will be made from them. If a copy cannot
 * be mapped, which is logged, the own one stays. communicator: boot.communicator. */
void records_keep(struct win *w, bool new_table, uint64_t communicator);

/* records_unpublish gives back the copy that records_publish has made, if the agreement was to try
 * again. */
void records_unpublish(struct win *w);

/* records_close says that no target will be made any more. Under the engine's lock. */
void records_close(struct win *w);

/* records_drop gives back all that is kept of records, when the window ends or is not made. Under
 * the engine's lock. */
void records_drop(struct win *w);

/* win_on_node returns whether rank, whose process has told proc of itself, is treated as a process
 * of this node: by the machine, and by MPIRMA_RANKS_PER_NODE. */
bool win_on_node(const struct win *w, int rank, const struct rma_proc_record *proc);

#endif
