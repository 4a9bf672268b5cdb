/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment.h - memory that node peers can map: memfd, or an unnamed file.
 *
 * A segment has no name in any directory: it is a memfd, or an O_TMPFILE file
 * in MPIRMA_SEGMENT_DIR, so nothing outlives the processes that map it whatever
 * signal ends them. Peers open it through /proc/<pid>/fd/<fd>.
 *
 * Creation reserves address space only. seg_commit finds out whether there is enough room: no page
 * of a segment is touched before it is committed, so there is no SIGBUS later. Where a touch cannot
 * fail (a memfd), committing looks whether the machine and its control groups have that much left,
 * and pages come by first touch, on the NUMA node of the thread that touches them. Where a touch
 * can fail (a directory whose file system has a limit; a kernel that counts every page against a
 * commit limit), committing allocates the pages.
 */
#ifndef MRMA_SHM_SEGMENT_H
#define MRMA_SHM_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"

struct seg {
    int fd;           /* open descriptor (owner and peers keep it to commit pages), -1: none */
    void *base;       /* mapping of the whole segment, page aligned */
    size_t size;      /* bytes, multiple of the page size */
    uint64_t inode;   /* st_ino of the file: identity check when a peer opens it */
    uint64_t device;  /* st_dev */
    bool first_touch; /* pages come by first touch; of a peer's segment: not known yet if false */
};

/* How a peer finds a segment; travels in bootstrap records. */
struct seg_name {
    uint64_t inode;
    uint64_t device;
    uint64_t size;
    int32_t pid;
    int32_t fd;
};

/* seg_create creates a segment of at least size bytes and maps it; nothing of it is committed. dir
 * is the directory for its file, "" means memfd. From 2 MiB on huge pages are asked for; a refusal
 * is not an error. Returns MRMA_SUCCESS and *out, which seg_close ends; MRMA_ERR_NO_MEM if size can
 * never fit (file system or address space) or the system has no more, MRMA_ERR_OTHER if the
 * directory does not allow it or descriptors are used up (logged). */
int seg_create(const char *dir, size_t size, const struct log *log, struct seg *out);

/* seg_create_at is seg_create with the mapping at that address, a multiple of 2 MiB where nothing
 * but address space is reserved that the caller owns; size is a multiple of the page size. What was
 * there is replaced, and after a failure it is as before. at may be NULL: anywhere. */
int seg_create_at(const char *dir, size_t size, void *at, const struct log *log, struct seg *out);

/* seg_commit makes sure that touching [offset, offset+len) cannot fail. Returns MRMA_SUCCESS, or
 * MRMA_ERR_NO_MEM (logged) when it does not fit: in the file system, or, for memory, in what the
 * system says is available, so that no process is killed for it. MRMA_ERR_OTHER if the file system
 * cannot reserve space. */
int seg_commit(struct seg *seg, size_t offset, size_t len, const struct log *log);

/* seg_fits returns MRMA_SUCCESS if the machine has len bytes for segments like this one that are
 * still to be touched, else MRMA_ERR_NO_MEM (logged). It is for several processes together, each of
 * which has checked its own part in seg_commit. */
int seg_fits(const struct seg *seg, uint64_t len, const struct log *log);

/* seg_decommit gives back to the system the pages that lie wholly in [offset, offset+len)
 * (fallocate PUNCH_HOLE); their contents are lost. */
void seg_decommit(struct seg *seg, size_t offset, size_t len);

/* seg_pages returns the bytes of pages that the segment has; its size if the system does not tell.
 */
size_t seg_pages(const struct seg *seg);

/* seg_forget closes the file of a segment at whose addresses other memory lies now; it leaves that
 * memory alone. */
void seg_forget(struct seg *seg);

/* seg_leave leaves the memory at the segment's addresses, with its contents, to this process, and
 * closes the segment: it becomes a private mapping of the file, or stays shared where the system
 * refuses that. Stores of other threads meanwhile are not lost. */
void seg_leave(struct seg *seg);

/* seg_open opens and maps the segment of a peer of this node, and compares inode, device and size
 * with name. Returns MRMA_SUCCESS and *out, which seg_close ends; MRMA_ERR_OTHER with a message
 * that names pid and errno if it cannot be opened or is another, MRMA_ERR_NO_MEM without memory or
 * address space. */
int seg_open(const struct seg_name *name, const struct log *log, struct seg *out);

/* seg_only_mapped closes the descriptor of a peer's segment that was opened: nothing will be
 * committed, and the mapping is enough. */
void seg_only_mapped(struct seg *seg);

/* seg_close unmaps and closes the segment. Nothing happens for a struct that is all zero but for
 * fd, which is -1. */
void seg_close(struct seg *seg);

/* seg_name_of returns the name by which peers open a segment that this process has created; pid is
 * the caller's. */
struct seg_name seg_name_of(const struct seg *seg);

#endif
