/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment.h - memory that node peers can map: memfd, or an unnamed file.
 *
 * A segment has no name in any directory: it is a memfd, or an O_TMPFILE file
 * in MPIRMA_SEGMENT_DIR, so nothing outlives the processes that map it whatever
 * signal ends them. Peers open it through /proc/<pid>/fd/<fd>.
 *
 * Creating one reserves address space only. seg_commit is where too little room is found out: no
 * page of a segment is touched before it is committed, so there is no SIGBUS later. Where a touch
 * cannot fail (a memfd), committing looks whether the machine and its control groups have that
 * much left, and pages come by first touch, on the NUMA node of who touches them. Where it can (a
 * directory whose file system has a limit; a kernel that counts every page against a commit limit),
 * committing allocates the pages.
 */
#ifndef MRMA_SHM_SEGMENT_H
#define MRMA_SHM_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"

struct seg {
    int fd;          /* open descriptor (owner and peers keep it to commit pages), -1: none */
    void *base;      /* mapping of the whole segment, page aligned */
    size_t size;     /* bytes, multiple of the page size */
    uint64_t inode;  /* st_ino of the file: identity check when a peer opens it */
    uint64_t device; /* st_dev */
    bool late;       /* pages come by first touch; of a peer's segment: not known yet if false */
};

/* How a peer finds a segment; travels in bootstrap records. */
struct seg_name {
    uint64_t inode;
    uint64_t device;
    uint64_t size;
    int32_t pid;
    int32_t fd;
};

/* Create a segment of at least size bytes. dir "" means memfd. MRMA_ERR_NO_MEM
 * if size cannot ever fit (file system or address space), MRMA_ERR_OTHER if the
 * directory does not allow it. Asks for huge pages when size >= 2 MiB; a refusal
 * is not an error. */
int seg_create(const char *dir, size_t size, const struct log *log, struct seg *out);

/* See to it that touching [offset, offset+len) cannot fail. MRMA_ERR_NO_MEM when it does not fit:
 * in the file system, or, for memory, in what the system says is available (no OOM kill). */
int seg_commit(struct seg *seg, size_t offset, size_t len, const struct log *log);

/* The same look for len bytes that are still to be touched, in segments like this one: of several
 * processes together, who have each looked for their own. MRMA_ERR_NO_MEM. */
int seg_fits(const struct seg *seg, uint64_t len, const struct log *log);

/* Give the pages of a range back (fallocate PUNCH_HOLE); page aligned inside. */
void seg_decommit(struct seg *seg, size_t offset, size_t len);

/* Bytes of pages that the segment has. */
size_t seg_pages(const struct seg *seg);

/* Its pages are no longer at base, where other memory is: close the file, let that be. */
void seg_forget(struct seg *seg);

/* The mapping stays, with its contents, as memory of this process alone, and is no longer the
 * segment's, which is closed. What other threads store meanwhile is not lost. */
void seg_leave(struct seg *seg);

/* Open and map a peer's segment. Checks inode, device and size against name;
 * MRMA_ERR_OTHER with a message naming pid and errno if it cannot be opened. */
int seg_open(const struct seg_name *name, const struct log *log, struct seg *out);

/* Close the descriptor of a peer's segment that was opened: nothing will be committed, and the
 * mapping is enough. */
void seg_only_mapped(struct seg *seg);

/* Unmap and close. Safe on a zeroed struct with fd -1. */
void seg_close(struct seg *seg);

struct seg_name seg_name_of(const struct seg *seg); /* pid: the caller's */

#endif
