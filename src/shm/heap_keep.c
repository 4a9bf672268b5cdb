/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap_keep.c - segments of freed large allocations, kept for the next ones.
 *
 * A program that allocates and frees in turn should pay neither for the segment nor for pages that
 * it has touched before. At most KEEP_SEGMENTS segments are kept, with KEEP_BYTES of pages in all
 * of them together. The segments freed last keep their pages first; pages beyond the bound are
 * given back at once, and a segment when there are too many. A segment is used again for requests
 * of at least half its size. Where pages are allocated at once (seg.first_touch is false), kept
 * memory is missing elsewhere, so nothing is kept. All functions are called under heap->mutex.
 *
 * Neighbours: heap.c, which frees and allocates; segment.c, which says how many pages a segment
 * has.
 */
#include <stdint.h>

#include "shm/heap_chunk.h"

enum { KEEP_SEGMENTS = 8 };
#define KEEP_BYTES ((size_t)64 << 20)

/* Only the kernel knows how many pages of a segment were touched; measure need not ask it while all
 * pages would fit. */
static void measure(struct heap *heap)
{
    size_t held = 0;

    LIST_EACH (node, &heap->kept)
        held += LIST_ENTRY(node, struct chunk, node)->held;
    if (held <= KEEP_BYTES)
        return;
    LIST_EACH (node, &heap->kept) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, node);
        chunk->held = seg_pages(&chunk->seg);
    }
}

static void keep_bounds(struct heap *heap)
{
    size_t held = 0;
    int n = 0;

    measure(heap);
    LIST_EACH_SAFE (node, &heap->kept) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, node);
        if (++n > KEEP_SEGMENTS) {
            chunk_drop(chunk);
            continue;
        }
        if (held + chunk->held > KEEP_BYTES) {
            seg_decommit(&chunk->seg, 0, chunk->seg.size);
            chunk->held = 0;
        }
        held += chunk->held;
    }
}

void heap_keep(struct heap *heap, struct chunk *chunk)
{
    if (!chunk->seg.first_touch) {
        chunk_drop(chunk);
        return;
    }
    block_drop(heap, LIST_ENTRY(list_first(&chunk->blocks), struct block, by_addr));
    chunk->committed = chunk->top = 0;
    chunk->held = chunk->seg.size;
    list_remove(&chunk->node);
    list_push_front(&heap->kept, &chunk->node);
    keep_bounds(heap);
}

size_t chunk_first(const struct chunk *chunk, size_t align)
{
    return -(uintptr_t)chunk->seg.base & (align - 1);
}

static bool suits(const struct heap *heap, const struct chunk *chunk, size_t size, size_t align)
{
    const size_t first = chunk_first(chunk, align), room = chunk->seg.size;
    const size_t slack = align > heap->page ? align : 0;

    return first <= room && size <= room - first && size + slack >= room / 2;
}

struct chunk *heap_keep_take(struct heap *heap, size_t size, size_t align)
{
    struct chunk *best = NULL;

    LIST_EACH (node, &heap->kept) {
        struct chunk *chunk = LIST_ENTRY(node, struct chunk, node);
        if (suits(heap, chunk, size, align) && (best == NULL || chunk->seg.size < best->seg.size))
            best = chunk;
    }
    if (best != NULL) {
        list_remove(&best->node);
        list_push_front(&heap->chunks, &best->node);
    }
    return best;
}

void heap_keep_drop(struct heap *heap)
{
    LIST_EACH_SAFE (node, &heap->kept)
        chunk_drop(LIST_ENTRY(node, struct chunk, node));
}
