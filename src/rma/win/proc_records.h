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

/* Exchange the records: collective. If all is NULL afterwards, nobody has gone on. */
int records_gather(struct win *w, struct boot *boot, const struct win_record *mine);
/* For what has to be added to them before they are used; NULL where all have one copy. */
struct win_record *records_to_complete(struct win *w);
/* Before the agreement, when the control block can be seen: MRMA_ERR_NO_MEM, _INTERN. */
int records_publish(struct win *w);
/* After it. */
void records_keep(struct win *w);
/* The agreement was to try again. */
void records_unpublish(struct win *w);
void records_drop(struct win *w);

/* Is rank treated as a process of this node: by the machine, and by MPIRMA_RANKS_PER_NODE? */
bool win_on_node(const struct win *w, int rank);

#endif
