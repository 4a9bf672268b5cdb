/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_span.h - the bookkeeping of page_heap.h: which pages belong together, and which are free.
 *
 * An arena is divided without gaps into spans of whole pages. A span is live (a block), empty (free
 * pages that read as zero) or kept (free pages that hold memory and anything in it). No two
 * neighbours are free in the same way. The table has an entry for each page of the range: that of a
 * span's first page describes it, that of its last page says where it begins. Entries of pages
 * without an arena are not accessible.
 *
 * Free spans are in the bin of their size (powers of two), kept ones also in the order in which
 * they were freed. Locks: heap->mutex is held in all functions of this file.
 */
#ifndef MRMA_SHM_PAGE_SPAN_H
#define MRMA_SHM_PAGE_SPAN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/list.h"
#include "shm/fork_copies.h"
#include "shm/page_heap.h"
#include "shm/segment.h"

enum { PAGE_BINS = 48, PAGE_ARENAS = 128 };

enum span_kind { SPAN_EMPTY, SPAN_KEPT, SPAN_LIVE };

struct span {
    struct list_node by_size; /* in heap->bins while free */
    struct list_node by_age;  /* in heap->kept while kept */
    size_t pages;             /* of the span that begins here; 0: none does */
    size_t first;             /* of the span that ends here: the number of its first page */
    unsigned pins;            /* page_heap_pin */
    uint16_t arena;
    uint8_t kind; /* enum span_kind */
    bool freed;   /* while live: the owner has freed it */
};

struct arena {
    struct seg seg;
    size_t first, pages;
};

struct page_heap {
    pthread_mutex_t mutex;
    const char *dir;
    const struct log *log;
    size_t page;
    char *base;         /* of the range */
    size_t range;       /* bytes */
    struct span *spans; /* one for each page of the range */
    size_t table;       /* bytes that are mapped for this structure and spans */
    size_t used;        /* bytes of the range that arenas have */
    unsigned arenas;
    struct arena arena[PAGE_ARENAS];
    struct list bins[2][PAGE_BINS]; /* by kind: free spans of [2^i, 2^(i+1)) pages */
    struct list kept;               /* kept spans, last freed first */
    size_t kept_pages;
    bool closed;               /* no blocks are given any more */
    bool copied;               /* while a fork is made: the child will have its copies */
    _Atomic uintptr_t forking; /* the thread that makes a fork; 0: none does */
    struct fork_copies copies;
};

/* span_number returns the number of a span's first page. */
static inline size_t span_number(const struct page_heap *heap, const struct span *span)
{
    return (size_t)(span - heap->spans);
}

/* span_at returns the address of a span's memory. */
static inline char *span_at(const struct page_heap *heap, const struct span *span)
{
    return heap->base + span_number(heap, span) * heap->page;
}

/* span_find returns the span in which the address lies; NULL: no arena has it. */
struct span *span_find(const struct page_heap *heap, const void *ptr);

/* span_after returns the next span of the same arena; NULL: it is the last. */
struct span *span_after(const struct page_heap *heap, const struct span *span);

/* span_set_free makes [first, first+pages) a free span of that kind, joined with the neighbours
 * that are free in the same way. No span of these pages is in a bin, and no entry of them counts.
 * Returns the span. */
struct span *span_set_free(struct page_heap *heap, size_t first, size_t pages, unsigned arena,
                           enum span_kind kind);

/* span_take_out takes a free span out of its lists; the caller makes other spans of its pages. */
void span_take_out(struct page_heap *heap, struct span *span);

/* span_set_live makes [first, first+pages), which is in no list, a live span, and returns it. */
struct span *span_set_live(struct page_heap *heap, size_t first, size_t pages, unsigned arena);

/* span_fit returns a free span of that kind from which so many pages at that alignment (bytes) can
 * be taken, and the number of the first of them in *start. NULL: there is none. */
struct span *span_fit(const struct page_heap *heap, enum span_kind kind, size_t pages, size_t align,
                      size_t *start);

/* span_cut makes [start, start+pages) of a free span live; the rest stays free. */
struct span *span_cut(struct page_heap *heap, struct span *span, size_t start, size_t pages);

#endif
