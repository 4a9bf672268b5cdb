/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_shared.c - the memory of MPI_Win_allocate_shared (MPI 4.1, 12.2.3): one piece, made by rank
 * 0, mapped by all.
 *
 * This is a step of win_create.c. It has two exchanges of its own, since the beginning of each part
 * depends on all sizes.
 */
#include <unistd.h>

#include "base/err.h"
#include "base/fault.h"
#include "rma/create/node_memory.h"
#include "rma/create/win_create.h"
#include "sys/populate.h"

/* Up to this size contiguous parts come from rank 0's heap, whose chunks others have mapped
 * already. Larger ones, and those on pages of their own, are in a segment, in which each page comes
 * from the NUMA node where it is touched first; pages of the heap may have been touched before. */
enum { SHARED_HEAP_MAX = 256 << 10 };

/* A number that is too large for that becomes UINT64_MAX (node_memory.h). */
static uint64_t round_up(uint64_t n, uint64_t unit)
{
    const uint64_t most = size_sum(n, unit - 1);
    return most == UINT64_MAX ? most : most / unit * unit;
}

/* part_offset returns where rank's room begins in the segment; UINT64_MAX: beyond all memory. A
 * contiguous part begins where the one before it ends; any other part begins on a page, with slack
 * for an alignment of more than a page. */
static uint64_t part_offset(const struct win *w, const struct win_plan *plan, int rank)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t at = 0;
    for (int i = 0; i < rank; i++) {
        const uint64_t align = win_detail_of(plan, i)->hints.min_alignment;
        at = size_sum(at, record_of(w, i).size);
        if (w->hints.alloc_shared_noncontig)
            at = round_up(size_sum(at, align > page ? align : 0), page);
    }
    return at;
}

/* total_size returns the size of all parts together, at least 1. */
static uint64_t total_size(const struct win *w, const struct win_plan *plan)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
                   last = win_detail_of(plan, w->nproc - 1)->hints.min_alignment;
    const uint64_t total = size_sum(part_offset(w, plan, w->nproc), last > page ? last : 0);
    return total ? total : 1;
}

static bool is_from_heap(const struct win *w, const struct win_plan *plan)
{
    return !w->hints.alloc_shared_noncontig && total_size(w, plan) <= SHARED_HEAP_MAX;
}

static int make_from_heap(struct win *w, uint64_t total, struct rma_mem_loc *loc, void **base)
{
    struct rma_env *env = w->rma->env;
    int err = env->mem_alloc(env->ctx, total, (size_t)sysconf(_SC_PAGESIZE), &w->created.owned);
    if (!err && !env->mem_find(env->ctx, w->created.owned, total, loc))
        err = MRMA_ERR_INTERN;
    *base = w->created.owned;
    return err;
}

/* find_elsewhere returns a rank that is on another node than rank 0: this process itself, or the
 * first rank that is not on its node; 0: all are on one node. */
static int find_elsewhere(const struct win *w, const struct win_plan *plan)
{
    if (!win_on_node(w, 0, rma_proc_at(&plan->procs, 0)))
        return w->rank;
    for (int i = 1; i < w->nproc; i++)
        if (!win_on_node(w, i, rma_proc_at(&plan->procs, i)))
            return i;
    return 0;
}

static int make_segment(struct win *w, const struct win_plan *plan, struct rma_mem_loc *loc,
                        void **base)
{
    struct rma_env *env = w->rma->env;
    const int elsewhere = find_elsewhere(w, plan);
    if (elsewhere)
        return log_fail(w->rma->log, MRMA_ERR_RMA_SHARED,
                        "MPI_Win_allocate_shared: rank 0 and rank %d are on different nodes",
                        elsewhere);
    const uint64_t total = total_size(w, plan);
    if (total > PTRDIFF_MAX)
        return FAULT(w->rma->log, SHARED_TOO_LARGE);
    const int err = node_memory_fits(w, plan);
    if (err || w->rank != 0)
        return err;
    if (is_from_heap(w, plan))
        return make_from_heap(w, total, loc, base);
    return env->segment_create(env->ctx, total, base, &w->created.segment, loc);
}

/* take_part finds this process's part, aligned as the process has asked. A part of 0 bytes also
 * begins where the part before it ends, so that a process can find its neighbours' parts from its
 * own address (12.2.3). */
static int take_part(struct win *w, const struct win_plan *plan, char *base, struct win_part *mine)
{
    struct rma_env *env = w->rma->env;
    const uint64_t align = plan->mine.hints.min_alignment;
    mine->offset = part_offset(w, plan, w->rank);
    if (w->hints.alloc_shared_noncontig && align > 1)
        mine->offset =
            round_up((uint64_t)(uintptr_t)base + mine->offset, align) - (uint64_t)(uintptr_t)base;
    w->base = base + mine->offset;
    mine->vaddr = (uint64_t)(uintptr_t)w->base;
    int err = MRMA_SUCCESS;
    if (w->size && !is_from_heap(w, plan))
        err = env->segment_commit(env->ctx, w->created.segment, mine->offset, w->size);
    return err || !w->hints.populate ? err : populate_pages(w->base, w->size);
}

/* error_of logs what another process has said, unless this one has an error of its own. */
static int error_of(const struct win *w, int rank, int err)
{
    return err ? log_fail(w->rma->log, err, "rank %d %s", rank,
                          err == MRMA_ERR_NO_MEM ? "has no memory for the window"
                                                 : "cannot create the window")
               : MRMA_SUCCESS;
}

/* It is collective even after a local error: there are two further exchanges. */
int win_share_memory(struct win *w, struct win_plan *plan)
{
    struct rma_env *env = w->rma->env;
    struct boot *boot = plan->boot;
    struct win_segment seg = {.err = MRMA_SUCCESS};
    struct win_part mine = {.err = MRMA_SUCCESS};
    void *base = NULL;
    seg.err = make_segment(w, plan, &seg.loc, &base);
    int err = boot->allgather(boot, &seg, plan->segments, sizeof seg);
    err = err ? err : (int)seg.err;
    for (int i = 0; !err && i < w->nproc; i++)
        err = error_of(w, i, (int)plan->segments[i].err);
    if (err)
        return err;
    if (w->rank != 0)
        mine.err = env->mem_map(env->ctx, &plan->segments[0].loc, &base, &w->created.segment);
    if (!mine.err)
        mine.err = take_part(w, plan, base, &mine);
    plan->segment_base = base;
    err = boot->allgather(boot, &mine, plan->parts, sizeof mine);
    err = err ? err : (int)mine.err;
    for (int i = 0; !err && i < w->nproc; i++)
        err = error_of(w, i, (int)plan->parts[i].err);
    return err;
}
