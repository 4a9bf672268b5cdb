/*
 * traced_path.c - what stands in front of a target's path while a trace is taken (win/path_ops.h):
 * each operation is recorded with its number, target, size and path, then handed on to the table
 * beneath, and recorded as complete if this process has done it itself. What goes by packet, or
 * waits in a stage, is complete with the acknowledgement or the call that ends the epoch.
 *
 * Nothing is done in another way than without a trace. Locks: none; a thread records for itself.
 */
#include "rma/traced/traced.h"

#include "rma/strict/strict.h"
#include "rma/win/path_ops.h"

static const struct path_ops *below(const struct win *w, const struct rma_target *t)
{
    return w->strict ? &strict_path : w->rma->paths[t->way];
}

static enum trace_path path_of(const struct rma_target *t)
{
    static const uint8_t path[PATH_COUNT] = {[PATH_MAPPED] = TRACE_MAPPED,
                                             [PATH_CMA] = TRACE_ASSISTED,
                                             [PATH_PACKETS] = TRACE_PACKETS,
                                             [PATH_RDMA] = TRACE_NETWORK};
    return t->peer->net ? TRACE_NETWORK : (enum trace_path)path[t->way];
}

/* The operation as its record; its request, if it has one, knows it by the number. */
static struct trace_record issued(struct win *w, struct rma_target *t, const struct rma_op *op,
                                  enum trace_op what, size_t len)
{
    struct trace *tr = w->rma->env->trace;
    const uint64_t entered = trace_time_of_last(tr, TRACE_ENTER);
    struct trace_record rec = {
        .time = entered ? entered : trace_now(tr),
        .kind = TRACE_OP,
        .what = (uint16_t)what,
        .win = w->index + 1,
        .peer = t->rank,
        .arg = (uint32_t)path_of(t) | (op->req ? TRACE_OP_REQUEST : 0),
        .id = trace_next_op(tr),
        .bytes = len,
    };
    if (op->req)
        op->req->number = rec.id;
    trace_add(tr, &rec);
    return rec;
}

/* Has this process done all that the operation asks for? */
static bool done_here(const struct rma_target *t)
{
    return t->way == PATH_MAPPED || (t->way == PATH_CMA && t->sent == SENT_NOTHING);
}

static int ended(struct win *w, const struct rma_target *t, struct trace_record rec, int err)
{
    if (!err && done_here(t)) {
        rec.time = trace_now(w->rma->env->trace);
        rec.kind = TRACE_DONE;
        rec.what = 0;
        rec.arg = 0;
        rec.bytes = 0;
        trace_add(w->rma->env->trace, &rec);
    }
    return err;
}

static bool traced_stage(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    const bool staged = below(w, t)->stage(w, t, op);
    if (staged)
        (void)issued(w, t, op, TRACE_PUT, op->tcount * op->ttype->size);
    return staged;
}

static int traced_put(struct win *w, struct rma_target *t, const struct rma_op *op, int64_t offset,
                      size_t len)
{
    const struct trace_record rec = issued(w, t, op, TRACE_PUT, len);
    return ended(w, t, rec, below(w, t)->put(w, t, op, offset, len));
}

static int traced_get(struct win *w, struct rma_target *t, const struct rma_op *op, int64_t offset,
                      size_t len)
{
    const struct trace_record rec = issued(w, t, op, TRACE_GET, len);
    return ended(w, t, rec, below(w, t)->get(w, t, op, offset, len));
}

static int traced_accumulate(struct win *w, struct rma_target *t, const struct rma_op *op,
                             bool fetch, int64_t offset, size_t len)
{
    const struct trace_record rec =
        issued(w, t, op, fetch ? TRACE_GET_ACCUMULATE : TRACE_ACCUMULATE, len);
    return ended(w, t, rec, below(w, t)->accumulate(w, t, op, fetch, offset, len));
}

static int traced_compare_and_swap(struct win *w, struct rma_target *t, const struct rma_op *op,
                                   int64_t offset, size_t len)
{
    const struct trace_record rec = issued(w, t, op, TRACE_COMPARE_AND_SWAP, len);
    return ended(w, t, rec, below(w, t)->compare_and_swap(w, t, op, offset, len));
}

static int traced_flush(struct win *w, struct rma_target *t, bool local)
{
    return below(w, t)->flush(w, t, local);
}

static int traced_unlock(struct win *w, struct rma_target *t)
{
    return below(w, t)->unlock(w, t);
}

const struct path_ops traced_path = {
    .stage = traced_stage,
    .put = traced_put,
    .get = traced_get,
    .accumulate = traced_accumulate,
    .compare_and_swap = traced_compare_and_swap,
    .flush = traced_flush,
    .unlock = traced_unlock,
};
