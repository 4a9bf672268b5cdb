/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.c - looking up attached memory, and attaching it. See region.h.
 *
 * Readers search the tree of the owner (region_tree.c, where the order of stores and loads is
 * argued: the labels E to G are below). Regions without a byte are not in the tree, for no access
 * needs them. The owner counts them by address: those attached before the region with bytes that
 * begins at the same address, and those attached after it, so that each detach takes the region
 * that came last.
 *
 * Locks: the owner holds the engine's. A reader takes the lock `mapping` of its view to map a chunk
 * that is new to this process.
 */
#include "rma/win/region.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/memcheck.h"
#include "rma/win/region_tree.h"
#include "rma/win/win.h"

/* How many regions without a byte there are at one address. */
struct empties {
    uint64_t below, above; /* attached before the region with bytes there, and after it */
};

size_t region_ctl_bytes(void)
{
    return sizeof(struct region_table);
}

/* ---- views ---- */

static void view_init(struct region_view *v, struct rma *r, struct region_table *table)
{
    v->env = r->env;
    v->log = r->log;
    v->table = table;
    atomic_init(&v->chunk[0], table->first);
    pthread_mutex_init(&v->mapping, NULL);
}

static struct region_tree *tree_of(struct region_view *own)
{
    return (struct region_tree *)(void *)own;
}

struct region_view *region_open_own(struct win *w, size_t offset)
{
    struct region_table *table = (struct region_table *)(void *)((char *)w->ctl + offset);
    struct region_tree *tree = calloc(1, sizeof *tree);
    struct map *empty = calloc(1, sizeof *empty);
    uint32_t *room = malloc(REGION_FIRST * sizeof *room);
    if (!tree || !empty || !room) {
        free(tree);
        free(empty);
        free(room);
        return NULL;
    }
    view_init(&tree->view, w->rma, table);
    tree->capacity = REGION_FIRST;
    tree->used = 1;
    tree->free = room;
    tree->empty = empty;
    map_init(empty);
    atomic_init(&table->state, 0);
    atomic_store_explicit(&w->ctl->regions_offset, offset, memory_order_relaxed);
    return &tree->view;
}

void region_close_own(struct rma *r, struct region_view *own)
{
    const struct rma_env *env = r->env;
    struct region_tree *tree = tree_of(own);
    size_t cursor = 0;
    void *counts;
    if (!tree)
        return;
    for (unsigned k = 1; k < REGION_CHUNKS; k++) {
        void *nodes = atomic_load_explicit(&own->chunk[k], memory_order_relaxed);
        if (nodes)
            env->mem_free(env->ctx, nodes);
    }
    while (map_next(tree->empty, &cursor, NULL, &counts))
        free(counts);
    map_fini(tree->empty);
    free(tree->empty);
    free(tree->free);
    pthread_mutex_destroy(&own->mapping);
    free(tree);
}

int region_open(struct win *w, struct rma_target *t)
{
    const uint64_t offset = atomic_load_explicit(&t->ctl->regions_offset, memory_order_relaxed);
    if (t->ctl == w->ctl) {
        t->regions = w->regions;
        return MRMA_SUCCESS;
    }
    struct region_view *v = calloc(1, sizeof *v);
    if (!v)
        return MRMA_ERR_NO_MEM;
    view_init(v, w->rma, (struct region_table *)(void *)((char *)t->ctl + offset));
    t->regions = v;
    return MRMA_SUCCESS;
}

void region_close(const struct win *w, struct rma_target *t)
{
    const struct rma_env *env = w->rma->env;
    struct region_view *v = t->regions;
    t->regions = NULL;
    if (!v || v == w->regions)
        return;
    for (unsigned k = 1; k < REGION_CHUNKS; k++)
        if (v->handle[k])
            env->mem_unmap(env->ctx, v->handle[k]);
    pthread_mutex_destroy(&v->mapping);
    free(v);
}

/* ---- looking up ---- */

/* A search in the tree of one state. */
struct search {
    struct region_view *view;
    uint64_t state;
    bool unmapped; /* the search needed a chunk that cannot be mapped here */
};

static void search_begin(struct search *s, struct region_view *view)
{
    s->view = view;
    s->state = atomic_load_explicit(&view->table->state, memory_order_acquire); /* E */
    s->unmapped = false;
}

/* search_holds returns whether everything that the search has found was in that one tree. */
static bool search_holds(const struct search *s)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&s->view->table->state, memory_order_relaxed) == s->state; /* G */
}

/* map_chunk returns where chunk k is in this process. NULL: the tree has changed, or the chunk
 * cannot be mapped. The release store of the address is read with acquire by reach. */
