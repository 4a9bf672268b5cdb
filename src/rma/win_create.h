/*
 * win_create.h - the steps of window creation that win.c and win_create.c share.
 */
#ifndef MRMA_RMA_WIN_CREATE_H
#define MRMA_RMA_WIN_CREATE_H

#include "rma/win.h"

/* What a process tells the others about a window. Fixed width: the processes may
 * run different builds. */
struct win_record {
    struct rma_proc_record proc;
    struct rma_net_key net;  /* not before the network is open */
    struct rma_mem_loc ctl;  /* control block */
    struct rma_mem_loc mem;  /* window memory, all zero: not shareable */
    struct rma_mem_loc segment; /* allocate_shared, rank 0: the node's segment */
    uint64_t size, vaddr, hints, alignment; /* hints: those that must agree */
    uint32_t disp_unit, flavor, index, gen;
    int32_t err;             /* enum mrma_err of the preparation */
    uint32_t noncontig;
    uint32_t strict;         /* checks of MPIRMA_STRICT are on */
    uint32_t conf;           /* MPIRMA_PATH and MPIRMA_RANKS_PER_NODE */
};

/* Choose path and synchronization for every rank and reach the peers' memory.
 * allow_cma false: a process was refused cross-memory attach, all use packets.
 * *refused is set when a peer would need it and is refused. */
int win_route(struct win *w, const struct win_record *recs, bool allow_cma, bool *refused);
void win_unroute(struct win *w);

#endif
