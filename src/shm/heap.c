/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap.c - allocates by first fit from size bins, then from the top of a chunk; the bookkeeping
 * lies outside the memory (heap_chunk.h).
 *
 * Allocation above a chunk's top moves the top up and commits pages in steps, freeing the last
 * block moves it down. A large or highly aligned allocation is a chunk with one block; when that is
 * freed, heap_keep.c says what becomes of it. Locks: heap->mutex guards everything. System calls
 * are made under it, since only the first use of memory needs one. Neighbours: heap_chunk.c and
 * segment.c below, MPI_Alloc_mem and the windows above.
 */
#include "shm/heap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/list.h"
#include "shm/heap_chunk.h"

#define SMALL_MAX ((size_t)1 << 20)  /* larger requests get a segment of their own */
#define CHUNK_MIN ((size_t)4 << 20)  /* first chunk; each further one is twice as large, */
#define CHUNK_MAX ((size_t)64 << 20) /* up to this, so that descriptors are not used up */

/* ---- allocation ---- */

/* block_fits returns whether a block of size bytes at that alignment fits, and sets *start to where
 * it would start. */
static bool block_fits(const struct block *block, size_t size, size_t align, size_t *start)
{
    *start = heap_round_up(block->off, align);
    return *start - block->off <= block->size && size <= block->size - (*start - block->off);
}

/* block_carve cuts [start, start+size) out of a free block; the rest stays free. */
static struct block *block_carve(struct heap *heap, struct block *block, size_t start, size_t size)
{
    struct chunk *chunk = block->chunk;
    size_t head = start - block->off, tail = block->size - head - size;
    struct block *rest = NULL;

    block_set_live(block);
    if (tail > 0) {
        rest = block_new(heap, chunk, block, start + size, tail);
        if (rest == NULL)
            goto no_mem;
        block->size -= tail;
    }
    if (head > 0) {
        struct block *mine = block_new(heap, chunk, block, start, size);
        if (mine == NULL)
            goto no_mem;
        block->size = head;
        block_set_free(heap, block);
        block = mine;
    }
    if (rest != NULL)
        block_set_free(heap, rest);
    return block;
no_mem:
    if (rest != NULL) {
        block->size += tail;
        block_drop(heap, rest);
    }
    block_set_free(heap, block);
    return NULL;
}

static struct block *alloc_from_bins(struct heap *heap, size_t size, size_t align)
{
    size_t start;

    for (unsigned bin = heap_bin_of(size); bin < HEAP_BINS; bin++)
        LIST_EACH (node, &heap->bins[bin]) {
            struct block *block = LIST_ENTRY(node, struct block, by_size);
            if (block_fits(block, size, align, &start))
                return block_carve(heap, block, start, size);
        }
    return NULL;
}

/* alloc_from_top takes size bytes above the chunk's top. The gap that alignment leaves becomes a
 * free block (its lower neighbour is live, since the last block is never free). *out is NULL with
 * MRMA_SUCCESS if the chunk has no room. */
static int alloc_from_top(struct heap *heap, struct chunk *chunk, size_t size, size_t align,
                          struct block **out)
{
    size_t start = heap_round_up(chunk->top, align), old_top = chunk->top;
    struct block *gap = NULL, *last, *block;

    *out = NULL;
    if (chunk->dedicated || start > chunk->seg.size || size > chunk->seg.size - start)
        return MRMA_SUCCESS;
    int err = chunk_commit(heap, chunk, start + size);
    if (err != MRMA_SUCCESS)
        return err;
    last = list_empty(&chunk->blocks)
               ? NULL
               : LIST_ENTRY(list_last(&chunk->blocks), struct block, by_addr);
    if (start > old_top) {
        gap = block_new(heap, chunk, last, old_top, start - old_top);
        if (gap == NULL)
            return heap_no_bookkeeping(heap->log);
    }
    block = block_new(heap, chunk, gap != NULL ? gap : last, start, size);
    if (block == NULL) {
        if (gap != NULL)
            block_drop(heap, gap);
        return heap_no_bookkeeping(heap->log);
    }
    if (gap != NULL)
        block_set_free(heap, gap);
    chunk->top = start + size;
    *out = block;
    return MRMA_SUCCESS;
}

/* grow tries smaller chunks, too, so that a directory too small for a whole chunk still serves
 * requests that fit. */
static int grow(struct heap *heap, size_t size, struct chunk **out)
{
    int err = chunk_new(heap, heap->next_chunk, false, NULL, out);

    if (err != MRMA_SUCCESS)
        return chunk_new(heap, heap_round_up(size, heap->page), false, heap->log, out);
    if (heap->next_chunk < CHUNK_MAX)
        heap->next_chunk *= 2;
    return MRMA_SUCCESS;
}

