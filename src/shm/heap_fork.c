/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap_fork.c - a child of fork gets copies of what is allocated from a heap, as of private memory.
 *
 * Chunks are copied as they are, free blocks included. In the child the heap has no segments any
 * more, only memory of the child: allocations there do not touch the parent's memory.
 *
 * Locks: heap->mutex is taken before the fork and given back after it, in the parent and in the
 * child. Neighbours: fork_copies.c, which copies; src/engine/engine.c, which calls this around
 * forks.
 */
#include "shm/heap_chunk.h"

/* count_chunks does not count chunks that are memory of this process alone, whose segments a fork
 * has closed. */
static size_t count_chunks(const struct heap *heap)
{
    size_t n = 0;
    LIST_EACH (node, &heap->chunks)
        n += LIST_ENTRY(node, struct chunk, node)->seg.fd >= 0;
    return n;
}

void heap_fork_prepare(struct heap *heap)
{
    pthread_mutex_lock(&heap->mutex);
    const size_t n = count_chunks(heap);
    if (n == 0)
        return;
    bool ok = fork_copies_begin(&heap->copies, n);
    LIST_EACH (node, &heap->chunks) {
        const struct seg *seg = &LIST_ENTRY(node, struct chunk, node)->seg;
        if (seg->fd >= 0)
            fork_copies_add(&heap->copies, seg->base, seg->size, seg->fd);
    }
    ok = ok && fork_copies_fill(&heap->copies);
    if (!ok)
        log_msg(heap->log, LOG_LEVEL_WARN,
                "no memory for the child of this fork to have copies of "
                "what MPI_Alloc_mem gave");
}

void heap_fork_parent(struct heap *heap)
{
    fork_copies_drop(&heap->copies);
    pthread_mutex_unlock(&heap->mutex);
}

void heap_fork_child(struct heap *heap)
{
    fork_copies_move(&heap->copies);
    heap_keep_drop(heap);
    LIST_EACH (node, &heap->chunks)
        seg_forget(&LIST_ENTRY(node, struct chunk, node)->seg);
    pthread_mutex_unlock(&heap->mutex);
}
