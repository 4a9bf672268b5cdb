/*
 * strict_path.c - what stands in front of a target's path where MPIRMA_STRICT=1 checks operations
 * (path_ops.h, strict.h): each operation is checked and remembered, then handed on to the table
 * beneath; what completes operations makes them forgotten, then goes on too.
 *
 * Nothing is staged: what a target finds in a stage nobody has checked. Locks: those of strict.c.
 */
#include "base/err.h"
#include "rma/strict/strict_impl.h"

static const struct path_ops *below(const struct win *w, const struct rma_target *t)
{
    return w->rma->paths[t->way];
}

static bool strict_stage(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    (void)w, (void)t, (void)op;
    return false;
}

static int strict_put(struct win *w, struct rma_target *t, const struct rma_op *op, int64_t offset,
                      size_t len)
{
    const int err = strict_op(w, t, STRICT_PUT, op, offset);
    return err ? err : below(w, t)->put(w, t, op, offset, len);
}

static int strict_get(struct win *w, struct rma_target *t, const struct rma_op *op, int64_t offset,
                      size_t len)
{
    const int err = strict_op(w, t, STRICT_GET, op, offset);
    return err ? err : below(w, t)->get(w, t, op, offset, len);
}

static int strict_accumulate(struct win *w, struct rma_target *t, const struct rma_op *op,
                             bool fetch, int64_t offset, size_t len)
{
    const int err = strict_op(w, t, STRICT_ACC, op, offset);
    return err ? err : below(w, t)->accumulate(w, t, op, fetch, offset, len);
}

static int strict_compare_and_swap(struct win *w, struct rma_target *t, const struct rma_op *op,
                                   int64_t offset, size_t len)
{
    const int err = strict_op(w, t, STRICT_ACC, op, offset);
    return err ? err : below(w, t)->compare_and_swap(w, t, op, offset, len);
}

static int strict_flush(struct win *w, struct rma_target *t, bool local)
{
    strict_completed(w, t, local);
    return below(w, t)->flush(w, t, local);
}

static int strict_unlock(struct win *w, struct rma_target *t)
{
    strict_completed(w, t, false);
    const int broken = strict_check_unlock(w, t);
    const int err = below(w, t)->unlock(w, t);
    return err ? err : broken;
}

const struct path_ops strict_path = {
    .stage = strict_stage,
    .put = strict_put,
    .get = strict_get,
    .accumulate = strict_accumulate,
    .compare_and_swap = strict_compare_and_swap,
    .flush = strict_flush,
    .unlock = strict_unlock,
};
