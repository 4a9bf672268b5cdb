/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xpmem.h - maps memory of one process in another, by the kernel module XPMEM.
 *
 * The module (github.com/hpc/xpmem) lets a process make a segment of a range of its address space,
 * whatever memory that is, and others who know the segment's number get a permit for it and attach
 * it: the same pages are then in both. The module is used through its library, libxpmem.so.0, which
 * is loaded when it is first needed; without the library, or without the module, nothing here
 * works, and a message says why.
 *
 * What the module does, as its source has it:
 * - Segments are whole pages: other data in the first and last page can be reached, too. Only
 *   processes of the same user get a permit (mode 0600).
 * - An attachment follows the owner's address space: where the owner unmaps a page and maps another
 *   one there, the next access finds that; where there is no page, or the owner has removed the
 *   segment or has ended, an access ends the accessing process by SIGBUS.
 * - Nothing but xpmem_detach may unmap an attachment, or the module ends the process. A child that
 *   is forked has none.
 *
 * No locks: all functions but open and close may be called by several threads at once.
 */
#ifndef MRMA_SHM_XPMEM_H
#define MRMA_SHM_XPMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shm_xpmem;

/* Another process's memory, attached. */
struct shm_xpmem_map {
    int64_t permit;
    void *pages; /* where the first page is */
    void *at;    /* where the first byte is that was asked for */
};

/* shm_xpmem_open loads libxpmem.so.0 and tries every call that is needed on a page of this process.
 * Where the module's device, /dev/xpmem, is not there, it does so only if anyway is set: without
 * the device the library cannot work, and the search for one that is not installed would be a large
 * part of the time of a process's first MPI_Alloc_mem. Returns MRMA_SUCCESS, and *out, which
 * shm_xpmem_close ends; else MRMA_ERR_OTHER or MRMA_ERR_NO_MEM, and writes the call that failed and
 * the kernel's reason to why, of len bytes. */
int shm_xpmem_open(bool anyway, struct shm_xpmem **out, char *why, size_t len);

/* shm_xpmem_close frees what shm_xpmem_open made; libxpmem stays loaded. NULL does nothing. */
void shm_xpmem_close(struct shm_xpmem *x);

/* shm_xpmem_version returns the module's version. */
int shm_xpmem_version(const struct shm_xpmem *x);

/* shm_xpmem_make makes a segment of the pages of [ptr, ptr+len), len > 0, and returns its number,
 * which is not used again as long as the process lives; 0: refused, and errno says why. */
uint64_t shm_xpmem_make(const struct shm_xpmem *x, const void *ptr, size_t len);

/* shm_xpmem_remove ends a segment of this process; 0 stands for none. */
void shm_xpmem_remove(const struct shm_xpmem *x, uint64_t segment);

/* shm_xpmem_attach maps the pages of [vaddr, vaddr+len), the owner's addresses, by the segment that
 * the owner has made of exactly these. Returns 0, and *map, which shm_xpmem_detach ends; else an
 * errno, and leaves nothing behind. */
int shm_xpmem_attach(const struct shm_xpmem *x, uint64_t segment, uint64_t vaddr, uint64_t len,
                     struct shm_xpmem_map *map);

/* shm_xpmem_detach unmaps what was attached and gives the permit back. */
void shm_xpmem_detach(const struct shm_xpmem *x, const struct shm_xpmem_map *map);

/* shm_xpmem_probe attaches the word at vaddr of the process that has made the segment, and compares
 * it. 0: it works. -1: another value was there. Else an errno. */
int shm_xpmem_probe(const struct shm_xpmem *x, uint64_t segment, uint64_t vaddr, uint64_t expected);

#endif
