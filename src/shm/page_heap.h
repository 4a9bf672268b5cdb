/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_heap.h - a shared heap of whole pages: the large blocks of malloc, where they are shared.
 *
 * The heap of MPI_Alloc_mem (heap.h) is for some blocks, whose bookkeeping malloc gives. This one
 * stands below malloc: it takes nothing from malloc, has room for hundreds of thousands of blocks
 * with a few descriptors, tells by one comparison whether an address is its own, and gives freed
 * pages back to the system, of which it keeps 64 MiB for the next blocks. Peers map its memory by
 * the same struct heap_loc.
 *
 * All memory lies in one range of addresses that is reserved in the beginning. Arenas, each a
 * segment, fill the range from below; each is about as large as all before it. Locks: one mutex
 * inside; any thread may call, also between the fork functions.
 */
#ifndef MRMA_SHM_PAGE_HEAP_H
#define MRMA_SHM_PAGE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "shm/heap.h"

struct page_heap;

/* page_heap_create reserves so many bytes of addresses, or what the system allows of them, a GiB at
 * least. dir is as for seg_create (segment.h); dir and log are kept and must outlive the heap.
 * Returns MRMA_SUCCESS and *out, or MRMA_ERR_NO_MEM (logged). */
int page_heap_create(const char *dir, const struct log *log, size_t range, struct page_heap **out);

/* page_heap_destroy unmaps everything. No other thread uses the heap. */
void page_heap_destroy(struct page_heap *heap);

/* page_heap_range returns the heap's addresses: *size bytes from the returned one on. They never
 * change, and memory of nobody else lies there. */
void *page_heap_range(const struct page_heap *heap, size_t *size);

/* page_heap_alloc returns a block of at least size bytes, aligned to align, a power of two, and to
 * a page in any case. zero: all its bytes are zero. NULL: it cannot be had, or a fork is under way
 * in this thread (the former is logged). */
void *page_heap_alloc(struct page_heap *heap, size_t size, size_t align, bool zero);

/* page_heap_free frees the block at ptr; while the block is pinned its memory is kept. Returns
 * false if ptr is not the start of a block. */
bool page_heap_free(struct page_heap *heap, void *ptr);

/* page_heap_size returns how many bytes the block at ptr has, at least those asked for; 0 if ptr is
 * not the start of a block. */
size_t page_heap_size(struct page_heap *heap, const void *ptr);

/* page_heap_resize makes the block at ptr at least size bytes long where it is, and gives back what
 * it then has too much. Returns false if there is no room behind it; it is as it was then. */
bool page_heap_resize(struct page_heap *heap, void *ptr, size_t size);

/* page_heap_find does what heap_find does (heap.h). Any address may be asked for. */
bool page_heap_find(struct page_heap *heap, const void *ptr, size_t len, struct heap_loc *loc);

/* page_heap_pin does what heap_pin does. Any address may be asked for. */
bool page_heap_pin(struct page_heap *heap, const void *ptr, size_t len);

/* page_heap_unpin does what heap_unpin does. */
void page_heap_unpin(struct page_heap *heap, const void *ptr);

/* page_heap_pages returns how many bytes of memory the heap has from the system. */
size_t page_heap_pages(struct page_heap *heap);

/* page_heap_fork_prepare is called before a fork. Until page_heap_fork_parent or
 * page_heap_fork_child the heap is locked for all threads but this one, which may free blocks and
 * gets none. If there is no memory for the child's copies, a warning says so, and the child gets no
 * new blocks. */
void page_heap_fork_prepare(struct page_heap *heap);

/* page_heap_fork_parent is called in the parent after the fork, or instead of a fork. */
void page_heap_fork_parent(struct page_heap *heap);

/* page_heap_fork_child is called in the child, which then has copies of the heap's memory, as it
 * was at the fork, at the same addresses; nobody maps what is allocated there. */
void page_heap_fork_child(struct page_heap *heap);

#endif
