/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_mem.c - the memory functions of src/rma's environment: memory comes from the heaps;
 * segments of others are mapped once, and their uses are counted.
 *
 * A mapping that nobody uses any more is dropped, except for heap chunks of processes that live:
 * many windows share these chunks, so the next window costs no system call. Blocks of malloc that
 * are shared belong to another library (shm/malloc_calls.h). Locks: maps_lock around the map of
 * segments. Neighbours: shm/heap.h, shm/segment.h.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "engine/engine_impl.h"
#include "shm/malloc_calls.h"

static_assert(sizeof(struct heap_loc) == sizeof(struct rma_mem_loc), "location size");

struct mapped_seg {
    struct seg seg;
    unsigned refs;
    bool keep; /* a heap chunk that many windows share: stays mapped when unused */
    struct seg_name
        name; /* by which others open it; it has the descriptor of the segment's maker, since this
                 process may have none */
};

static struct heap_loc loc_of(const struct rma_mem_loc *loc)
{
    struct heap_loc out;
    memcpy(&out, loc, sizeof out);
    return out;
}

static int env_mem_alloc(void *ctx, size_t size, size_t align, void **out)
{
    return heap_alloc(((struct engine *)ctx)->heap, size, align, out);
}

static void env_mem_free(void *ctx, void *ptr)
{
    (void)heap_free(((struct engine *)ctx)->heap, ptr);
}

static uint64_t env_mem_untouched(void *ctx, const void *ptr, size_t len)
{
    return heap_untouched(((struct engine *)ctx)->heap, ptr, len);
}

/* The engine's own segment is of the same kind as all its segments. */
static int env_mem_fits(void *ctx, uint64_t bytes)
{
    struct engine *e = ctx;
    return seg_fits(&e->own_seg, bytes, &e->log);
}

/* mapped_find looks for ptr in the segments of others that are mapped here, as a part of
 * MPI_Win_allocate_shared is. */
static bool mapped_find(struct engine *e, const void *ptr, size_t len, struct heap_loc *loc)
{
    const uintptr_t at = (uintptr_t)ptr;
    size_t cursor = 0;
    bool found = false;
    void *value;
    pthread_mutex_lock(&e->maps_lock);
    while (!found && map_next(&e->mapped, &cursor, NULL, &value)) {
        const struct mapped_seg *ms = value;
        const struct seg *seg = &ms->seg;
        const uintptr_t base = (uintptr_t)seg->base;
        found = at >= base && at - base <= seg->size && len <= seg->size - (at - base);
        if (found)
            *loc = (struct heap_loc){.seg = ms->name, .offset = at - base, .map = HEAP_MAP_ALL};
    }
    pthread_mutex_unlock(&e->maps_lock);
    return found;
}

static bool malloc_find(const struct engine *e, const void *ptr, size_t len, struct heap_loc *loc)
{
    return e->malloc_calls != NULL && e->malloc_calls->find(ptr, len, loc);
}

static bool env_mem_find(void *ctx, const void *ptr, size_t len, struct rma_mem_loc *loc)
{
    struct heap_loc found;
    struct engine *e = ctx;
    if (!heap_find(e->heap, ptr, len, &found) && !heap_find(e->user_heap, ptr, len, &found) &&
        !malloc_find(e, ptr, len, &found) && !mapped_find(e, ptr, len, &found))
        return false;
    memcpy(loc, &found, sizeof found);
    return true;
}

static bool env_mem_pin(void *ctx, const void *ptr, size_t len)
{
    struct engine *e = ctx;
    return heap_pin(e->user_heap, ptr, len) ||
           (e->malloc_calls != NULL && e->malloc_calls->pin(ptr, len));
}

static void env_mem_unpin(void *ctx, const void *ptr)
{
    struct engine *e = ctx;
    if (e->malloc_calls == NULL || !e->malloc_calls->unpin(ptr))
        heap_unpin(e->user_heap, ptr);
}

/* map_key returns a key that depends on the file, since two file systems may have the same inode
 * number. */
static uint64_t map_key(const struct seg_name *name)
{
    return name->inode ^ (name->device << 48 | name->device >> 16);
}

static void drop_mapped(struct engine *e, struct mapped_seg *ms)
{
    const struct seg_name name = {.inode = ms->seg.inode, .device = ms->seg.device};
    (void)map_del(&e->mapped, map_key(&name));
    seg_close(&ms->seg);
    free(ms);
}

static int open_mapped(struct engine *e, const struct heap_loc *loc, struct mapped_seg **out)
{
    struct mapped_seg *ms = calloc(1, sizeof *ms);
    if (!ms)
        return MRMA_ERR_NO_MEM;
    ms->keep = loc->map == HEAP_MAP_KEEP;
    ms->name = loc->seg;
    int err = seg_open(&loc->seg, &e->log, &ms->seg);
    if (!err && (err = map_put(&e->mapped, map_key(&loc->seg), ms, NULL)) != MRMA_SUCCESS)
        seg_close(&ms->seg);
    if (err) {
        free(ms);
        return err;
    }
    if (ms->keep)
        seg_only_mapped(&ms->seg);
    *out = ms;
    return MRMA_SUCCESS;
}

