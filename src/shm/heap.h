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
    uint64_t offset; /* of the address within the segment */
    uint64_t map;    /* HEAP_MAP_* */
};
enum {
    HEAP_MAP_ALL,
    HEAP_MAP_KEEP
}; /* KEEP: a chunk with other blocks too, worth keeping mapped */

/* log and dir must outlive the heap. MRMA_ERR_NO_MEM. */
int heap_create(const char *dir, const struct log *log, struct heap **out);
void heap_destroy(struct heap *heap); /* unmaps everything, freed or not */
/* The heap is gone, but what is allocated stays usable where it is, as private memory of this
 * process. */
void heap_leave(struct heap *heap);

/* size bytes (0 gives a valid unique pointer), aligned to align (a power of two,
 * at least 64 is always given). Committed. MRMA_ERR_NO_MEM. */
int heap_alloc(struct heap *heap, size_t size, size_t align, void **out);

/* MRMA_ERR_BASE if ptr is not the start of a live allocation. */
int heap_free(struct heap *heap, void *ptr);

/* [ptr, ptr+len) lies inside one live allocation: heap_free takes that from its owner, but the
 * memory is used for nothing else, until heap_unpin has been called with the same ptr as often as
 * this. False: it lies in none. */
bool heap_pin(struct heap *heap, const void *ptr, size_t len);
void heap_unpin(struct heap *heap, const void *ptr);

/* Does [ptr, ptr+len) lie inside one live allocation? Then true and *loc. */
bool heap_find(struct heap *heap, const void *ptr, size_t len, struct heap_loc *loc);

/* Of the len bytes that heap_alloc gave at ptr, how many have no page yet and take one from the
 * machine when they are touched. 0 for small blocks, and where pages are allocated at once. */
size_t heap_untouched(struct heap *heap, const void *ptr, size_t len);

/* Before fork, in the parent after it, and in the child, which has copies of the heap's memory, as
 * it was at the fork, at the same addresses. Between the first and the others the heap waits. */
void heap_fork_prepare(struct heap *heap);
void heap_fork_parent(struct heap *heap);
void heap_fork_child(struct heap *heap);

#endif
