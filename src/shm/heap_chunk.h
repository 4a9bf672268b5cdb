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
    size_t committed; /* [0, committed) may be touched; in dedicated chunks: so many bytes */
    size_t held;      /* of a kept one (heap_keep.c): its pages, at most */
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

static inline size_t heap_round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

static inline size_t heap_page_of(const struct heap *heap, size_t off)
{
    return off / heap->page;
}

int heap_no_bookkeeping(const struct log *log);
unsigned heap_bin_of(size_t size);

/* Neighbours in address order, NULL: none. */
struct block *block_after(const struct block *block);
struct block *block_before(const struct block *block);

/* A new live block of [off, off+size) after the given one in address order
 * (NULL: first). NULL if there is no memory for the bookkeeping. */
struct block *block_new(const struct heap *heap, struct chunk *chunk, struct block *after,
                        size_t off, size_t size);
/* The block leaves the address order and is gone; it is in no bin. */
void block_drop(const struct heap *heap, struct block *block);
/* Into the bin of its size, and out of it. */
void block_set_free(struct heap *heap, struct block *block);
void block_set_live(struct block *block);

/* A chunk on a new segment. log NULL: another attempt follows. Drop: with its blocks. */
int chunk_new(struct heap *heap, size_t size, bool dedicated, const struct log *log,
              struct chunk **out);
void chunk_drop(struct chunk *chunk);
/* Commit up to end: in steps if there is room for that, else what is needed. */
int chunk_commit(struct heap *heap, struct chunk *chunk, size_t end);
/* After the top went down: an empty chunk gives back all pages but some, and goes if it is
 * not the only empty one; any other keeps some slack. */
void chunk_trim(struct heap *heap, struct chunk *chunk);

/* heap_keep.c. Keep a dedicated chunk that is still among heap->chunks, or drop it; then what is
 * beyond the bounds goes. */
void heap_keep(struct heap *heap, struct chunk *chunk);
/* A kept chunk for size bytes at that alignment, without a block, among heap->chunks again; NULL:
 * none. */
struct chunk *heap_keep_take(struct heap *heap, size_t size, size_t align);
void heap_keep_drop(struct heap *heap);
/* Where in the chunk is the first place of that alignment? */
size_t chunk_first(const struct chunk *chunk, size_t align);

#endif
