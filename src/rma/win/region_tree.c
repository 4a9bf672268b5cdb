/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region_tree.c - see region_tree.h.
 *
 * An AVL tree that others read while its owner changes it. The owner never writes to a node that
 * the valid root reaches: a change makes anew the nodes from the root down to what it is about,
 * O(log n) of them, and then makes their root the valid one. The nodes that it has left out are
 * used again by later changes.
 *
 * Order of stores and loads:
 *
 *   owner                                 reader (region.c)
 *   A: fence (release)                    E: s = state (acquire)
 *   B: nodes that s does not reach        F: nodes from the root of s on (relaxed)
 *      (relaxed); where a chunk is           fence (acquire)
 *   C: state = next root, and one         G: state is s? it is as found
 *      change more (release)
 *
 * If E reads the state of a C, F sees all of the B before it. A node that this root reaches is
 * written to again only by a B behind the next C. If F reads a value of that B, its release fence
 * A, which stands behind that next C, and the reader's acquire fence make that C visible to G, so G
 * finds another state and the search is done again. The count of changes comes round after 2^32 of
 * them, within one search. Who is killed between A and C has changed nothing that is read: readers
 * never wait for the owner.
 *
 * A search that reads values of several changes still ends: it takes at most REGION_DEPTH steps.
 * The numbers of nodes that it reads were all given out by the owner. If one is in a chunk that is
 * not mapped here yet, the reader does G first, with acquire: if the state is still s, the number
 * comes from a B before the C of s, and so does where that chunk is.
 *
 * What the owner attaches before it begins an exposure is found by all that access it in that: its
 * C comes before the release store of the post, or of exposed, whose acquire load by the reader
 * comes before E. So a reader looks only behind that load, also for operations that were called
 * earlier (carry_out in path/deferred.c).
 */
#include "rma/win/region_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"

/* Nodes that the removal of one region makes at most, in a tree of that height: three a level. */
static uint32_t most_made(uint32_t height)
{
    return 3 * (height + 2);
}

static struct region_node *node_of(const struct region_tree *tree, uint32_t i)
{
    uint32_t at;
    const unsigned k = region_chunk_of(i, &at);
    return &atomic_load_explicit(&tree->view.chunk[k], memory_order_relaxed)[at];
}

static uint32_t height(const struct region_tree *tree, uint32_t i)
{
    return i ? node_of(tree, i)->height : 0;
}

static uint32_t child(const struct region_tree *tree, uint32_t i, int side)
{
    return atomic_load_explicit(&node_of(tree, i)->child[side], memory_order_relaxed);
}

static struct region region_of(const struct region_tree *tree, uint32_t i)
{
    const struct region_node *n = node_of(tree, i);
    return (struct region){atomic_load_explicit(&n->addr, memory_order_relaxed),
                           atomic_load_explicit(&n->len, memory_order_relaxed),
                           atomic_load_explicit(&n->segment, memory_order_relaxed)};
}

/* ---- nodes ---- */

/* One chunk more: as many nodes as there are. */
static int grow(struct region_tree *tree)
{
    struct region_view *v = &tree->view;
    const struct rma_env *env = v->env;
    uint32_t at;
    const unsigned k = region_chunk_of(tree->capacity, &at);
    void *nodes;
    if (k == REGION_CHUNKS)
        return MRMA_ERR_NO_MEM;
    uint32_t *more = realloc(tree->free, 2 * (size_t)tree->capacity * sizeof *more);
    if (!more)
        return MRMA_ERR_NO_MEM;
    tree->free = more;
    int err = env->mem_alloc(env->ctx, tree->capacity * sizeof(struct region_node), MRMA_CACHE_LINE,
                             &nodes);
    if (err)
        return err;
    if (!env->mem_find(env->ctx, nodes, 1, &v->table->chunk[k])) {
        env->mem_free(env->ctx, nodes);
        return MRMA_ERR_INTERN;
    }
    atomic_store_explicit(&v->chunk[k], nodes, memory_order_relaxed);
    tree->capacity *= 2;
    return MRMA_SUCCESS;
}

int region_tree_reserve(struct region_tree *tree)
{
    const uint32_t need = most_made(height(tree, tree->root) + 1) + 1;
    int err = MRMA_SUCCESS;
    while (!err && tree->nfree + (tree->capacity - tree->used) < need)
        err = grow(tree);
    return err;
}

static uint32_t make(struct region_tree *tree, const struct region *r, uint32_t low, uint32_t high)
{
    const uint32_t i = tree->nfree ? tree->free[--tree->nfree] : tree->used++;
    const uint32_t hl = height(tree, low), hh = height(tree, high);
    struct region_node *n = node_of(tree, i);
    atomic_store_explicit(&n->addr, r->addr, memory_order_relaxed);
    atomic_store_explicit(&n->len, r->len, memory_order_relaxed);
    atomic_store_explicit(&n->segment, r->segment, memory_order_relaxed);
    atomic_store_explicit(&n->child[0], low, memory_order_relaxed);
    atomic_store_explicit(&n->child[1], high, memory_order_relaxed);
    n->height = 1 + (hl > hh ? hl : hh);
    n->made = tree->change;
    return i;
}

