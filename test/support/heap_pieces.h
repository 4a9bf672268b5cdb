/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap_pieces.h - for tests of the heap: allocations whose contents are known, at random, and what
 * the heap holds of them.
 */
#ifndef MRMA_TEST_HEAP_PIECES_H
#define MRMA_TEST_HEAP_PIECES_H

#include "shm_helper.h"

#include "base/err.h"
#include "shm/heap_chunk.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* What a heap without allocations may hold in chunks; in a directory with a limit 256 KiB. */
#define EMPTY_MAX (2 * MIB)

static const struct log quiet = {.fd = -1};

struct piece {
    unsigned char *ptr;
    size_t size;
    unsigned char fill;
};

/* Bytes now allocated, and so many that may have pages, without those of kept segments; nobody
 * else uses the heap meanwhile. */
static inline void heap_usage(const struct heap *heap, size_t *allocated, size_t *committed)
{
    *allocated = *committed = 0;
    LIST_EACH (node, &heap->chunks) {
        const struct chunk *chunk = LIST_ENTRY(node, struct chunk, node);
        *committed += chunk->committed;
        LIST_EACH (at, &chunk->blocks) {
            const struct block *block = LIST_ENTRY(at, struct block, by_addr);
            *allocated += block->live ? block->used : 0;
        }
    }
}

/* Large pieces are filled and checked at their ends and at some places between. */
static inline size_t stride_of(const struct piece *p)
{
    return p->size > 64 * KIB ? 4093 : 1;
}

static inline void piece_fill(struct piece *p)
{
    for (size_t i = 0; i < p->size; i += stride_of(p))
        p->ptr[i] = (unsigned char)(p->fill + i);
    if (p->size > 0)
        p->ptr[p->size - 1] = p->fill;
}

static inline bool piece_intact(const struct piece *p)
{
    if (p->size > 0 && p->ptr[p->size - 1] != p->fill)
        return false;
    for (size_t i = 0; i + 1 < p->size; i += stride_of(p))
        if (p->ptr[i] != (unsigned char)(p->fill + i))
            return false;
    return true;
}

/* Mostly small, some of pages, few large. */
static inline size_t random_size(uint64_t *seed)
{
    uint64_t r = next_random(seed);

    switch (r % 16) {
    case 0:
        return (r >> 8) % (3 * MIB);
    case 1:
    case 2:
    case 3:
        return (r >> 8) % (200 * KIB);
    case 4:
        return 0;
    default:
        return (r >> 8) % 3000;
    }
}

static inline size_t random_align(uint64_t *seed)
{
    uint64_t r = next_random(seed);
    return r % 4 != 0 ? 1 : (size_t)1 << ((r >> 8) % 15);
}

static inline bool piece_alloc(struct heap *heap, struct piece *p, uint64_t *seed)
{
    size_t align = random_align(seed);
    void *ptr = NULL;

    p->size = random_size(seed);
    p->fill = (unsigned char)next_random(seed);
    if (heap_alloc(heap, p->size, align, &ptr) != MRMA_SUCCESS)
        return false;
    p->ptr = ptr;
    if ((uintptr_t)ptr % (align < 64 ? 64 : align) != 0)
        return false;
    piece_fill(p);
    return true;
}

/* The location must lead to the very bytes, through the segment's descriptor. */
static inline bool location_right(struct heap *heap, const struct piece *p)
{
    struct heap_loc loc;
    unsigned char last;

    if (!heap_find(heap, p->ptr, p->size, &loc))
        return false;
    if (heap_find(heap, p->ptr, p->size + 1, &loc))
        return false; /* one byte too many is not inside */
    if (p->size == 0)
        return true;
    if (!heap_find(heap, p->ptr + p->size - 1, 1, &loc) || loc.seg.pid != getpid())
        return false;
    return pread(loc.seg.fd, &last, 1, (off_t)loc.offset) == 1 && last == p->fill;
}

static inline bool random_use(struct heap *heap, struct piece *pieces, size_t n, int steps,
                              uint64_t seed)
{
    for (int step = 0; step < steps; step++) {
        struct piece *p = &pieces[next_random(&seed) % n];
        if (p->ptr == NULL) {
            if (!piece_alloc(heap, p, &seed))
                return false;
            continue;
        }
        if (!piece_intact(p) || !location_right(heap, p) || heap_free(heap, p->ptr) != MRMA_SUCCESS)
            return false;
        p->ptr = NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (pieces[i].ptr != NULL &&
            (!piece_intact(&pieces[i]) || !location_right(heap, &pieces[i])))
            return false;
    return true;
}

static inline bool free_all(struct heap *heap, struct piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].ptr != NULL &&
            (!piece_intact(&pieces[i]) || heap_free(heap, pieces[i].ptr) != MRMA_SUCCESS))
            return false;
        pieces[i].ptr = NULL;
    }
    return true;
}

#endif
