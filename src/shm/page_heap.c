/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_heap.c - blocks of whole pages: taken from free spans, given back to the system.
 *
 * A kept span is taken before an empty one, since its pages are there. What is freed becomes a kept
 * span; the spans that were freed first are emptied while there are too many pages in kept ones.
 * Where pages are allocated at once (seg.first_touch is false) kept memory is missing elsewhere, so
 * nothing is kept. Pages are given back through the mapping (MADV_REMOVE), which libraries that
 * know memory of this process to a network's card watch, and not through the file.
 *
 * Locks: heap->mutex guards everything but the contents of blocks. It is given back while a large
 * block is emptied, which is live and freed meanwhile. Neighbours: page_span.c and segment.c below;
 * tools/preload-malloc.c above.
 */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, MADV_REMOVE, fallocate */
#include "shm/page_heap.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "shm/page_span.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define ARENA_MIN \
    ((size_t)256 << 20)              /* the first arena; each is about as large as all before it, */
#define ARENA_MAX ((size_t)64 << 30) /* up to this */
#define RANGE_MIN ((size_t)1 << 30)
#define KEEP_BYTES ((size_t)64 << 20) /* in kept spans */

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

/* ---- the lock ---- */

static bool forks(const struct page_heap *heap)
{
    /* Only this thread itself stores its own number. */
    return atomic_load_explicit(&heap->forking, memory_order_relaxed) == (uintptr_t)pthread_self();
}

static void lock(struct page_heap *heap)
{
    if (!forks(heap))
        pthread_mutex_lock(&heap->mutex);
}

static void unlock(struct page_heap *heap)
{
    if (!forks(heap))
        pthread_mutex_unlock(&heap->mutex);
}

/* ---- pages ---- */

/* empty gives pages of a segment back; what is read there then is zero. The program may
 * have protected them. */
static void empty(struct seg *seg, char *at, size_t len)
{
    const size_t off = (size_t)(at - (char *)seg->base);

    if (seg->fd < 0) { /* memory of a child of fork, locked if it is not given back */
        if (madvise(at, len, MADV_DONTNEED) != 0)
            memset(at, 0, len);
        return;
    }
    if (madvise(at, len, MADV_REMOVE) == 0 && mprotect(at, len, PROT_READ | PROT_WRITE) == 0)
        return;
    (void)mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, seg->fd, (off_t)off);
    seg_decommit(seg, off, len);
}

/* empty_kept empties the span that was kept first. */
static void empty_kept(struct page_heap *heap)
{
    struct span *span = LIST_ENTRY(list_last(&heap->kept), struct span, by_age);
    const size_t first = span_number(heap, span), pages = span->pages;
    const unsigned arena = span->arena;

    span_take_out(heap, span);
    empty(&heap->arena[arena].seg, heap->base + first * heap->page, pages * heap->page);
    (void)span_set_free(heap, first, pages, arena, SPAN_EMPTY);
}

static void keep_bounds(struct page_heap *heap)
{
    while (heap->kept_pages > KEEP_BYTES / heap->page)
        empty_kept(heap);
}

/* commit makes sure that pages of an arena can be touched. Kept spans are emptied if there is no
 * room, since there may be room without them. */
static int commit(struct page_heap *heap, unsigned arena, size_t first, size_t pages)
{
    struct seg *seg = &heap->arena[arena].seg;
    const size_t off = (first - heap->arena[arena].first) * heap->page, len = pages * heap->page;

    if (heap->kept_pages > 0) {
        if (seg_commit(seg, off, len, NULL) == MRMA_SUCCESS)
            return MRMA_SUCCESS;
        while (heap->kept_pages > 0)
            empty_kept(heap);
    }
    return seg_commit(seg, off, len, heap->log);
}

/* release makes a live span a free one. Called with the lock. */
static void release(struct page_heap *heap, struct span *span)
{
    const size_t first = span_number(heap, span), pages = span->pages;
    struct seg *seg = &heap->arena[span->arena].seg;
    const unsigned arena = span->arena;
    enum span_kind kind = SPAN_KEPT;

    if (forks(heap)) { /* the pages may be those of the parent */
        (void)span_set_free(heap, first, pages, arena, SPAN_KEPT);
        return;
    }
    if (!seg->first_touch || pages > KEEP_BYTES / heap->page) {
        kind = SPAN_EMPTY;
        span->freed = true;
        pthread_mutex_unlock(&heap->mutex);
        empty(seg, heap->base + first * heap->page, pages * heap->page);
        pthread_mutex_lock(&heap->mutex);
    }
    (void)span_set_free(heap, first, pages, arena, kind);
    keep_bounds(heap);
}

