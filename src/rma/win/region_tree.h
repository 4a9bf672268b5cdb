/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region_tree.h - the tree of attached regions (region.h): how its nodes lie in memory that others
 * map, and how its owner changes it. See region_tree.c for both, and region.c for who reads it.
 */
#ifndef MRMA_RMA_WIN_REGION_TREE_H
#define MRMA_RMA_WIN_REGION_TREE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "rma/env.h"

enum {
    REGION_FIRST = 64,  /* nodes behind the control block */
    REGION_CHUNKS = 26, /* the first nodes and all chunks that can be made: 2^31 nodes in all */
    REGION_DEPTH = 48   /* an AVL tree of so many nodes has fewer levels */
};

/* What an AVL tree's node says of a region. */
struct region {
    uint64_t addr, len; /* not 0 bytes */
    uint64_t segment;   /* the segment by which others attach it (env.h); 0: they cannot */
};

/* Nodes are known by their numbers, which begin at 1; 0 stands for no node. */
struct region_node {
    _Atomic uint64_t addr, len, segment;
    _Atomic uint32_t child[2]; /* the children with lower and with higher addresses */
    uint32_t height;           /* 1: it has no children. Read by the owner alone, */
    uint32_t made;             /* and so is this, the number of the change that has made the node */
};

/* Behind the control block. */
struct region_table {
    _Atomic uint64_t
        state; /* the root in the lower half; in the upper half, how many changes there were */
    struct rma_mem_loc chunk[REGION_CHUNKS]; /* where each chunk is, from chunk 1 on; set before a
                                                node is in it */
    struct region_node first[REGION_FIRST];
};

/* A process's view of the tree, through which it reaches the nodes. Chunk 0 is
 * region_table.first. */
struct region_view {
    struct rma_env *env;
    const struct log *log;
    struct region_table *table;
    _Atomic(struct region_node *) chunk[REGION_CHUNKS]; /* NULL: not reached yet */
    void *handle[REGION_CHUNKS];                        /* of what is mapped */
    pthread_mutex_t mapping;
};

/* The owner's. It alone changes the tree, under the engine's lock. */
struct region_tree {
    struct region_view view; /* first */
    uint32_t capacity, used; /* nodes that there are; the number from which on no node was used
                                yet */
    uint32_t *free, nfree;   /* nodes that are free again; room for capacity of them */
    uint32_t root, change;   /* change: the number of the one that is being made */
    uint32_t retired[3 * REGION_DEPTH], nretired; /* nodes that this change leaves out */
    void *empty;                                  /* struct map: region.c */
};

/* region_chunk_of returns in which chunk a node is, and sets *at to its place there. */
static inline unsigned region_chunk_of(uint32_t node, uint32_t *at)
{
    const unsigned k = node < REGION_FIRST ? 0 : 32 - (unsigned)__builtin_clz(node / REGION_FIRST);
    *at = k ? node - ((uint32_t)REGION_FIRST << (k - 1)) : node;
    return k;
}

/* region_tree_reserve makes sure that one more region can be added, and that all regions can be
 * taken out again, without further memory. MRMA_ERR_NO_MEM, or what rma_env.mem_alloc returned. */
int region_tree_reserve(struct region_tree *tree);

/* region_tree_add adds a region that overlaps with no other. The caller has called
 * region_tree_reserve for it. */
void region_tree_add(struct region_tree *tree, const struct region *region);

/* region_tree_remove takes out the region that begins at addr, which is there. */
void region_tree_remove(struct region_tree *tree, uint64_t addr);

/* region_tree_clear takes out all regions, and calls each for every one of them, in no particular
 * order. */
void region_tree_clear(struct region_tree *tree, void (*each)(void *arg, const struct region *r),
                       void *arg);

#endif