static struct region_node *map_chunk(struct search *s, unsigned k)
{
    struct region_view *v = s->view;
    const struct rma_env *env = v->env;
    if (atomic_load_explicit(&v->table->state, memory_order_acquire) != s->state)
        return NULL;
    pthread_mutex_lock(&v->mapping);
    struct region_node *nodes = atomic_load_explicit(&v->chunk[k], memory_order_relaxed);
    void *at;
    if (!nodes) {
        if (env->mem_map(env->ctx, &v->table->chunk[k], &at, &v->handle[k]) == MRMA_SUCCESS)
            nodes = at;
        else
            v->handle[k] = NULL;
        atomic_store_explicit(&v->chunk[k], nodes, memory_order_release);
    }
    pthread_mutex_unlock(&v->mapping);
    if (!nodes) {
        s->unmapped = true;
        log_msg(v->log, LOG_LEVEL_ERROR,
                "the regions that a process has attached cannot be mapped; they count as detached");
    }
    return nodes;
}

static const struct region_node *reach(struct search *s, uint32_t node)
{
    uint32_t at;
    const unsigned k = region_chunk_of(node, &at);
    const struct region_node *nodes =
        atomic_load_explicit(&s->view->chunk[k], memory_order_acquire);
    if (unlikely(!nodes) && !(nodes = map_chunk(s, k)))
        return NULL;
    return &nodes[at];
}

/* first_behind finds the first region that ends behind addr. False: there is none. If the tree
 * changes meanwhile, the result means nothing. */
static inline bool first_behind(struct search *s, uint64_t addr, struct region *out)
{
    const struct region_node *n, *best = NULL;
    uint32_t i = (uint32_t)s->state;
    for (unsigned step = 0; i && step < REGION_DEPTH && (n = reach(s, i)) != NULL; step++) { /* F */
        const uint64_t end = atomic_load_explicit(&n->addr, memory_order_relaxed) +
                             atomic_load_explicit(&n->len, memory_order_relaxed);
        best = end > addr ? n : best;
        i = atomic_load_explicit(&n->child[end <= addr], memory_order_acquire); /* of a D */
    }
    if (!best)
        return false;
    *out = (struct region){atomic_load_explicit(&best->addr, memory_order_relaxed),
                           atomic_load_explicit(&best->len, memory_order_relaxed),
                           atomic_load_explicit(&best->segment, memory_order_relaxed)};
    return true;
}

/* covers returns whether one run of touching regions covers [addr, addr+len). If the tree changes
 * meanwhile, the result means nothing. */
static bool covers(struct search *s, uint64_t addr, uint64_t len)
{
    struct region r;
    while (len) {
        if (!first_behind(s, addr, &r) || r.addr > addr)
            return false;
        const uint64_t rest = r.addr + r.len - addr;
        if (len <= rest)
            return true;
        if (!rest) /* possible only while the tree changes */
            return false;
        addr += rest;
        len -= rest;
    }
    return true;
}

bool region_covers(struct region_view *view, uint64_t addr, uint64_t len)
{
    for (;;) {
        struct search s;
        search_begin(&s, view);
        const bool found = covers(&s, addr, len);
        if (s.unmapped || search_holds(&s))
            return found && !s.unmapped;
    }
}

/* find_behind is first_behind for the owner itself and for other processes; these search again if
 * the tree has changed, as in region_covers. */
static bool find_behind(struct region_view *view, uint64_t addr, struct region *r)
{
    for (;;) {
        struct search s;
        search_begin(&s, view);
        const bool found = first_behind(&s, addr, r);
        if (s.unmapped || search_holds(&s))
            return found && !s.unmapped;
    }
}

bool region_find(struct region_view *view, uint64_t addr, uint64_t len, struct rma_exported *mem)
{
    struct region r;
    if (!find_behind(view, addr, &r))
        return false;
    *mem = (struct rma_exported){r.segment, r.addr, r.len};
    return r.segment && r.addr <= addr && len <= r.len - (addr - r.addr);
}

bool region_at(struct region_view *view, uint64_t addr, uint64_t *base, uint64_t *len)
{
    struct region r;
    if (!view || !find_behind(view, addr, &r) || r.addr > addr)
        return false;
    *base = r.addr;
    *len = r.len;
    return true;
}