/* ---- arenas ---- */

/* add_arena makes an arena of size bytes, a multiple of HUGE_PAGE, behind the others. */
static int add_arena(struct page_heap *heap, size_t size, const struct log *log)
{
    struct arena *arena = &heap->arena[heap->arenas];
    const size_t first = heap->used / heap->page, pages = size / heap->page;
    const size_t page = heap->page;

    if (heap->arenas == PAGE_ARENAS || size > heap->range - heap->used)
        return log_fail(log, MRMA_ERR_NO_MEM, "the addresses for shared memory are used up");
    char *from = (char *)((uintptr_t)&heap->spans[first] & ~(page - 1));
    char *to = (char *)round_up((uintptr_t)&heap->spans[first + pages], page);
    if (mprotect(from, (size_t)(to - from), PROT_READ | PROT_WRITE) != 0)
        return log_fail(log, MRMA_ERR_NO_MEM, "no memory for the bookkeeping of shared memory");
    const int err = seg_create_at(heap->dir, size, heap->base + heap->used, log, &arena->seg);
    if (err != MRMA_SUCCESS)
        return err;
    arena->first = first;
    arena->pages = pages;
    heap->used += size;
    (void)span_set_free(heap, first, pages, heap->arenas++, SPAN_EMPTY);
    return MRMA_SUCCESS;
}

/* grow makes an arena with room for the block. Where a large one is refused, one that just has room
 * is tried. */
static int grow(struct page_heap *heap, size_t size, size_t align)
{
    size_t least = round_up(size + (align > HUGE_PAGE ? align : 0), HUGE_PAGE), goal = heap->used;

    if (size > heap->range || align > heap->range)
        return log_fail(heap->log, MRMA_ERR_NO_MEM,
                        "%zu bytes exceed the addresses for shared "
                        "memory",
                        size);
    goal = goal < ARENA_MIN ? ARENA_MIN : goal < ARENA_MAX ? goal : ARENA_MAX;
    if (goal > least && add_arena(heap, goal, NULL) == MRMA_SUCCESS)
        return MRMA_SUCCESS;
    return add_arena(heap, least, heap->log);
}

/* ---- blocks ---- */

/* take returns a live span of so many pages. *zero is set if all of it is zero. */
static struct span *take(struct page_heap *heap, size_t pages, size_t align, bool *zero)
{
    size_t start = 0;
    struct span *span = span_fit(heap, SPAN_KEPT, pages, align, &start);

    *zero = span == NULL;
    if (span != NULL)
        return span_cut(heap, span, start, pages);
    span = span_fit(heap, SPAN_EMPTY, pages, align, &start);
    if (span == NULL) {
        if (grow(heap, pages * heap->page, align) != MRMA_SUCCESS)
            return NULL;
        span = span_fit(heap, SPAN_EMPTY, pages, align, &start);
    }
    /* Taken before it is committed, since that may join free spans. */
    span = span == NULL ? NULL : span_cut(heap, span, start, pages);
    if (span == NULL || commit(heap, span->arena, start, pages) == MRMA_SUCCESS)
        return span;
    (void)span_set_free(heap, start, pages, span->arena, SPAN_EMPTY);
    return NULL;
}

void *page_heap_alloc(struct page_heap *heap, size_t size, size_t align, bool zero)
{
    struct span *span = NULL;
    bool is_zero = false;
    char *at = NULL;

    if (size == 0)
        size = 1;
    if (size > (size_t)PTRDIFF_MAX || forks(heap))
        return NULL;
    lock(heap);
    if (!heap->closed)
        span = take(heap, round_up(size, heap->page) / heap->page, align, &is_zero);
    if (span != NULL)
        at = span_at(heap, span);
    unlock(heap);
    if (at != NULL && zero && !is_zero)
        memset(at, 0, size);
    return at;
}

/* find_block returns the block at ptr; NULL: it is not the start of one. Called with the lock. */
static struct span *find_block(const struct page_heap *heap, const void *ptr)
{
    struct span *span = span_find(heap, ptr);