static int alloc_small(struct heap *heap, size_t size, size_t align, struct block **out)
{
    struct chunk *chunk;
    int err;

    *out = alloc_from_bins(heap, size, align);
    if (*out != NULL)
        return MRMA_SUCCESS;
    LIST_EACH (node, &heap->chunks) {
        err = alloc_from_top(heap, LIST_ENTRY(node, struct chunk, node), size, align, out);
        if (err != MRMA_SUCCESS || *out != NULL)
            return err;
    }
    err = grow(heap, size, &chunk);
    if (err != MRMA_SUCCESS)
        return err;
    err = alloc_from_top(heap, chunk, size, align, out);
    if (err != MRMA_SUCCESS)
        chunk_drop(chunk);
    return err;
}

/* take_dedicated returns a chunk for one block, which was kept when its block was freed, or is new.
 * Mappings start at page boundaries, so room for a higher alignment is reserved, but only the block
 * is committed. */
static int take_dedicated(struct heap *heap, size_t size, size_t align, struct chunk **out)
{
    size_t slack = align > heap->page ? align : 0;
    int err;

    *out = heap_keep_take(heap, size, align);
    if (*out != NULL)
        return MRMA_SUCCESS;
    if (size > (size_t)PTRDIFF_MAX - slack)
        return log_fail(heap->log, MRMA_ERR_NO_MEM,
                        "%zu bytes aligned to %zu exceed the address space", size, align);
    err = chunk_new(heap, size + slack, true, heap->log, out);
    if (err != MRMA_SUCCESS)
        return err;
    err = seg_commit(&(*out)->seg, chunk_first(*out, align), size, heap->log);
    if (err != MRMA_SUCCESS)
        chunk_drop(*out);
    return err;
}

static int alloc_large(struct heap *heap, size_t size, size_t align, struct block **out)
{
    size_t want = size == 0 ? 1 : size;
    struct chunk *chunk;
    int err = take_dedicated(heap, want, align, &chunk);

    if (err != MRMA_SUCCESS)
        return err;
    size_t off = chunk_first(chunk, align);
    *out = block_new(heap, chunk, NULL, off, want);
    if (*out == NULL) {
        chunk_drop(chunk);
        return heap_no_bookkeeping(heap->log);
    }
    chunk->top = off + want;
    chunk->committed = heap_round_up(want, heap->page);
    return MRMA_SUCCESS;
}

static int alloc_block(struct heap *heap, size_t size, size_t align, struct block **out)
{
    if (size > SMALL_MAX || align > heap->page)
        return alloc_large(heap, size, align, out);
    return alloc_small(heap, size == 0 ? HEAP_UNIT : heap_round_up(size, HEAP_UNIT), align, out);
}

/* alloc_or_drop_kept drops the kept chunks if an allocation fails, since there may be room without
 * them. */
static int alloc_or_drop_kept(struct heap *heap, size_t size, size_t align, struct block **out)
{
    const struct log *log = heap->log;

    if (!list_empty(&heap->kept)) {
        heap->log = NULL; /* another attempt follows */
        int err = alloc_block(heap, size, align, out);
        heap->log = log;
        if (err == MRMA_SUCCESS)
            return err;
        heap_keep_drop(heap);
    }
    return alloc_block(heap, size, align, out);
}

int heap_alloc(struct heap *heap, size_t size, size_t align, void **out)
{
    struct block *block = NULL;
    int err;

    if ((align & (align - 1)) != 0)
        return log_fail(heap->log, MRMA_ERR_ARG, "alignment %zu is not a power of two", align);
    if (align < HEAP_UNIT)
        align = HEAP_UNIT;
    pthread_mutex_lock(&heap->mutex);
    err = alloc_or_drop_kept(heap, size, align, &block);
    if (err == MRMA_SUCCESS) {
        block->used = size;
        *out = (char *)block->chunk->seg.base + block->off;
    }
    pthread_mutex_unlock(&heap->mutex);
    return err;
}

/* ---- look-up and release ---- */

/* find_block returns the block, live or free, that contains the address; NULL if none does. */
static struct block *find_block(const struct heap *heap, const void *ptr)
{
    LIST_EACH (node, &heap->chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, node);
        uintptr_t off = (uintptr_t)ptr - (uintptr_t)chunk->seg.base;
        if (off >= chunk->seg.size)
            continue;
        if (off > chunk->top || list_empty(&chunk->blocks))
            return NULL;
        struct block *block = LIST_ENTRY(list_first(&chunk->blocks), struct block, by_addr);
        if (!chunk->dedicated)
            for (size_t page = heap_page_of(heap, off); page > 0; page--)
                if (chunk->page_first[page] != NULL && chunk->page_first[page]->off <= off) {
                    block = chunk->page_first[page];
                    break;
                }
        while (block != NULL && off >= block->off + block->size)
            block = block_after(block);
        return block != NULL && block->off <= off ? block : NULL;
    }
    return NULL;
}

/* find_live returns the allocation in which all of [ptr, ptr+len) lies, or NULL. */
static struct block *find_live(const struct heap *heap, const void *ptr, size_t len)
{
    struct block *block = find_block(heap, ptr);

