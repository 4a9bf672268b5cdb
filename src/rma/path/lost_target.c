/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost_target.c - the way to a target of this node whose process is lost (progress/lost.h): there
 * is none. The target's route is replaced by one that ends here, and the short ways of fast.h find
 * no memory.
 *
 * What the process has left stays mapped until the window is freed, so an operation of another
 * thread that is in the old route, or has read the old sizes, stores into memory that nobody reads.
 * The sizes are two words: a thread that reads the old displacement limit and the new size assumes
 * that an operation which begins in the window also ends in it, which is true in a correct program.
 * The route and the sizes are stored relaxed: they point to constants and to mapped memory
 * (doc/memory-ordering.md). Locks: path_lose is called under the engine's.
 */
#include "base/err.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/progress/wait.h"
#include "rma/win/path_ops.h"
#include "rma/win/win.h"

static int lost_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                        const struct rma_op *op, int64_t offset, size_t len)
{
    (void)kind, (void)op, (void)offset, (void)len;
    return rma_lost(w, t);
}

static int lost_flush(struct win *w, struct rma_target *t, bool local)
{
    (void)local;
    return rma_lost(w, t);
}

static int lost_unlock(struct win *w, struct rma_target *t)
{
    return rma_lost(w, t);
}

const struct path_ops path_lost = {
    .name = "lost",
    .operate = lost_operate,
    .flush = lost_flush,
    .unlock = lost_unlock,
};

/* If an epoch was open when the process was lost, operations of it may still wait, and path_ready
 * forgets them. No put goes into a stage. */
const struct route path_lost_route = {
    .ops = {&path_ready, &path_lost},
    .n = 2,
    .known = 1,
};

void path_lose(struct win *w, struct rma_target *t)
{
    atomic_store_explicit(&t->fast_units, 0, memory_order_relaxed);
    atomic_store_explicit(&t->fast_size, 0, memory_order_relaxed);
    atomic_store_explicit(&t->route, &path_lost_route, memory_order_relaxed);
    assisted_lose(w, t);
    joint_drop(w, t);
    joint_lose_peer(w->rma, t->peer);
    atomic_store_explicit(&w->lock_quick, false, memory_order_relaxed);
    win_set_flush_quick(w);
}
