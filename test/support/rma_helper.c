/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma_helper.c - see rma_helper.h. The shared part is an anonymous shared mapping
 * at the same address in every forked process, so plain pointers do.
 */
#include "rma_helper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "rma/layer/layer.h"
#include "rma/sync/sync.h"
#include "rma/win/region.h"
#include "rma/path/stage.h"

static size_t slots_end(int n)
{
    return stage_ctl_bytes(&conf_default, n, STAGE_ASSISTED);
}

static void *map_shared(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        abort();
    return at;
}

struct hand_shared hand_share(int n, bool dynamic)
{
    const size_t bytes = slots_end(n) + (dynamic ? region_ctl_bytes() : 0);
    struct hand_shared s = {.n = n,
                            .dynamic = dynamic,
                            .ctl_bytes =
                                (bytes + MRMA_CACHE_LINE - 1) / MRMA_CACHE_LINE * MRMA_CACHE_LINE};
    s.procs = map_shared((size_t)n * sizeof *s.procs);
    s.ctls = map_shared((size_t)n * s.ctl_bytes);
    s.heap = map_shared(sizeof *s.heap + HAND_HEAP);
    s.heap->limit = HAND_HEAP;
    for (int i = 0; i < n; i++) {
        struct win_ctl *ctl = (struct win_ctl *)(void *)(s.ctls + (size_t)i * s.ctl_bytes);
        atomic_init(&ctl->regions_offset, slots_end(n)); /* others may look before the owner does */
        stage_init(ctl, &conf_default, n, STAGE_ASSISTED, 0);
    }
    return s;
}

void hand_unshare(struct hand_shared *s)
{
    munmap(s->procs, (size_t)s->n * sizeof *s->procs);
    munmap(s->ctls, (size_t)s->n * s->ctl_bytes);
    munmap(s->heap, sizeof *s->heap + HAND_HEAP);
}

static struct win_ctl *ctl_of(const struct hand_shared *s, int rank)
{
    return (struct win_ctl *)(void *)(s->ctls + (size_t)rank * s->ctl_bytes);
}

static bool peer_alive(void *ctx, struct rma_peer *peer)
{
    struct hand *h = ctx;
    return !atomic_load_explicit(&h->shared.procs[peer - h->peers].dead, memory_order_acquire);
}

static int mem_alloc(void *ctx, size_t size, size_t align, void **out)
{
    struct hand_heap *heap = ((struct hand *)ctx)->shared.heap;
    const size_t bytes = (size + align - 1) / align * align;
    const size_t at = atomic_fetch_add_explicit(&heap->used, bytes, memory_order_relaxed);
    if (at + bytes > heap->limit) {
        atomic_fetch_sub_explicit(&heap->used, bytes, memory_order_relaxed);
        return MRMA_ERR_NO_MEM;
    }
    *out = heap->bytes + at;
    return MRMA_SUCCESS;
}

static void mem_free(void *ctx, void *ptr)
{
    (void)ctx, (void)ptr;
}

static bool mem_find(void *ctx, const void *ptr, size_t len, struct rma_mem_loc *loc)
{
    (void)ctx, (void)len;
    *loc = (struct rma_mem_loc){{(uintptr_t)ptr}};
    return true;
}

static int mem_map(void *ctx, const struct rma_mem_loc *loc, void **out, void **handle)
{
    (void)ctx;
    if (!loc->word[0]) /* the place is not known yet */
        abort();
    *out = *handle = (void *)(uintptr_t)loc->word[0];
    return MRMA_SUCCESS;
}

static void mem_unmap(void *ctx, void *handle)
{
    (void)ctx, (void)handle;
}

struct hand *hand_new(const struct hand_shared *s, int rank)
{
    struct hand *h = aligned_alloc(MRMA_CACHE_LINE, (sizeof *h + MRMA_CACHE_LINE - 1) /
                                                        MRMA_CACHE_LINE * MRMA_CACHE_LINE);
    if (!h || s->n > HAND_MAX)
        abort();
    memset(h, 0, sizeof *h);
    h->shared = *s;
    log_init(&h->log, LOG_LEVEL_ERROR, -1, "hand");
    ch3_init(&h->ch3, &h->log, rma_handlers, &h->rma);
    h->env = (struct rma_env){.ctx = h,
                              .peer_alive = peer_alive,
                              .polling = &s->procs[rank].polling,
                              .mem_alloc = mem_alloc,
                              .mem_free = mem_free,
                              .mem_find = mem_find,
                              .mem_map = mem_map,
                              .mem_unmap = mem_unmap};
    h->conf = conf_default;
    rma_init(&h->rma, &h->log, &h->conf, &h->env, &h->ch3, clock_monotonic_ns, false);
    h->rma.progress.oversubscribed = true;
    h->win = (struct win){.rma = &h->rma,
                          .gen = 1,
                          .rank = rank,
                          .nproc = s->n,
                          .disp_unit = 1,
                          .joint_min = SIZE_MAX,
                          .hints = win_hints_default(),
                          .dynamic = true,
                          .flavor = WIN_DYNAMIC,
                          .ctl = ctl_of(s, rank),
                          .lead = ctl_of(s, 0),
                          .memory_ranks = h->memory_ranks,
                          .nmemory = s->n,
                          .memory_me = rank,
                          .local = h->targets,
                          .nlocal = s->n};
    if (target_table_init(&h->win.targets, s->n))
        abort();
    if (s->dynamic && !(h->win.regions = region_open_own(&h->win, slots_end(s->n))))
        abort();
    list_init(&h->win.remote);
    list_init(&h->win.origin_side.touched);
    list_init(&h->win.target_side.lockq);
    list_init(&h->win.target_side.parked);
    for (int i = 0; i < s->n; i++) {
        struct win_ctl *ctl = ctl_of(s, i);
        h->memory_ranks[i] = i;
        h->peers[i] = (struct rma_peer){.uid = (uint64_t)i + 1,
                                        .node = true,
                                        .self = i == rank,
                                        .polling = &s->procs[i].polling};
        h->targets[i] = (struct rma_target){.path = PATH_MAPPED,
                                            .rank = i,
                                            .sync_ops = &sync_by_memory,
                                            .disp_unit = 1,
                                            .peer = &h->peers[i],
                                            .ctl = ctl,
                                            .out = &ctl->slots[rank].signals,
                                            .in = &h->win.ctl->slots[i].signals};
        stage_attach(&h->targets[i], h->win.ctl, s->n, rank, i);
        if (s->dynamic && region_open(&h->win, &h->targets[i]))
            abort();
        if (target_table_put(&h->win.targets, i, &h->targets[i]))
            abort();
    }
    return h;
}

void hand_free(struct hand *h)
{
    for (int i = 0; i < h->shared.n; i++)
        region_close(&h->win, &h->targets[i]);
    region_close_own(&h->rma, h->win.regions);
    pscw_fini(&h->win);
    target_table_fini(&h->win.targets);
    rma_fini(&h->rma);
    free(h);
}