    return span != NULL && span->kind == SPAN_LIVE && !span->freed &&
                   span_at(heap, span) == (const char *)ptr
               ? span
               : NULL;
}

bool page_heap_free(struct page_heap *heap, void *ptr)
{
    lock(heap);
    struct span *span = find_block(heap, ptr);
    if (span != NULL && span->pins > 0)
        span->freed = true;
    else if (span != NULL)
        release(heap, span);
    unlock(heap);
    return span != NULL;
}

size_t page_heap_size(struct page_heap *heap, const void *ptr)
{
    lock(heap);
    const struct span *span = find_block(heap, ptr);
    const size_t size = span != NULL ? span->pages * heap->page : 0;
    unlock(heap);
    return size;
}

/* extend takes so many pages behind the block. */
static bool extend(struct page_heap *heap, struct span *span, size_t more)
{
    struct span *next = span_after(heap, span);
    const size_t first = span_number(heap, span), pages = span->pages + more;
    const unsigned arena = span->arena, pins = span->pins;

    if (next == NULL || next->kind == SPAN_LIVE || next->pages < more || heap->closed)
        return false;
    const bool fresh = next->kind == SPAN_EMPTY;
    next = span_cut(heap, next, first + span->pages, more);
    if (fresh && commit(heap, arena, first + span->pages, more) != MRMA_SUCCESS) {
        (void)span_set_free(heap, span_number(heap, next), more, arena, SPAN_EMPTY);
        return false;
    }
    next->pages = 0;
    span_set_live(heap, first, pages, arena)->pins = pins;
    return true;
}

static void shorten(struct page_heap *heap, struct span *span, size_t pages)
{
    const size_t first = span_number(heap, span), less = span->pages - pages;
    const unsigned arena = span->arena;

    (void)span_set_live(heap, first, pages, arena);
    release(heap, span_set_live(heap, first + pages, less, arena));
}

bool page_heap_resize(struct page_heap *heap, void *ptr, size_t size)
{
    bool done = false;

    if (size > (size_t)PTRDIFF_MAX)
        return false;
    lock(heap);
    struct span *span = find_block(heap, ptr);
    if (span != NULL) {
        const size_t pages = round_up(size == 0 ? 1 : size, heap->page) / heap->page;
        done = pages <= span->pages || (!forks(heap) && extend(heap, span, pages - span->pages));
        if (pages < span->pages && span->pins == 0)
            shorten(heap, span, pages);
    }
    unlock(heap);
    return done;
}

/* ---- what peers map ---- */

/* find_live returns the block in which all of [ptr, ptr+len) lies, or NULL. Called with the lock.
 */
static struct span *find_live(const struct page_heap *heap, const void *ptr, size_t len)
{
    struct span *span = span_find(heap, ptr);

    if (span == NULL || span->kind != SPAN_LIVE || span->freed)
        return NULL;
    const size_t skip = (size_t)((const char *)ptr - span_at(heap, span));
    return len <= span->pages * heap->page - skip ? span : NULL;
}

bool page_heap_find(struct page_heap *heap, const void *ptr, size_t len, struct heap_loc *loc)
{
    lock(heap);
    const struct span *span = find_live(heap, ptr, len);
    const struct seg *seg = span != NULL ? &heap->arena[span->arena].seg : NULL;
    const bool found = seg != NULL && seg->fd >= 0;
    if (found)
        *loc = (struct heap_loc){.seg = seg_name_of(seg),
                                 .offset = (uintptr_t)ptr - (uintptr_t)seg->base,
                                 .map = HEAP_MAP_KEEP};
    unlock(heap);
    return found;
}

bool page_heap_pin(struct page_heap *heap, const void *ptr, size_t len)
{
    lock(heap);
    struct span *span = find_live(heap, ptr, len);
    if (span != NULL)
        span->pins++;
    unlock(heap);
    return span != NULL;
}

void page_heap_unpin(struct page_heap *heap, const void *ptr)
{
    lock(heap);
    struct span *span = span_find(heap, ptr);
    if (--span->pins == 0 && span->freed)
        release(heap, span);
    unlock(heap);
}

size_t page_heap_pages(struct page_heap *heap)
{
    size_t bytes = 0;

    lock(heap);
    for (unsigned i = 0; i < heap->arenas; i++)
        bytes += heap->arena[i].seg.fd < 0 ? 0 : seg_pages(&heap->arena[i].seg);
    unlock(heap);
    return bytes;
}

