/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc_records.h - the records of a window's creation, kept for as long as targets may
 * still be made from them: one copy a node.
 *
 * Until all have agreed that the window exists, each process has what it has
 * gathered. Then the lowest of the memory peers has put a copy into memory that
 * the node can map, and the others use that. A process that is alone keeps what
 * it has gathered, and so do all where the bootstrap has one copy for all.
 */
#ifndef MRMA_RMA_WIN_PROC_RECORDS_H
#define MRMA_RMA_WIN_PROC_RECORDS_H

#include "boot/boot.h"
#include "rma/env.h"
#include "rma/rma.h"

struct win;

/* What a process tells the others about a window. Fixed width: the processes may
 * run different builds. */
struct win_record {
    struct rma_proc_record proc;
    struct rma_net_key net; /* not before the network is open */
    struct rma_mem_loc ctl; /* control block */
    struct rma_mem_loc mem; /* window memory, all zero: not shareable */
    struct win_hints hints;
    uint64_t size, vaddr;
    uint64_t segment;   /* of its memory, which others attach; 0: none */
    uint32_t exported;  /* they attach its memory, or each region of a dynamic window */
    uint64_t untouched; /* bytes that the creation has reserved or will: they take memory later */
    uint32_t disp_unit, flavor, index, gen;
    int32_t err;     /* enum mrma_err of the preparation */
    uint32_t path;   /* enum rma_path: by which the others of its node reach its memory, if the
                        kernel lets them; win_own_path */
    uint32_t strict; /* checks of MPIRMA_STRICT are on */
    uint32_t conf;   /* MPIRMA_PATH and MPIRMA_RANKS_PER_NODE */
};

struct win_records {
    const struct win_record *all; /* by rank; NULL: no targets are left to make */
    bool complete;                /* all have agreed on them: nothing is added any more */
    struct boot_records gathered;
    void *own;    /* the node's copy, made by this process */
    void *mapped; /* handle of the node's copy, made by another */
};

/* records_gather exchanges the records of all processes of boot, of which this one's is mine, into
 * w->records.all. Collective; waits for the others. When it is called again in the same creation
 * the exchange before is given up. Returns an enum mrma_err; if w->records.all is NULL then, no
 * process has the records. */
int records_gather(struct win *w, struct boot *boot, const struct win_record *mine);

/* records_to_complete returns this process's own copy of the records, in the order of ranks, to
 * which keys of the network are added before the records are used; NULL: all have one copy, which
 * is complete. */
struct win_record *records_to_complete(struct win *w);

/* records_publish puts a copy of the records where the node can map it, if this process is the one
 * that does so, before all agree that the window exists. The control block can be seen by then.
 * MRMA_ERR_NO_MEM, MRMA_ERR_OTHER or MRMA_ERR_INTERN; what records_gather has got stays. */
int records_publish(struct win *w);

/* records_keep is called when all have agreed: it uses the node's copy from now on and gives back
 * this process's own, or drops the records where no target will be made from them. If the copy
 * cannot be mapped, which is logged, the own one stays. */
void records_keep(struct win *w);

/* records_unpublish gives back the copy that records_publish has made, if the agreement was to try
 * again. */
void records_unpublish(struct win *w);

/* records_drop gives back all that is kept of records, when the window ends or is not made. */
void records_drop(struct win *w);

/* win_on_node returns whether rank is treated as a process of this node: by the machine, and by
 * MPIRMA_RANKS_PER_NODE. While w->records.all is there. */
bool win_on_node(const struct win *w, int rank);

#endif
