/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * share.c - see share.h.
 *
 * While pages are replaced, what another process stores there would be lost, since it may go to the
 * old ones. That can happen only through windows (not through this one, which does not exist yet),
 * and only in pages that are not shared yet: so any other window with memory in these is a reason
 * to refuse. A window that comes later finds the pages replaced and holds them. Which of two
 * windows is the later one is decided by the engine's lock: a window is in the table before it
 * looks for pages to hold, and who replaces pages looks at the table and does it under one hold of
 * the lock.
 */
#include "rma/win/share.h"

#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "rma/win/region.h"

int share_hold(struct win *w)
{
    struct rma_env *env = w->rma->env;
    if (w->flavor != WIN_CREATE || !w->base || !w->size || !env->mem_hold)
        return MRMA_SUCCESS;
    return env->mem_hold(env->ctx, w->base, w->size, &w->shares);
}

static bool is_asked_for(const struct win *w)
{
    const struct conf *conf = w->rma->conf;
    struct rma_env *env = w->rma->env;
    struct rma_mem_loc loc;
    return w->hints.share_create && w->flavor == WIN_CREATE && w->base && w->size &&
           w->hints.alloc_shm && w->nproc > 1 &&
           (conf->path == CONF_PATH_AUTO || conf->path == CONF_PATH_MAPPED) &&
           !env->mem_find(env->ctx, w->base, w->size, &loc);
}

bool share_wanted(const struct win *w)
{
    return w->rma->env->mem_share && is_asked_for(w);
}

struct conflict {
    struct rma_env *env;
    uint64_t lo, hi; /* the pages of the window */
    bool found;
};

/* Has [addr, addr+len) a part in the pages that is not shared? */
static void look_at_region(void *arg, uint64_t addr, uint64_t len)
{
    struct conflict *c = arg;
    struct rma_mem_loc loc;
    const uint64_t lo = addr > c->lo ? addr : c->lo, hi = addr + len < c->hi ? addr + len : c->hi;
    c->found |= lo < hi && !c->env->mem_find(c->env->ctx, (void *)(uintptr_t)lo, hi - lo, &loc);
}

/* Another window with memory in the pages of this one; NULL: none. */
static const struct win *other_window(const struct win *w)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), base = (uint64_t)(uintptr_t)w->base;
    struct conflict c = {.env = w->rma->env,
                         .lo = base / page * page,
                         .hi = (base + w->size + page - 1) / page * page};
    for (uint32_t i = 0; i < w->rma->nwins; i++) {
        struct win *o = w->rma->wins[i];
        if (!o || o == w)
            continue;
        if (o->dynamic && o->ctl)
            region_each(o, look_at_region, &c);
        else if (o->flavor == WIN_CREATE && o->base)
            look_at_region(&c, (uint64_t)(uintptr_t)o->base, o->size);
        if (c.found)
            return o;
    }
    return NULL;
}

/* Under the engine's lock. */
static int take(struct win *w, char *why, size_t len)
{
    struct rma_env *env = w->rma->env;
    const struct win *other = other_window(w);
    if (other) {
        snprintf(why, len, "window %u has memory in the same pages that is not shared",
                 other->index);
        return MRMA_ERR_OTHER;
    }
    return env->mem_share(env->ctx, w->base, w->size, w->shares, why, len);
}

static bool has_neighbours(const struct win *w)
{
    for (int i = 0; i < w->nproc; i++)
        if (i != w->rank && win_on_node(w, i))
            return true;
    return false;
}

/* Others reach the memory through the kernel. That this build has no such thing is said once, for
 * all windows. Under the engine's lock. */
static void refuse(struct win *w, const char *why)
{
    if (w->rma->stats.share_refused++ && !w->rma->env->mem_share)
        return;
    log_msg(w->rma->log, LOG_LEVEL_WARN,
            "window %u: its %llu bytes at %p do not become shared memory, others reach them "
            "through the kernel: %s",
            w->index, (unsigned long long)w->size, w->base, why);
}

bool share_try(struct win *w)
{
    struct rma *r = w->rma;
    struct rma_env *env = r->env;
    struct rma_mem_loc loc;
    char why[256];
    int err = MRMA_ERR_OTHER;
    const bool asked = is_asked_for(w) && has_neighbours(w);
    w->hints.share_create = w->shares && env->mem_find(env->ctx, w->base, w->size, &loc);
    if (!asked)
        return false;
    rma_enter(r);
    if (!env->mem_share && env->mem_share_missing)
        refuse(w, env->mem_share_missing);
    else if (env->mem_share && (err = take(w, why, sizeof why)) != MRMA_SUCCESS)
        refuse(w, why);
    if (!err) {
        r->stats.shared++;
        r->stats.shared_bytes += w->size;
        w->shares = w->hints.share_create = true;
    }
    rma_leave(r);
    return !err;
}

void share_drop(struct win *w)
{
    struct rma_env *env = w->rma->env;
    if (w->shares)
        env->mem_unshare(env->ctx, w->base, w->size);
    w->shares = false;
}

int share_hold_region(struct win *w, uint64_t addr, uint64_t size)
{
    struct rma_env *env = w->rma->env;
    bool some;
    return env->mem_hold ? env->mem_hold(env->ctx, (void *)(uintptr_t)addr, size, &some)
                         : MRMA_SUCCESS;
}

void share_drop_region(struct win *w, uint64_t addr, uint64_t size)
{
    struct rma_env *env = w->rma->env;
    if (env->mem_unshare)
        env->mem_unshare(env->ctx, (void *)(uintptr_t)addr, size);
}