/* ---- forks ---- */

void page_heap_fork_prepare(struct page_heap *heap)
{
    pthread_mutex_lock(&heap->mutex);
    atomic_store_explicit(&heap->forking, (uintptr_t)pthread_self(), memory_order_relaxed);
    unsigned shared = 0;
    for (unsigned i = 0; i < heap->arenas; i++)
        shared += heap->arena[i].seg.fd >= 0;
    heap->copied = true;
    if (shared == 0)
        return;
    heap->copied = fork_copies_begin(&heap->copies, shared);
    for (unsigned i = 0; i < heap->arenas; i++) {
        const struct seg *seg = &heap->arena[i].seg;
        if (seg->fd >= 0)
            fork_copies_add(&heap->copies, seg->base, seg->size, seg->fd);
    }
    heap->copied = heap->copied && fork_copies_fill(&heap->copies);
    if (!heap->copied)
        log_msg(heap->log, LOG_LEVEL_WARN,
                "no memory for the child of this fork to have copies of its shared memory");
}

static void fork_ends(struct page_heap *heap)
{
    atomic_store_explicit(&heap->forking, 0, memory_order_relaxed);
    keep_bounds(heap);
    pthread_mutex_unlock(&heap->mutex);
}

void page_heap_fork_parent(struct page_heap *heap)
{
    fork_copies_drop(&heap->copies);
    fork_ends(heap);
}

void page_heap_fork_child(struct page_heap *heap)
{
    heap->closed |= !heap->copied;
    fork_copies_move(&heap->copies);
    for (unsigned i = 0; i < heap->arenas; i++)
        seg_forget(&heap->arena[i].seg);
    fork_ends(heap);
}

/* ---- life ---- */

/* reserve returns so many bytes of addresses that begin at a multiple of a huge page. */
static void *reserve(size_t size)
{
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *at = mmap(NULL, size + HUGE_PAGE, PROT_NONE, how, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    const size_t skip = -(uintptr_t)at & (HUGE_PAGE - 1);
    if (skip > 0)
        munmap(at, skip);
    munmap(at + skip + size, HUGE_PAGE - skip);
    return at + skip;
}

/* What a heap has from the system in the beginning. */
struct place {
    size_t page, range, head, table; /* the table begins with struct page_heap, in head bytes */
    char *base, *at;                 /* of the range, of the table */
};

/* try_range reserves the range and the table for it. */
static bool try_range(size_t range, struct place *p)
{
    p->page = (size_t)sysconf(_SC_PAGESIZE);
    p->range = round_up(range, HUGE_PAGE);
    p->head = round_up(sizeof(struct page_heap), p->page);
    p->table = p->head + round_up(p->range / p->page * sizeof(struct span), p->page);
    p->base = reserve(p->range);
    if (p->base == NULL)
        return false;
    p->at = reserve(p->table);
    if (p->at != NULL && mprotect(p->at, p->head, PROT_READ | PROT_WRITE) == 0)
        return true;
    if (p->at != NULL)
        munmap(p->at, p->table);
    munmap(p->base, p->range);
    return false;
}

int page_heap_create(const char *dir, const struct log *log, size_t range, struct page_heap **out)
{
    struct place place;

    while (!try_range(range, &place)) {
        if (range / 2 < RANGE_MIN)
            return log_fail(log, MRMA_ERR_NO_MEM, "no address space for shared memory");
        range /= 2;
    }
    struct page_heap *heap = (void *)place.at; /* all zero */
    pthread_mutex_init(&heap->mutex, NULL);
    heap->dir = dir;
    heap->log = log;
    heap->page = place.page;
    heap->base = place.base;
    heap->range = place.range;
    heap->table = place.table;
    heap->spans = (void *)(place.at + place.head);
    list_init(&heap->kept);
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < PAGE_BINS; i++)
            list_init(&heap->bins[kind][i]);
    *out = heap;
    return MRMA_SUCCESS;
}

void page_heap_destroy(struct page_heap *heap)
{
    for (unsigned i = 0; i < heap->arenas; i++)
        seg_forget(&heap->arena[i].seg);
    munmap(heap->base, heap->range);
    munmap(heap, heap->table);
}

void *page_heap_range(const struct page_heap *heap, size_t *size)
{
    *size = heap->range;
    return heap->base;
}
