/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap_chunk.c - blocks and chunks of the shared heap: the bookkeeping of heap_chunk.h.
 *
 * Invariants: blocks lie without gaps up to the top; no two neighbours are free, and the last block
 * is not; page_first of a page is the lowest block that starts in it. This file decides how much an
 * empty chunk keeps, and in which steps pages are committed.
 *
 * Locks: heap->mutex, held by the caller. Neighbours: heap.c above, segment.c below.
 */
#include "shm/heap_chunk.h"

#include <stdlib.h>

#include "base/err.h"

#define KEEP ((size_t)2 << 20)              /* what an empty chunk keeps: windows come and go; */
#define KEEP_OF_LIMITED ((size_t)256 << 10) /* the same, where others lack what it keeps */
#define COMMIT_MIN ((size_t)16 << 10)       /* first commit of a chunk; each further one doubles, */
#define COMMIT_STEP ((size_t)256 << 10)     /* up to this */
#define TRIM_SLACK ((size_t)2 << 20) /* committed above the top before pages are given back */

unsigned heap_bin_of(size_t size)
{
    unsigned bin = 63 - (unsigned)__builtin_clzll((unsigned long long)(size / HEAP_UNIT));
    return bin < HEAP_BINS ? bin : HEAP_BINS - 1;
}

int heap_no_bookkeeping(const struct log *log)
{
    return log_fail(log, MRMA_ERR_NO_MEM, "no memory for the shared heap's bookkeeping");
}

/* ---- blocks ---- */

struct block *block_after(const struct block *block)
{
    struct list_node *node = list_next(&block->chunk->blocks, &block->by_addr);
    return node == NULL ? NULL : LIST_ENTRY(node, struct block, by_addr);
}

struct block *block_before(const struct block *block)
{
    struct list_node *node = list_prev(&block->chunk->blocks, &block->by_addr);
    return node == NULL ? NULL : LIST_ENTRY(node, struct block, by_addr);
}

/* Enter a block that is already in the address order into the page index. */
static void index_add(const struct heap *heap, struct block *block)
{
    if (block->chunk->dedicated)
        return;
    struct block **first = &block->chunk->page_first[heap_page_of(heap, block->off)];
    if (*first == NULL || (*first)->off > block->off)
        *first = block;
}

/* Before the block leaves the address order, or starts elsewhere. */
static void index_del(const struct heap *heap, struct block *block)
{
    if (block->chunk->dedicated)
        return;
    size_t page = heap_page_of(heap, block->off);
    struct block **first = &block->chunk->page_first[page];
    if (*first != block)
        return;
    struct block *after = block_after(block);
    *first = after != NULL && heap_page_of(heap, after->off) == page ? after : NULL;
}

struct block *block_new(const struct heap *heap, struct chunk *chunk, struct block *after,
                        size_t off, size_t size)
{
    struct block *block = malloc(sizeof *block); /* which some C libraries do faster than calloc */

    if (block == NULL)
        return NULL;
    *block = (struct block){.chunk = chunk, .off = off, .size = size, .live = true};
    list_insert_after(after == NULL ? &chunk->blocks.head : &after->by_addr, &block->by_addr);
    index_add(heap, block);
    return block;
}

void block_drop(const struct heap *heap, struct block *block)
{
    index_del(heap, block);
    list_remove(&block->by_addr);
    free(block);
}

void block_set_free(struct heap *heap, struct block *block)
{
    block->live = false;
    list_push_front(&heap->bins[heap_bin_of(block->size)], &block->by_size);
}

void block_set_live(struct block *block)
{
    list_remove(&block->by_size);
    block->live = true;
}

/* ---- chunks ---- */

void chunk_drop(struct chunk *chunk)
{
    struct list_node *node;

    while ((node = list_pop_front(&chunk->blocks)) != NULL) {
        struct block *block = LIST_ENTRY(node, struct block, by_addr);
        if (!block->live)
            list_remove(&block->by_size);
        free(block);
    }
    list_remove(&chunk->node);
    seg_close(&chunk->seg);
    free(chunk->page_first);
    free(chunk);
}

int chunk_new(struct heap *heap, size_t size, bool dedicated, const struct log *log,
              struct chunk **out)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    struct block **page_first =
        calloc(dedicated ? 1 : heap_page_of(heap, size) + 1, sizeof *page_first);
    int err;

    if (chunk != NULL && page_first != NULL)
        err = seg_create(heap->dir, size, log, &chunk->seg);
    else
        err = heap_no_bookkeeping(log);
    if (err != MRMA_SUCCESS) {
        free(page_first);
        free(chunk);
        return err;
    }
    chunk->dedicated = dedicated;
    chunk->page_first = page_first;
    list_init(&chunk->blocks);
    list_push_front(&heap->chunks, &chunk->node);
    *out = chunk;
    return MRMA_SUCCESS;
}

int chunk_commit(struct heap *heap, struct chunk *chunk, size_t end)
{
    if (end <= chunk->committed)
        return MRMA_SUCCESS;
    size_t step = chunk->committed < COMMIT_MIN ? COMMIT_MIN : chunk->committed;
    size_t goal = heap_round_up(end, step < COMMIT_STEP ? step : COMMIT_STEP);
    if (goal > chunk->seg.size)
        goal = chunk->seg.size;
    size_t need = heap_round_up(end, heap->page);
    if (seg_commit(&chunk->seg, chunk->committed, goal - chunk->committed, NULL) != MRMA_SUCCESS) {
        goal = need;
        int err = seg_commit(&chunk->seg, chunk->committed, goal - chunk->committed, heap->log);
        if (err != MRMA_SUCCESS) {
            seg_decommit(&chunk->seg, chunk->committed, chunk->seg.size - chunk->committed);
            return err;
        }
    }
    chunk->committed = goal;
    return MRMA_SUCCESS;
}

static void chunk_decommit(struct chunk *chunk, size_t from)
{
    seg_decommit(&chunk->seg, from, chunk->committed - from);
    chunk->committed = from;
}

void chunk_trim(struct heap *heap, struct chunk *chunk)
{
    if (chunk->top > 0) {
        if (chunk->committed - chunk->top > TRIM_SLACK)
            chunk_decommit(chunk, heap_round_up(chunk->top, heap->page));
        return;
    }
    const size_t keep = chunk->seg.first_touch ? KEEP : KEEP_OF_LIMITED;
    if (chunk->committed > keep)
        chunk_decommit(chunk, keep);
    LIST_EACH (node, &heap->chunks) {
        struct chunk *other = LIST_ENTRY(node, struct chunk, node);
        if (other != chunk && !other->dedicated && other->top == 0) {
            chunk_drop(chunk->seg.size < other->seg.size ? chunk : other);
            return;
        }
    }
}