static int map_locked(struct engine *e, const struct heap_loc *loc, void **out,
                      struct mapped_seg **handle)
{
    struct mapped_seg *ms = map_get(&e->mapped, map_key(&loc->seg));
    int err = ms ? MRMA_SUCCESS : open_mapped(e, loc, &ms);
    if (err)
        return err;
    if (loc->offset >= ms->seg.size || ms->seg.inode != loc->seg.inode ||
        ms->seg.device != loc->seg.device) {
        if (!ms->refs && !ms->keep)
            drop_mapped(e, ms);
        return log_fail(&e->log, MRMA_ERR_INTERN, "location outside the segment of process %d",
                        loc->seg.pid);
    }
    ms->refs++;
    *out = (char *)ms->seg.base + loc->offset;
    *handle = ms;
    return MRMA_SUCCESS;
}

static int env_mem_map(void *ctx, const struct rma_mem_loc *where, void **out, void **handle)
{
    struct engine *e = ctx;
    const struct heap_loc loc = loc_of(where);
    struct mapped_seg *ms = NULL;
    pthread_mutex_lock(&e->maps_lock);
    int err = map_locked(e, &loc, out, &ms);
    pthread_mutex_unlock(&e->maps_lock);
    *handle = ms;
    return err;
}

static void env_mem_unmap(void *ctx, void *handle)
{
    struct engine *e = ctx;
    struct mapped_seg *ms = handle;
    pthread_mutex_lock(&e->maps_lock);
    if (--ms->refs == 0 && !ms->keep)
        drop_mapped(e, ms);
    pthread_mutex_unlock(&e->maps_lock);
}

static int env_segment_create(void *ctx, size_t size, void **base, void **handle,
                              struct rma_mem_loc *loc)
{
    struct engine *e = ctx;
    struct mapped_seg *ms = calloc(1, sizeof *ms);
    if (!ms)
        return MRMA_ERR_NO_MEM;
    int err = seg_create(e->conf.segment_dir, size, &e->log, &ms->seg);
    pthread_mutex_lock(&e->maps_lock);
    if (!err)
        ms->name = seg_name_of(&ms->seg);
    const struct heap_loc where = {.seg = ms->name};
    if (!err && (err = map_put(&e->mapped, map_key(&where.seg), ms, NULL)) != MRMA_SUCCESS)
        seg_close(&ms->seg);
    pthread_mutex_unlock(&e->maps_lock);
    if (err) {
        free(ms);
        return err;
    }
    ms->refs = 1;
    memcpy(loc, &where, sizeof where);
    *base = ms->seg.base;
    *handle = ms;
    return MRMA_SUCCESS;
}

static int env_segment_commit(void *ctx, void *handle, size_t offset, size_t len)
{
    struct engine *e = ctx;
    return seg_commit(&((struct mapped_seg *)handle)->seg, offset, len, &e->log);
}

void *engine_map_ring(struct engine *e, const struct heap_loc *where, size_t size, void **handle)
{
    struct mapped_seg *ms;
    void *at;
    pthread_mutex_lock(&e->maps_lock);
    const int err = map_locked(e, where, &at, &ms);
    pthread_mutex_unlock(&e->maps_lock);
    if (err)
        return NULL;
    if (ms->seg.fd >= 0)
        seg_only_mapped(&ms->seg);
    *handle = ms;
    if (size <= ms->seg.size - where->offset)
        return at;
    log_msg(&e->log, LOG_LEVEL_ERROR, "a ring of %zu bytes is not in the segment of process %d",
            size, where->seg.pid);
    env_mem_unmap(e, ms);
    return NULL;
}

void engine_unmap_ring(struct engine *e, void *handle)
{
    env_mem_unmap(e, handle);
}

/* The map may not change while it is walked, so the walk begins again after each removal. */
void engine_unmap_process(struct engine *e, int32_t pid)
{
    size_t cursor = 0;
    void *value;
    pthread_mutex_lock(&e->maps_lock);
    while (map_next(&e->mapped, &cursor, NULL, &value)) {
        struct mapped_seg *ms = value;
        if (ms->name.pid != pid || ms->refs || !ms->keep)
            continue;
        drop_mapped(e, ms);
        cursor = 0;
    }
    pthread_mutex_unlock(&e->maps_lock);
}

void engine_mem_init(struct engine *e)
{
    map_init(&e->mapped);
    e->env.mem_alloc = env_mem_alloc;
    e->env.mem_free = env_mem_free;
    e->env.mem_untouched = env_mem_untouched;
    e->env.mem_fits = env_mem_fits;
    e->env.mem_find = env_mem_find;
    e->env.mem_pin = env_mem_pin;
    e->env.mem_unpin = env_mem_unpin;
    e->env.mem_map = env_mem_map;
    e->env.mem_unmap = env_mem_unmap;
    e->env.segment_create = env_segment_create;
    e->env.segment_commit = env_segment_commit;
}

void engine_mem_fini(struct engine *e)
{
    size_t cursor = 0;
    void *value;
    while (map_next(&e->mapped, &cursor, NULL, &value)) {
        struct mapped_seg *ms = value;
        seg_close(&ms->seg);
        free(ms);
    }
    map_fini(&e->mapped);
}
