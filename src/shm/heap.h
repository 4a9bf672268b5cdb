/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap.h - the shared heap behind MPI_Alloc_mem and MPI_Win_allocate.
 *
 * Memory that its owner allocates and frees and node peers can map: small blocks from chunks of a
 * few MiB, large ones (and any that need alignment above a page) in a segment of their own.
 * Bookkeeping is private to the owner, never in the shared pages (a peer's stray store must not
 * break the allocator). Locks: one mutex inside (MPI_THREAD_MULTIPLE). Memory is committed as
 * segment.h says: reserved, with pages by first touch, where a touch cannot fail. Freed memory
 * keeps some of its pages, within bounds (heap_chunk.c, heap_keep.c).
 */
#ifndef MRMA_SHM_HEAP_H
#define MRMA_SHM_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "shm/segment.h"

struct heap;

/* Where an address lies, for a peer. */
struct heap_loc {
    struct seg_name seg;
    uint64_t offset; /* offset of the address within the segment */
    uint64_t map;    /* HEAP_MAP_* */
};
enum {
    HEAP_MAP_ALL,
    HEAP_MAP_KEEP
}; /* KEEP: a chunk with other blocks, too, which is worth keeping mapped */

/* heap_create makes a heap without memory yet, whose segments will be in dir (segment.h). dir and
 * log are kept and must outlive it. Returns MRMA_SUCCESS and *out, or MRMA_ERR_NO_MEM. */
int heap_create(const char *dir, const struct log *log, struct heap **out);

/* heap_destroy unmaps all memory of the heap, freed or not, and frees the heap. NULL is allowed. No
 * other thread uses the heap. */
void heap_destroy(struct heap *heap);

/* heap_leave frees the heap, but allocated memory stays usable at its addresses for ever, as
 * private memory of this process. NULL is allowed. No other thread uses the heap. */
void heap_leave(struct heap *heap);

/* heap_alloc allocates size bytes (0 gives a valid pointer that no other allocation has), aligned
 * to align, a power of two; at least 64 is always given. Touching them cannot fail. Returns
 * MRMA_SUCCESS and *out; MRMA_ERR_NO_MEM if they cannot be had, MRMA_ERR_ARG for another alignment,
 * or MRMA_ERR_OTHER if the system gives no segment (all logged). */
int heap_alloc(struct heap *heap, size_t size, size_t align, void **out);

/* heap_free frees the allocation at ptr; but while it is pinned the memory is kept. Returns
 * MRMA_SUCCESS, or MRMA_ERR_BASE (logged) if ptr is not the start of a live allocation. */
int heap_free(struct heap *heap, void *ptr);

/* heap_pin keeps the memory of the allocation in which [ptr, ptr+len) lies: heap_free takes it from
 * its owner, but it is used for nothing else until heap_unpin has been called as often as this.
 * Returns false if the range lies in no live allocation. */
bool heap_pin(struct heap *heap, const void *ptr, size_t len);

/* heap_unpin ends one heap_pin with the same ptr. If heap_free was called, the last heap_unpin
 * frees the memory. */
void heap_unpin(struct heap *heap, const void *ptr);

/* heap_find returns whether [ptr, ptr+len) lies inside one live allocation, and sets *loc only
 * then. */
bool heap_find(struct heap *heap, const void *ptr, size_t len, struct heap_loc *loc);

/* heap_untouched returns how many of the len bytes that heap_alloc gave at ptr have no page yet, so
 * that they take one from the machine when they are touched. 0 for small blocks, and where pages
 * are allocated at once. */
size_t heap_untouched(struct heap *heap, const void *ptr, size_t len);

/* heap_fork_prepare is called before a fork. From now on the heap is locked, until heap_fork_parent
 * or heap_fork_child. If there is no memory for the child's copies, a warning says so. */
void heap_fork_prepare(struct heap *heap);

/* heap_fork_parent is called in the parent after the fork, or instead of a fork. */
void heap_fork_parent(struct heap *heap);

/* heap_fork_child is called in the child, which then has copies of the heap's memory, as it was at
 * the fork, at the same addresses. */
void heap_fork_child(struct heap *heap);

#endif
