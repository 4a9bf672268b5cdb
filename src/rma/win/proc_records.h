/*
 * proc_records.h - the records of a window's creation, kept for as long as targets may
 * still be made from them: one copy a node.
 *
 * Until all have agreed that the window exists, each process has what it has
 * gathered. Then the direct group's lowest rank has put a copy into memory that
 * the node can map, and the others use that. A process that is alone keeps what
 * it has gathered, and so do all where the bootstrap has one copy for all.
 */
#ifndef MRMA_RMA_WIN_PROC_RECORDS_H
#define MRMA_RMA_WIN_PROC_RECORDS_H

#include "base/boot.h"

struct win;
struct win_record;

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

#endif
