/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region_tree.c - see region_tree.h.
 *
 * An AVL tree that others read while its owner changes it. What a valid root reaches stays as it
 * is, except that the addition of a region changes it by one or two stores, each to the child of a
 * node: the first hangs in a leaf; where that makes the tree too deep, the second puts a new part
 * of the tree in the place of an old one. The tree is right before and after each of these stores.
 * A removal makes new nodes in place of those from the root down to the removed one, O(log n) of
 * them, and then makes the new root the valid one. The nodes that a change has left out are used
 * again by later changes.
 *
 * Order of stores and loads:
 *
 *   owner                                 reader (region.c)
 *   A: fence (release)                    E: s = state (acquire)
 *   B: nodes that s does not reach        F: nodes from the root of s on (relaxed;
 *      (relaxed); where a chunk is           children: acquire)
 *   D: the child of a node that s            fence (acquire)
 *      reaches (release)                  G: state is s? it is as found
 *   C: state = next root, and one
 *      change more (release)
 *
 * If E reads the state of a C, F sees all of the B and D before it. If F reads the child of a later
 * D, it sees the B before that D, and so a right tree, with the region that is being added or
 * without it. A node that this root reaches is written to again, other than by D, only by a B
 * behind the next C. If F reads a value of that B, its release fence A, which stands behind that
 * next C, and the reader's acquire fence make that C visible to G, so G finds another state and the
 * search is done again. The count of changes comes round after 2^32 of them, within one search. An
 * owner that is killed between A and C has left a right tree: readers never wait for the owner.
 *
 * A search that reads values of several changes still ends: it takes at most REGION_DEPTH steps.
 * The numbers of nodes that it reads were all given out by the owner. If one is in a chunk that is
 * not mapped here yet, the reader does G first, with acquire: if the state is still s, the number
 * comes from a B before the C of s, or from a D behind it, and where that chunk is was written
 * before either.
 *
 * What the owner attaches before it begins an exposure epoch is found by all processes that access
 * it in that epoch: the owner's C comes before its release store of the post, or of
 * win_ctl.exposed, and the reader's acquire load of that store comes before E. So a reader looks
 * only behind that load, also for operations that were called earlier (carry_out in
 * path/deferred.c).
 */
#include "rma/win/region_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"

/* most_made returns how many nodes the removal of one region makes at most in a tree of that
 * height: three a level. */
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

/* grow adds a chunk with as many nodes as there are already. */
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

/* leave_out notes that the new tree does without node i. If this change has made the node, nobody
 * has seen it, and it can be used again at once. */
static void leave_out(struct region_tree *tree, uint32_t i)
{
    if (node_of(tree, i)->made == tree->change)
        tree->free[tree->nfree++] = i;
    else
        tree->retired[tree->nretired++] = i;
}

/* ---- balance ---- */

/* rotate makes a node from region r and the children c[0] and c[1], of which one is deeper than the
 * other by two, and turns it so that it is balanced. */
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

/* join makes a node with these children, whose heights differ by two at most. */
static uint32_t join(struct region_tree *tree, const struct region *r, const uint32_t c[2])
{
    const uint32_t low = height(tree, c[0]), high = height(tree, c[1]);
    if (low > high + 1)
        return rotate(tree, r, c, 0);
    if (high > low + 1)
        return rotate(tree, r, c, 1);
    return make(tree, r, c[0], c[1]);
}

/* ---- removals; they return the new root of the part of the tree below i ---- */

/* remove_lowest takes out the node with the lowest address; *r is the region that was in it. */
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

/* Nobody sees what is written from here on until publish is called. */
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

/* The nodes from the root down to the place where a region is added. */
struct path {
    struct {
        struct region_node *node;
        uint32_t i;
        int side;
    } step[REGION_DEPTH];
    unsigned n;
};

static void descend(const struct region_tree *tree, struct path *path, uint64_t addr)
{
    path->n = 0;
    for (uint32_t i = tree->root; i; path->n++) {
        struct region_node *at = node_of(tree, i);
        const int side = addr > atomic_load_explicit(&at->addr, memory_order_relaxed);
        path->step[path->n].node = at;
        path->step[path->n].i = i;
        path->step[path->n].side = side;
        i = atomic_load_explicit(&at->child[side], memory_order_relaxed);
    }
}

/* hang_in puts node i at the place that the first n steps of the path lead to. */
static void hang_in(struct region_tree *tree, const struct path *path, unsigned n, uint32_t i)
{
    if (n)
        atomic_store_explicit(&path->step[n - 1].node->child[path->step[n - 1].side], i,
                              memory_order_release); /* D */
    else
        tree->root = i;
}

/* mend_depth is called when a region was added at the end of the path. At most one part of the tree
 * is too deep then, and it is as deep as before the addition when it is mended (a property of AVL
 * trees). */
static void mend_depth(struct region_tree *tree, const struct path *path)
{
    for (unsigned n = path->n; n-- > 0;) {
        struct region_node *at = path->step[n].node;
        const uint32_t i = path->step[n].i, c[2] = {child(tree, i, 0), child(tree, i, 1)};
        const uint32_t low = height(tree, c[0]), high = height(tree, c[1]);
        if (low > high + 1 || high > low + 1) {
            const struct region here = region_of(tree, i);
            const uint32_t all = rotate(tree, &here, c, high > low);
            leave_out(tree, i);
            hang_in(tree, path, n, all);
            return;
        }
        const uint32_t now = 1 + (low > high ? low : high);
        if (now == at->height)
            return;
        at->height = now;
    }
}

void region_tree_add(struct region_tree *tree, const struct region *region)
{
    struct path path;
    begin(tree);
    descend(tree, &path, region->addr);
    const uint32_t leaf = make(tree, region, 0, 0);
    hang_in(tree, &path, path.n, leaf);
    /* others may see the leaf now: this change must not use it again */
    node_of(tree, leaf)->made--;
    mend_depth(tree, &path);
    publish(tree, tree->root);
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