/* The new tree does without it. One that this change has made is seen by nobody. */
static void leave_out(struct region_tree *tree, uint32_t i)
{
    if (node_of(tree, i)->made == tree->change)
        tree->free[tree->nfree++] = i;
    else
        tree->retired[tree->nretired++] = i;
}

/* ---- balance ---- */

/* A node with the children c[0] and c[1], of which that on the other side is deeper by two. */
static uint32_t rotate(struct region_tree *tree, const struct region *r, const uint32_t c[2],
                       int deep)
{
    const uint32_t top = c[deep], inner = child(tree, top, !deep), outer = child(tree, top, deep);
    const struct region at_top = region_of(tree, top);
    uint32_t part[2], whole[2];
    if (height(tree, outer) >= height(tree, inner)) {
        part[deep] = inner;
        part[!deep] = c[!deep];
        whole[deep] = outer;
        whole[!deep] = make(tree, r, part[0], part[1]);
        const uint32_t all = make(tree, &at_top, whole[0], whole[1]);
        leave_out(tree, top);
        return all;
    }
    const struct region middle = region_of(tree, inner);
    part[deep] = outer;
    part[!deep] = child(tree, inner, deep);
    whole[deep] = make(tree, &at_top, part[0], part[1]);
    part[deep] = child(tree, inner, !deep);
    part[!deep] = c[!deep];
    whole[!deep] = make(tree, r, part[0], part[1]);
    const uint32_t all = make(tree, &middle, whole[0], whole[1]);
    leave_out(tree, top);
    leave_out(tree, inner);
    return all;
}

/* A node with those children, whose heights differ by two at most. */
static uint32_t join(struct region_tree *tree, const struct region *r, const uint32_t c[2])
{
    const uint32_t low = height(tree, c[0]), high = height(tree, c[1]);
    if (low > high + 1)
        return rotate(tree, r, c, 0);
    if (high > low + 1)
        return rotate(tree, r, c, 1);
    return make(tree, r, c[0], c[1]);
}

/* ---- changes; they return the new root of the part of the tree below i ---- */

static uint32_t add(struct region_tree *tree, uint32_t i, const struct region *r)
{
    if (!i)
        return make(tree, r, 0, 0);
    const struct region here = region_of(tree, i);
    const int side = r->addr > here.addr;
    uint32_t c[2] = {child(tree, i, 0), child(tree, i, 1)};
    c[side] = add(tree, c[side], r);
    const uint32_t all = join(tree, &here, c);
    leave_out(tree, i);
    return all;
}

/* *r: what was in the lowest node. */
static uint32_t remove_lowest(struct region_tree *tree, uint32_t i, struct region *r)
{
    const struct region here = region_of(tree, i);
    uint32_t c[2] = {child(tree, i, 0), child(tree, i, 1)}, all = c[1];
    if (!c[0]) {
        *r = here;
    } else {
        c[0] = remove_lowest(tree, c[0], r);
        all = join(tree, &here, c);
    }
    leave_out(tree, i);
    return all;
}

static uint32_t take_out(struct region_tree *tree, uint32_t i, uint64_t addr)
{
    struct region here = region_of(tree, i);
    uint32_t c[2] = {child(tree, i, 0), child(tree, i, 1)}, all;
    if (addr != here.addr) {
        const int side = addr > here.addr;
        c[side] = take_out(tree, c[side], addr);
        all = join(tree, &here, c);
    } else if (c[0] && c[1]) {
        c[1] = remove_lowest(tree, c[1], &here);
        all = join(tree, &here, c);
    } else {
        all = c[0] ? c[0] : c[1];
    }
    leave_out(tree, i);
    return all;
}

/* What is written from here on is seen by nobody before publish. */
static void begin(struct region_tree *tree)
{
    tree->change++;
    atomic_thread_fence(memory_order_release); /* A */
}

static void publish(struct region_tree *tree, uint32_t root)
{
    tree->root = root;
    atomic_store_explicit(&tree->view.table->state, (uint64_t)tree->change << 32 | root,
                          memory_order_release); /* C */
    memcpy(&tree->free[tree->nfree], tree->retired, tree->nretired * sizeof *tree->retired);
    tree->nfree += tree->nretired;
    tree->nretired = 0;
}

void region_tree_add(struct region_tree *tree, const struct region *region)
{
    begin(tree);
    publish(tree, add(tree, tree->root, region));
}

void region_tree_remove(struct region_tree *tree, uint64_t addr)
{
    begin(tree);
    publish(tree, take_out(tree, tree->root, addr));
}

static void visit(const struct region_tree *tree, uint32_t i,
                  void (*each)(void *arg, const struct region *r), void *arg)
{
    while (i) {
        const struct region here = region_of(tree, i);
        visit(tree, child(tree, i, 0), each, arg);
        each(arg, &here);
        i = child(tree, i, 1);
    }
}

void region_tree_clear(struct region_tree *tree, void (*each)(void *arg, const struct region *r),
                       void *arg)
{
    const uint32_t old = tree->root;
    begin(tree);
    publish(tree, 0);
    visit(tree, old, each, arg);
    tree->used = 1;
    tree->nfree = 0;
}
