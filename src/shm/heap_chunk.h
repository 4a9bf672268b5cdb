/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap_chunk.h - the shared heap's chunks and the blocks in them: the bookkeeping under heap.c.
 *
 * A chunk is a segment. Below its top the chunk is divided without gaps into
 * blocks, kept in address order; a block is live or free, and no two neighbours
 * are free; free blocks are also in the bin of their size (powers of two). Above
 * the top nothing is in use. To find the block of an address, page_first[] holds for every page the
 * lowest block that starts in it; from there the address order leads on. Its files: heap_chunk.c,
 * heap_keep.c (freed segments), heap_fork.c (children). Locks: heap->mutex is held in all of these.
 */
#ifndef MRMA_SHM_HEAP_CHUNK_H
#define MRMA_SHM_HEAP_CHUNK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "shm/fork_copies.h"
#include "shm/heap.h"
#include "shm/segment.h"

#define HEAP_UNIT ((size_t)64) /* alignment and granularity of blocks: a cache line */
#define HEAP_BINS 32

struct block {
    struct list_node by_addr; /* in chunk->blocks */
    struct list_node by_size; /* in heap->bins while free */
    struct chunk *chunk;
    size_t off;  /* within the segment */
    size_t size; /* multiple of HEAP_UNIT in shared chunks */
    size_t used; /* bytes asked for, while live */
    bool live;
    bool freed;    /* while live: heap_free has been called, but there are pins */
    unsigned pins; /* heap_pin */
};

struct chunk {
    struct list_node node; /* in heap->chunks */
    struct seg seg;
    struct list blocks; /* by address, up to top */
    size_t top;
    size_t committed; /* [0, committed) may be touched; in dedicated chunks the number of such
                         bytes */
    size_t held;      /* for a kept chunk (heap_keep.c): at most so many bytes of pages */
    bool dedicated;   /* one block */
    struct block **page_first; /* by page; unused if dedicated */
};

struct heap {
    pthread_mutex_t mutex;
    const char *dir;
    const struct log *log;
    size_t page;
    struct list chunks;
    struct list kept;            /* dedicated chunks without a block, last freed first */
    struct list bins[HEAP_BINS]; /* free blocks of [2^i, 2^(i+1)) units */
    size_t next_chunk;           /* size of the next chunk */
    struct fork_copies copies;   /* while a fork is made */
};

/* heap_round_up returns n rounded up to a multiple of to, a power of two. */
static inline size_t heap_round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

/* heap_page_of returns the number of the page in which offset off of a segment lies. */
static inline size_t heap_page_of(const struct heap *heap, size_t off)
{
    return off / heap->page;
}

/* heap_no_bookkeeping logs that there is no memory for the bookkeeping and returns MRMA_ERR_NO_MEM.
 */
int heap_no_bookkeeping(const struct log *log);

/* heap_bin_of returns the index of the bin for free blocks of size bytes, at least HEAP_UNIT. */
unsigned heap_bin_of(size_t size);

/* block_after returns the next block of the chunk in address order; NULL: it is the last. */
struct block *block_after(const struct block *block);

/* block_before returns the block of the chunk before this one in address order; NULL: it is the
 * first. */
struct block *block_before(const struct block *block);

/* block_new makes a live block of [off, off+size) behind the given one in address order (NULL: the
 * first). Returns NULL if there is no memory for the bookkeeping. */
struct block *block_new(const struct heap *heap, struct chunk *chunk, struct block *after,
                        size_t off, size_t size);

/* block_drop takes the block, which is in no bin, out of the address order and frees its
 * bookkeeping. */
void block_drop(const struct heap *heap, struct block *block);

/* block_set_free makes the block a free one, in the bin of its size. */
void block_set_free(struct heap *heap, struct block *block);

/* block_set_live takes a free block out of its bin and makes it a live one. */
void block_set_live(struct block *block);

/* chunk_new makes a chunk without blocks on a new segment of size bytes; nothing of it is
 * committed. dedicated says that it will have one block only. If log is NULL a failure is not
 * logged, since another attempt follows. Returns MRMA_SUCCESS and *out, or an error of seg_create,
 * or MRMA_ERR_NO_MEM. */
int chunk_new(struct heap *heap, size_t size, bool dedicated, const struct log *log,
              struct chunk **out);

/* chunk_drop frees the chunk with its blocks and its segment. It is among heap->chunks or
 * heap->kept. */
void chunk_drop(struct chunk *chunk);

/* chunk_commit makes sure that [0, end) of the chunk can be touched; if there is room it commits
 * more than that, in steps that grow. Returns MRMA_SUCCESS or an error of seg_commit (logged). */
int chunk_commit(struct heap *heap, struct chunk *chunk, size_t end);

/* chunk_trim is called after the chunk's top went down: an empty chunk gives back all pages but
 * some, and of two empty chunks the smaller one is dropped; any other chunk gives back pages of
 * which it has too many above its top. */
void chunk_trim(struct heap *heap, struct chunk *chunk);

/* heap_keep takes a dedicated chunk, whose block was freed, from heap->chunks and keeps it for
 * later allocations, or drops it; then kept chunks beyond the bounds are dropped. */
void heap_keep(struct heap *heap, struct chunk *chunk);

/* heap_keep_take returns a kept chunk that suits size bytes at that alignment, without a block,
 * among heap->chunks again. NULL: there is none. */
struct chunk *heap_keep_take(struct heap *heap, size_t size, size_t align);

/* heap_keep_drop drops all kept chunks. */
void heap_keep_drop(struct heap *heap);

/* chunk_first returns the offset of the first place in the chunk that has that alignment, a power
 * of two. */
size_t chunk_first(const struct chunk *chunk, size_t align);

#endif