bool region_allows(const struct rma_target *t, const struct rma_op *op)
{
    struct dtype_cursor cur;
    ptrdiff_t disp, end;
    size_t n;
    if (!t->ctl || (dtype_span(op->ttype, op->tcount, &disp, &end) &&
                    region_covers(t->regions, (uint64_t)(op->disp + disp), (uint64_t)(end - disp))))
        return true;
    dtype_cursor_init(&cur, op->ttype, op->tcount, DTYPE_BYTES);
    while ((n = dtype_cursor_next(&cur, SIZE_MAX, &disp)) != 0)
        if (!region_covers(t->regions, (uint64_t)(op->disp + disp), n))
            return false;
    return true;
}

/* ---- regions without a byte ---- */

static int attach_empty(struct region_tree *tree, uint64_t addr)
{
    struct empties *at = map_get(tree->empty, addr);
    if (!at) {
        at = calloc(1, sizeof *at);
        if (!at || map_put(tree->empty, addr, at, NULL) != MRMA_SUCCESS) {
            free(at);
            return MRMA_ERR_NO_MEM;
        }
    }
    at->above++;
    return MRMA_SUCCESS;
}

/* detach_empty takes out a region without a byte. False: the region that was attached last at addr,
 * if there is any, has bytes. */
static bool detach_empty(struct region_tree *tree, uint64_t addr)
{
    struct empties *at = map_get(tree->empty, addr);
    if (!at || !at->above)
        return false;
    at->above--;
    if (!at->above && !at->below)
        free(map_del(tree->empty, addr));
    return true;
}

/* order_empties corrects the two counts at addr when a region with bytes is attached or detached
 * there. */
static void order_empties(struct region_tree *tree, uint64_t addr, bool attached)
{
    struct empties *at = map_get(tree->empty, addr);
    if (at)
        *at = attached ? (struct empties){.below = at->below + at->above}
                       : (struct empties){.above = at->below};
}

/* ---- attaching ---- */

/* export_region exports a region for others and returns its segment. 0: others do not attach it. */
static uint64_t export_region(const struct win *w, uint64_t addr, uint64_t size)
{
    const struct rma_env *env = w->rma->env;
    return w->exports ? env->attach->make(env->ctx, (void *)(uintptr_t)addr, size) : 0;
}

static void end_export(const struct win *w, uint64_t segment)
{
    const struct rma_env *env = w->rma->env;
    if (segment)
        env->attach->remove(env->ctx, segment);
}

static int refuse(const struct win *w, uint64_t addr, uint64_t size, const struct region *met)
{
    return FAULT(w->rma->log, ATTACH_OVERLAP, (unsigned long long)addr, (unsigned long long)size,
                 (unsigned long long)met->len, (unsigned long long)met->addr);
}

int region_attach(struct win *w, uint64_t addr, uint64_t size)
{
    struct region_tree *tree = tree_of(w->regions);
    struct region met;
    if (!size)
        return attach_empty(tree, addr);
    if (find_behind(w->regions, addr, &met) && met.addr < addr + size)
        return refuse(w, addr, size, &met);
    const int err = region_tree_reserve(tree);
    if (err)
        return err;
    memcheck_shared((const void *)(uintptr_t)addr, size);
    const struct region region = {addr, size, export_region(w, addr, size)};
    region_tree_add(tree, &region);
    order_empties(tree, addr, true);
    return MRMA_SUCCESS;
}

static int refuse_detach(const struct win *w, uint64_t addr, const struct region *met)
{
    if (met)
        return FAULT(w->rma->log, DETACH_INSIDE, (unsigned long long)addr,
                     (unsigned long long)met->len, (unsigned long long)met->addr);
    return FAULT(w->rma->log, DETACH_NOTHING, (unsigned long long)addr);
}

int region_detach(struct win *w, uint64_t addr, bool *empty)
{
    struct region_tree *tree = tree_of(w->regions);
    struct region met;
    *empty = detach_empty(tree, addr);
    if (*empty)
        return MRMA_SUCCESS;
    const bool found = find_behind(w->regions, addr, &met) && met.addr <= addr;
    if (!found || met.addr != addr)
        return refuse_detach(w, addr, found ? &met : NULL);
    region_tree_remove(tree, addr);
    order_empties(tree, addr, false);
    /* The count is raised after the tree has changed: a process that sees the count (unmap_gone of
     * path/xpmem_path.c, acquire) sees the tree without the region, too, and does not take the
     * region for one that is left. */
    atomic_fetch_add_explicit(&w->ctl->regions_gone, 1, memory_order_release);
    end_export(w, met.segment);
    return MRMA_SUCCESS;
}

static void drop_export(void *arg, const struct region *r)
{
    const struct win *w = arg;
    if (!w->abandoned)
        end_export(w, r->segment);
}

void region_drop_all(struct win *w)
{
    if (w->regions)
        region_tree_clear(tree_of(w->regions), drop_export, w);
}
