/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_xpmem.c - memory that is not from the library's heaps, exported and attached by XPMEM:
 * src/rma's struct rma_attach on real processes.
 *
 * Each process tries XPMEM on itself when its engine is made (shm/xpmem.h), tells the others a
 * segment with a word in it (engine_impl.c), and tries the segment of each peer once
 * (engine_peer.c). Nothing is exported where MPIRMA_XPMEM or MPIRMA_PATH excludes it. Locks: those
 * of the cache. Neighbours: shm/xpmem_attached.h, which keeps what is attached.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "engine/engine_impl.h"

/* How many regions are attached at once; by Linux's default a process may have 65530 mappings. */
enum { ATTACHED_MOST = 8192 };

static bool attach_usable(void *ctx)
{
    const struct engine *e = ctx;
    return !atomic_load_explicit(&e->export_ended, memory_order_relaxed);
}

static uint64_t attach_make(void *ctx, const void *ptr, size_t len)
{
    struct engine *e = ctx;
    if (!attach_usable(e))
        return 0;
    const uint64_t segment = shm_xpmem_make(e->xpmem, ptr, len);
    if (!segment)
        log_msg(&e->log, LOG_LEVEL_INFO, "xpmem_make refuses %zu bytes at %p: %s", len, ptr,
                strerror(errno));
    return segment;
}

static void attach_remove(void *ctx, uint64_t segment)
{
    shm_xpmem_remove(((struct engine *)ctx)->xpmem, segment);
}

static int attach_region(void *ctx, const struct rma_peer *peer, const struct rma_exported *mem,
                         const void *group, void **out, void **handle)
{
    struct engine *e = ctx;
    const struct attached_region r = {peer->uid, mem->segment, mem->vaddr, mem->len, group};
    struct attachment *a;
    const int error = attached_get(&e->attached, &r, out, &a);
    if (!error) {
        *handle = a;
        return MRMA_SUCCESS;
    }
    log_msg(&e->log, LOG_LEVEL_INFO, "XPMEM attaches no %llu bytes of process %d: %s",
            (unsigned long long)mem->len, peer->pid, strerror(error));
    return MRMA_ERR_OTHER;
}

static void attach_end(void *ctx, void *handle, bool keep)
{
    attached_put(&((struct engine *)ctx)->attached, handle, keep);
}

struct asked {
    bool (*gone)(void *arg, const struct rma_exported *mem);
    void *arg;
};

static bool is_gone(void *arg, const struct attached_region *r)
{
    const struct asked *asked = arg;
    const struct rma_exported mem = {r->segment, r->vaddr, r->len};
    return asked->gone(asked->arg, &mem);
}

static void attach_end_group(void *ctx, const void *group,
                             bool (*gone)(void *arg, const struct rma_exported *mem), void *arg)
{
    struct asked asked = {gone, arg};
    attached_drop(&((struct engine *)ctx)->attached, group, gone ? is_gone : NULL, &asked);
}

static void attach_give_up(void *ctx)
{
    struct engine *e = ctx;
    atomic_store_explicit(&e->export_ended, true, memory_order_relaxed);
}

static const struct rma_attach attach_functions = {
    .usable = attach_usable,
    .make = attach_make,
    .remove = attach_remove,
    .attach = attach_region,
    .detach = attach_end,
    .detach_group = attach_end_group,
    .give_up = attach_give_up,
};

static int cache_attach(void *ctx, uint64_t segment, uint64_t vaddr, uint64_t len,
                        struct shm_xpmem_map *map)
{
    return shm_xpmem_attach(ctx, segment, vaddr, len, map);
}

static void cache_detach(void *ctx, const struct shm_xpmem_map *map)
{
    shm_xpmem_detach(ctx, map);
}

void engine_attach_init(struct engine *e)
{
    char why[300];
    if (e->conf.xpmem == CONF_XPMEM_NO ||
        (e->conf.path != CONF_PATH_AUTO && e->conf.path != CONF_PATH_MAPPED))
        return;
    if (shm_xpmem_open(e->conf.xpmem == CONF_XPMEM_YES, &e->xpmem, why, sizeof why) !=
        MRMA_SUCCESS) {
        log_msg(&e->log, LOG_LEVEL_DEBUG, "XPMEM is not used: %s", why);
        return;
    }
    const struct attached_ops ops = {cache_attach, cache_detach, e->xpmem};
    attached_init(&e->attached, &ops, ATTACHED_MOST);
    e->probe_segment = shm_xpmem_make(e->xpmem, &e->uid, sizeof e->uid);
}

void engine_attach_offer(struct engine *e)
{
    e->env.attach = e->probe_segment ? &attach_functions : NULL;
}

bool engine_attach_probe(struct engine *e, const struct proc_record *rec)
{
    if (!e->env.attach || !rec->probe_segment)
        return false;
    const int error =
        shm_xpmem_probe(e->xpmem, rec->probe_segment, rec->probe_addr, rec->probe_value);
    if (error)
        log_msg(&e->log, LOG_LEVEL_INFO, "XPMEM does not reach process %d: %s", rec->seg.pid,
                error < 0 ? "another process's memory is there" : strerror(error));
    return !error;
}

uint64_t engine_attach_count(struct engine *e)
{
    uint64_t made = 0;
    if (e->xpmem)
        (void)attached_count(&e->attached, &made);
    return made;
}

void engine_attach_fini(struct engine *e)
{
    if (!e->xpmem)
        return;
    attached_fini(&e->attached);
    shm_xpmem_remove(e->xpmem, e->probe_segment);
    shm_xpmem_close(e->xpmem);
}
