/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_span.c - spans of pages: found by address and by size, cut and joined (page_span.h).
 *
 * Locks: heap->mutex, held by the caller. Neighbour: page_heap.c above.
 */
#include "shm/page_span.h"

static unsigned bin_of(size_t pages)
{
    const unsigned bin = 63 - (unsigned)__builtin_clzll((unsigned long long)pages);
    return bin < PAGE_BINS ? bin : PAGE_BINS - 1;
}

static const struct arena *arena_at(const struct page_heap *heap, size_t number)
{
    for (unsigned i = 0; i < heap->arenas; i++)
        if (number - heap->arena[i].first < heap->arena[i].pages)
            return &heap->arena[i];
    return NULL;
}

struct span *span_find(const struct page_heap *heap, const void *ptr)
{
    const uintptr_t off = (uintptr_t)ptr - (uintptr_t)heap->base;
    const size_t number = off / heap->page;
    const struct arena *arena = off < heap->used ? arena_at(heap, number) : NULL;

    if (arena == NULL)
        return NULL;
    if (heap->spans[number].pages != 0)
        return &heap->spans[number];
    struct span *span = &heap->spans[arena->first];
    while (span_number(heap, span) + span->pages <= number)
        span += span->pages;
    return span;
}

struct span *span_after(const struct page_heap *heap, const struct span *span)
{
    const struct arena *arena = &heap->arena[span->arena];
    const size_t next = span_number(heap, span) + span->pages;

    return next < arena->first + arena->pages ? &heap->spans[next] : NULL;
}

static void set(struct page_heap *heap, size_t first, size_t pages, unsigned arena,
                enum span_kind kind)
{
    struct span *span = &heap->spans[first];

    span->pages = pages;
    span->pins = 0;
    span->arena = (uint16_t)arena;
    span->kind = (uint8_t)kind;
    span->freed = false;
    heap->spans[first + pages - 1].first = first;
}

void span_take_out(struct page_heap *heap, struct span *span)
{
    list_remove(&span->by_size);
    if (span->kind == SPAN_KEPT) {
        list_remove(&span->by_age);
        heap->kept_pages -= span->pages;
    }
    span->pages = 0;
}

struct span *span_set_free(struct page_heap *heap, size_t first, size_t pages, unsigned arena,
                           enum span_kind kind)
{
    const struct arena *whole = &heap->arena[arena];
    const size_t end = first + pages;
    struct span *near = end < whole->first + whole->pages ? &heap->spans[end] : NULL;

    heap->spans[first].pages = 0; /* it may become the middle of another */
    if (near != NULL && near->kind == kind) {
        pages += near->pages;
        span_take_out(heap, near);
    }
    near = first > whole->first ? &heap->spans[heap->spans[first - 1].first] : NULL;
    if (near != NULL && near->kind == kind) {
        first = span_number(heap, near);
        pages += near->pages;
        span_take_out(heap, near);
    }
    set(heap, first, pages, arena, kind);
    struct span *span = &heap->spans[first];
    list_push_front(&heap->bins[kind][bin_of(pages)], &span->by_size);
    if (kind == SPAN_KEPT) {
        list_push_front(&heap->kept, &span->by_age);
        heap->kept_pages += pages;
    }
    return span;
}

struct span *span_set_live(struct page_heap *heap, size_t first, size_t pages, unsigned arena)
{
    set(heap, first, pages, arena, SPAN_LIVE);
    return &heap->spans[first];
}

/* fits returns whether the span has room for so many pages at that alignment, and sets *start. */
static bool fits(const struct page_heap *heap, const struct span *span, size_t pages, size_t align,
                 size_t *start)
{
    const size_t skip = -(uintptr_t)span_at(heap, span) & (align - 1);

    *start = span_number(heap, span) + skip / heap->page;
    return skip / heap->page <= span->pages && pages <= span->pages - skip / heap->page;
}

struct span *span_fit(const struct page_heap *heap, enum span_kind kind, size_t pages, size_t align,
                      size_t *start)
{
    for (unsigned bin = bin_of(pages); bin < PAGE_BINS; bin++)
        LIST_EACH (node, &heap->bins[kind][bin]) {
            struct span *span = LIST_ENTRY(node, struct span, by_size);
            if (fits(heap, span, pages, align, start))
                return span;
        }
    return NULL;
}

struct span *span_cut(struct page_heap *heap, struct span *span, size_t start, size_t pages)
{
    const size_t first = span_number(heap, span), end = first + span->pages;
    const enum span_kind kind = (enum span_kind)span->kind;
    const unsigned arena = span->arena;

    span_take_out(heap, span);
    struct span *live = span_set_live(heap, start, pages, arena);
    if (start > first)
        (void)span_set_free(heap, first, start - first, arena, kind);
    if (start + pages < end)
        (void)span_set_free(heap, start + pages, end - start - pages, arena, kind);
    return live;
}