    if (block == NULL || !block->live || block->freed)
        return NULL;
    size_t skip = (uintptr_t)ptr - (uintptr_t)block->chunk->seg.base - block->off;
    return skip <= block->used && len <= block->used - skip ? block : NULL;
}

bool heap_find(struct heap *heap, const void *ptr, size_t len, struct heap_loc *loc)
{
    pthread_mutex_lock(&heap->mutex);
    const struct block *block = find_live(heap, ptr, len);
    if (block != NULL)
        *loc = (struct heap_loc){.seg = seg_name_of(&block->chunk->seg),
                                 .offset = (uintptr_t)ptr - (uintptr_t)block->chunk->seg.base,
                                 .map = block->chunk->dedicated ? HEAP_MAP_ALL : HEAP_MAP_KEEP};
    pthread_mutex_unlock(&heap->mutex);
    return block != NULL;
}

size_t heap_untouched(struct heap *heap, const void *ptr, size_t len)
{
    size_t pages = len; /* a small block does not count */

    pthread_mutex_lock(&heap->mutex);
    const struct block *block = find_block(heap, ptr);
    if (block != NULL && block->chunk->dedicated && block->chunk->seg.first_touch)
        pages = seg_pages(&block->chunk->seg);
    pthread_mutex_unlock(&heap->mutex);
    return pages < len ? len - pages : 0;
}

/* release joins a free block with its free neighbours; a block that reaches the top is dropped. */
static void release(struct heap *heap, struct block *block)
{
    struct chunk *chunk = block->chunk;
    struct block *after = block_after(block), *before = block_before(block);

    if (after != NULL && !after->live) {
        list_remove(&after->by_size);
        block->size += after->size;
        block_drop(heap, after);
    }
    if (before != NULL && !before->live) {
        list_remove(&before->by_size);
        before->size += block->size;
        block_drop(heap, block);
        block = before;
    }
    if (block->off + block->size == chunk->top) {
        chunk->top = block->off;
        block_drop(heap, block);
        chunk_trim(heap, chunk);
    } else {
        block_set_free(heap, block);
    }
}

/* give_back frees a block that nobody uses any more. */
static void give_back(struct heap *heap, struct block *block)
{
    block->freed = false;
    if (block->chunk->dedicated)
        heap_keep(heap, block->chunk);
    else
        release(heap, block);
}

bool heap_pin(struct heap *heap, const void *ptr, size_t len)
{
    pthread_mutex_lock(&heap->mutex);
    struct block *block = find_live(heap, ptr, len);
    if (block != NULL)
        block->pins++;
    pthread_mutex_unlock(&heap->mutex);
    return block != NULL;
}

void heap_unpin(struct heap *heap, const void *ptr)
{
    pthread_mutex_lock(&heap->mutex);
    struct block *block = find_block(heap, ptr);
    if (--block->pins == 0 && block->freed)
        give_back(heap, block);
    pthread_mutex_unlock(&heap->mutex);
}

int heap_free(struct heap *heap, void *ptr)
{
    int err = MRMA_SUCCESS;

    pthread_mutex_lock(&heap->mutex);
    struct block *block = find_block(heap, ptr);
    if (block == NULL || !block->live || block->freed ||
        (char *)block->chunk->seg.base + block->off != (char *)ptr) {
        err = log_fail(heap->log, MRMA_ERR_BASE,
                       "%p is not memory that MPI_Alloc_mem gave and that is still "
                       "allocated",
                       ptr);
    } else if (block->pins != 0) {
        block->freed = true;
    } else {
        give_back(heap, block);
    }
    pthread_mutex_unlock(&heap->mutex);
    return err;
}

/* ---- life ---- */

int heap_create(const char *dir, const struct log *log, struct heap **out)
{
    struct heap *heap = calloc(1, sizeof *heap);

    if (heap == NULL)
        return heap_no_bookkeeping(log);
    pthread_mutex_init(&heap->mutex, NULL);
    heap->dir = dir;
    heap->log = log;
    heap->page = (size_t)sysconf(_SC_PAGESIZE);
    heap->next_chunk = CHUNK_MIN;
    list_init(&heap->chunks);
    list_init(&heap->kept);
    for (int i = 0; i < HEAP_BINS; i++)
        list_init(&heap->bins[i]);
    *out = heap;
    return MRMA_SUCCESS;
}

static void destroy(struct heap *heap, bool leave)
{
    if (heap == NULL)
        return;
    heap_keep_drop(heap);
    LIST_EACH_SAFE (node, &heap->chunks) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, node);
        if (leave && !list_empty(&chunk->blocks))
            seg_leave(&chunk->seg);
        chunk_drop(chunk);
    }
    pthread_mutex_destroy(&heap->mutex);
    free(heap);
}

void heap_destroy(struct heap *heap)
{
    destroy(heap, false);
}

void heap_leave(struct heap *heap)
{
    destroy(heap, true);
}
