/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vma.h - what lies in a range of this process's addresses, as /proc/self/smaps has it.
 */
#ifndef MRMA_SHM_INPLACE_VMA_H
#define MRMA_SHM_INPLACE_VMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A mapping, or the part of one in the range that was asked for. */
struct vma {
    uintptr_t start, end;
    char perms[5];   /* "rw-p" */
    uint64_t offset; /* in the file, of start; 0: no file */
    dev_t device;
    uint64_t inode;  /* 0: no file */
    char name[128];  /* file, or [heap], [stack], ..., or "" */
    char flags[128]; /* VmFlags, two letters each with a blank behind: "rd wr mr ..."; "" if not
                        asked for */
};

/* Call fn for what is mapped in [start, end), in the order of addresses, until it says false.
 * flags: read smaps for them, which takes the longer the more memory there is below end. */
enum vma_seen {
    VMA_ALL,
    VMA_STOPPED,
    VMA_UNREADABLE
}; /* by fn; there is no such file, or no descriptor for it */
enum vma_seen vma_each(uintptr_t start, uintptr_t end, bool flags,
                       bool (*fn)(void *arg, const struct vma *vma), void *arg);

/* May the pages of [start, end) be replaced by others with the same contents, shared between
 * processes, and back, without anybody noticing but by that? Only private anonymous memory that can
 * be read and written, no stack, and nothing that the kernel treats specially (locked, of a device,
 * watched, huge pages of hugetlbfs, ...). If not, the reason in text of len bytes. */
bool vma_replaceable(uintptr_t start, uintptr_t end, char *text, size_t len);

#endif
