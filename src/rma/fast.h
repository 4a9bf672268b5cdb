/*
 * fast.h - the few instructions of the commonest calls, inline in the entry
 * points: contiguous put and get of mapped memory, and flush with nothing to do.
 *
 * Each either does all of the call or nothing and says so; the caller then goes
 * the general way, which also finds the errors. They exist because the goal of
 * 120 instructions for MPI_Put and 40 for an empty MPI_Win_flush was missed with
 * one more call and an operation built in memory (doc/performance.md). Nothing is
 * traced here: while a trace is taken no target is ever known to be ready.
 */
#ifndef MRMA_RMA_FAST_H
#define MRMA_RMA_FAST_H

#include "rma/direct.h"
#include "rma/win.h"

/* Where len bytes at disp of a mapped target are, NULL: not the simple case.
 * disp is not negative. */
static inline char *fast_addr(struct win *w, int target, int64_t disp, size_t len)
{
    struct rma_target *t = &w->targets[target];
    if (unlikely(!target_ready(w, t) || (uint64_t)disp > t->fast_units))
        return NULL;
    const uint64_t offset = (uint64_t)disp * t->disp_unit;
    if (unlikely(len > t->fast_size - offset))
        return NULL;
    w->stats.ops[PATH_MAPPED]++;
    w->stats.bytes[PATH_MAPPED] += len;
    return t->base + offset;
}

static inline bool fast_put(struct win *w, const void *from, int target, int64_t disp, size_t len)
{
    char *to = fast_addr(w, target, disp, len);
    if (unlikely(!to))
        return false;
    direct_copy(to, from, len);
    win_set_dirty(w);
    return true;
}

static inline bool fast_get(struct win *w, void *to, int target, int64_t disp, size_t len)
{
    const char *from = fast_addr(w, target, disp, len);
    if (unlikely(!from))
        return false;
    direct_copy(to, from, len);
    return true;
}

/* MPI_Win_flush when there is nothing to make visible: the target is accessible
 * in a passive epoch and direct, and no store has been made since the last fence. */
static inline bool fast_flush(const struct win *w, int target)
{
    const struct rma_target *t = &w->targets[target];
    return likely((w->flush_quick == FLUSH_QUICK_ALL || (w->flush_quick && target_ready(w, t))) && t->direct &&
                  !atomic_load_explicit(&w->dirty, memory_order_relaxed));
}

#endif
