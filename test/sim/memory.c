/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - see memory.h.
 *
 * Locations: word 0 says what it is, word 1 is the address (of the memory, or of
 * a struct segment). Locks: a process's own for its allocations and maps; a
 * segment's own count.
 */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { LOC_MEMORY = 1, LOC_SEGMENT };

struct allocation {
    struct list_node link;
    char *at;
    size_t size;
};

/* Shared by all who map it; the last to unmap frees it. */
struct segment {
    char *base;
    size_t size;
    _Atomic int refs;
};

struct mapping {
    struct segment *segment; /* NULL: plain memory */
};

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "simulated memory: check failed: %s\n", what);
    abort();
}

void *sim_zeroed(size_t align, size_t size)
{
    void *at = NULL;
    const size_t whole = (size + align - 1) / align * align;
    must(posix_memalign(&at, align, whole ? whole : align) == 0, "memory");
    memset(at, 0, whole);
    return at;
}

void sim_memory_init(struct sim_memory *m)
{
    *m = (struct sim_memory){.nmaps = 0};
    pthread_mutex_init(&m->lock, NULL);
    list_init(&m->allocations);
}

void sim_memory_fini(struct sim_memory *m)
{
    struct list_node *node;
    while ((node = list_pop_front(&m->allocations)) != NULL) {
        struct allocation *a = LIST_ENTRY(node, struct allocation, link);
        free(a->at);
        free(a);
    }
    pthread_mutex_destroy(&m->lock);
}

int sim_memory_empty(const struct sim_memory *m)
{
    return list_empty(&m->allocations) && m->nmaps == 0;
}

static int mem_alloc(void *ctx, size_t size, size_t align, void **out)
{
    struct sim_memory *m = ctx;
    struct allocation *a = calloc(1, sizeof *a);
    must(a != NULL, "memory");
    a->size = size;
    a->at = sim_zeroed(align < MRMA_CACHE_LINE ? MRMA_CACHE_LINE : align, size);
    pthread_mutex_lock(&m->lock);
    list_push_back(&m->allocations, &a->link);
    m->bytes += size;
    pthread_mutex_unlock(&m->lock);
    *out = a->at;
    return MRMA_SUCCESS;
}

static struct allocation *find_allocation(struct sim_memory *m, const char *at, size_t len)
{
    LIST_EACH (node, &m->allocations) {
        struct allocation *a = LIST_ENTRY(node, struct allocation, link);
        if (at >= a->at && at <= a->at + a->size && len <= (size_t)(a->at + a->size - at))
            return a;
    }
    return NULL;
}

static void mem_free(void *ctx, void *ptr)
{
    struct sim_memory *m = ctx;
    struct allocation *a = NULL;
    pthread_mutex_lock(&m->lock);
    LIST_EACH (node, &m->allocations)
        if (LIST_ENTRY(node, struct allocation, link)->at == (char *)ptr)
            a = LIST_ENTRY(node, struct allocation, link);
    must(a != NULL, "memory that was not allocated is freed");
    list_remove(&a->link);
    m->bytes -= a->size;
    pthread_mutex_unlock(&m->lock);
    free(a->at);
    free(a);
}

static bool mem_find(void *ctx, const void *ptr, size_t len, struct rma_mem_loc *loc)
{
    struct sim_memory *m = ctx;
    pthread_mutex_lock(&m->lock);
    const bool found = find_allocation(m, ptr, len) != NULL;
    pthread_mutex_unlock(&m->lock);
    if (found)
        *loc = (struct rma_mem_loc){{LOC_MEMORY, (uint64_t)(uintptr_t)ptr}};
    return found;
}

static struct mapping *new_mapping(struct sim_memory *m, struct segment *seg)
{
    struct mapping *map = calloc(1, sizeof *map);
    must(map != NULL, "memory");
    map->segment = seg;
    pthread_mutex_lock(&m->lock);
    m->nmaps++;
    pthread_mutex_unlock(&m->lock);
    return map;
}

static int mem_map(void *ctx, const struct rma_mem_loc *loc, void **out, void **handle)
{
    struct segment *seg = NULL;
    must(loc->word[0] == LOC_MEMORY || loc->word[0] == LOC_SEGMENT,
         "a location that is none is mapped");
    *out = (void *)(uintptr_t)loc->word[1];
    if (loc->word[0] == LOC_SEGMENT) {
        seg = *out;
        atomic_fetch_add_explicit(&seg->refs, 1, memory_order_relaxed);
        *out = seg->base;
    }
    *handle = new_mapping(ctx, seg);
    return MRMA_SUCCESS;
}

static void mem_unmap(void *ctx, void *handle)
{
    struct sim_memory *m = ctx;
    struct mapping *map = handle;
    if (map->segment &&
        atomic_fetch_sub_explicit(&map->segment->refs, 1, memory_order_acq_rel) == 1) {
        free(map->segment->base);
        free(map->segment);
    }
    free(map);
    pthread_mutex_lock(&m->lock);
    m->nmaps--;
    pthread_mutex_unlock(&m->lock);
}

static int segment_create(void *ctx, size_t size, void **base, void **handle,
                          struct rma_mem_loc *loc)
{
    struct segment *seg = calloc(1, sizeof *seg);
    must(seg != NULL, "memory");
    seg->size = size;
    seg->base = sim_zeroed((size_t)sysconf(_SC_PAGESIZE), size);
    atomic_init(&seg->refs, 1);
    *base = seg->base;
    *handle = new_mapping(ctx, seg);
    *loc = (struct rma_mem_loc){{LOC_SEGMENT, (uint64_t)(uintptr_t)seg}};
    return MRMA_SUCCESS;
}

static int segment_commit(void *ctx, void *handle, size_t offset, size_t len)
{
    const struct segment *seg = ((struct mapping *)handle)->segment;
    (void)ctx;
    must(seg && offset <= seg->size && len <= seg->size - offset,
         "a part outside its segment is committed");
    return MRMA_SUCCESS;
}

/* All of it is there at once, and there is always enough. */
static uint64_t mem_untouched(void *ctx, const void *ptr, size_t len)
{
    (void)ctx, (void)ptr, (void)len;
    return 0;
}

static int mem_fits(void *ctx, uint64_t bytes)
{
    (void)ctx, (void)bytes;
    return MRMA_SUCCESS;
}

/* The programs give nothing back that windows are made of. */
static bool mem_pin(void *ctx, const void *ptr, size_t len)
{
    (void)ctx, (void)ptr, (void)len;
    return false;
}

static void mem_unpin(void *ctx, const void *ptr)
{
    (void)ctx, (void)ptr;
}

void sim_memory_env(struct rma_env *env)
{
    env->mem_pin = mem_pin;
    env->mem_unpin = mem_unpin;
    env->mem_untouched = mem_untouched;
    env->mem_fits = mem_fits;
    env->mem_alloc = mem_alloc;
    env->mem_free = mem_free;
    env->mem_find = mem_find;
    env->mem_map = mem_map;
    env->mem_unmap = mem_unmap;
    env->segment_create = segment_create;
    env->segment_commit = segment_commit;
}

void *sim_memory_alloc(struct sim_memory *m, size_t size)
{
    void *at;
    must(mem_alloc(m, size, MRMA_CACHE_LINE, &at) == MRMA_SUCCESS, "memory");
    return at;
}

void sim_memory_free(struct sim_memory *m, void *ptr)
{
    mem_free(m, ptr);
}
