/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc_records.h - what a window knows of each of its processes while targets may still be made:
 * proc_table.h has who the process is, and this file has its part of the window.
 *
 * A node has one copy of the parts. Until all processes have agreed that the window exists, each
 * uses the parts that it has gathered itself. By then the lowest of the memory peers has put a copy
 * into memory that the node can map, and the others use that copy. A process that is alone on its
 * node keeps its own copy. Where all processes have told the same part, and the window has the
 * processes of its table in the table's order, one part stands for all. Where the network needs
 * keys, they are kept beside the parts: each is what the card of that process has made of its
 * address.
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
    uint32_t place;      /* place of its process in the table */
    uint32_t index, gen; /* how that process knows the window */
    uint32_t disp_unit;
    uint8_t slot;      /* place of the notice for its node (env.h), while the window is made */
    uint8_t untouched; /* how much of its memory it has reserved and not touched yet:
                          win_exchange.h */
    uint16_t zero[3];
};
static_assert(sizeof(struct win_record) == 32, "what a process of a window takes on each node");

struct win_records {
    struct proc_table *table;     /* who the window's processes are; NULL: this process is alone, or
                                     all targets are made */
    const struct win_record *all; /* by rank; NULL: see same */
    const struct rma_net_key *keys; /* by rank; NULL: the network needs none */
    bool same; /* all NULL: the part of each is the one below, and its place is its rank */
    struct win_record part;
    struct boot_records gathered; /* parts and keys of all, as this process got them */
    void *own_keys;               /* the keys as this process got them, from malloc */
    void *own;                    /* the node's copy, if this process has made it */
    void *mapped;                 /* handle of the node's copy, if another process has made it */
};

/* records_are_there returns whether targets can still be made. */
bool records_are_there(const struct win *w);

/* record_of returns the part of rank. While records_are_there. */
struct win_record record_of(const struct win *w, int rank);

/* record_proc returns what the process of rank has told of itself. While records_are_there. */
const struct rma_proc_record *record_proc(const struct win *w, int rank);

/* record_key returns how the network reaches the memory of rank without packets. */
struct rma_net_key record_key(const struct win *w, int rank);

/* records_publish makes the node's copy of the parts and keys, and of a table that is new, if this
 * process is the one that makes it for the node. It is called before all agree that the window
 * exists, when others can see the control block. MRMA_ERR_NO_MEM, MRMA_ERR_OTHER or
 * MRMA_ERR_INTERN: there is no copy for the node, and this process's own stays. */
int records_publish(struct win *w, bool new_table);

/* records_keep is called when all have agreed. It uses the node's copies from now on and frees this
 * process's own, or drops the records where no target will be made from them. If a copy cannot be
 * mapped, which is logged, this process keeps its own. communicator is boot.communicator. */
void records_keep(struct win *w, bool new_table, uint64_t communicator);

/* records_unpublish gives back the copy that records_publish has made. It is called if the
 * processes have agreed to try the creation again. */
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
