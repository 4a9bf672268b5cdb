/*
 * packets.c - the way to a target that does operations itself, when packets ask for them: on
 * another node, or where neither mapping nor the kernel reaches its memory. The origin's side of
 * packets is src/rma/origin; here are only its entries for path_ops.h. No state.
 */
#include "rma/path/path.h"

#include "rma/origin/issue.h"

/* A small put travels in the open packet anyway. */
static bool packets_stage(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    (void)w, (void)t, (void)op;
    return false;
}

static int packets_put(struct win *w, struct rma_target *t, const struct rma_op *op, int64_t offset,
                       size_t len)
{
    (void)offset, (void)len;
    return issue_op(w, t, PKT_OP_PUT, op);
}

static int packets_get(struct win *w, struct rma_target *t, const struct rma_op *op, int64_t offset,
                       size_t len)
{
    (void)offset, (void)len;
    return issue_op(w, t, PKT_OP_GET, op);
}

static int packets_accumulate(struct win *w, struct rma_target *t, const struct rma_op *op,
                              bool fetch, int64_t offset, size_t len)
{
    (void)offset, (void)len;
    return issue_op(w, t, fetch ? PKT_OP_GET_ACC : PKT_OP_ACC, op);
}

static int packets_compare_and_swap(struct win *w, struct rma_target *t, const struct rma_op *op,
                                    int64_t offset, size_t len)
{
    (void)offset, (void)len;
    return issue_op(w, t, PKT_OP_CAS, op);
}

const struct path_ops path_packets = {
    .number = PATH_PACKETS,
    .name = "packets",
    .stage = packets_stage,
    .put = packets_put,
    .get = packets_get,
    .accumulate = packets_accumulate,
    .compare_and_swap = packets_compare_and_swap,
    .flush = issue_flush,
    .unlock = issue_lock_end,
};
