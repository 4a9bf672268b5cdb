/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_path.c - the filter in front of a target's path while a trace is taken (win/path_ops.h).
 * It records each operation with its number, target, size and path, hands it on along the route,
 * and records it as complete if this process has done it itself. An operation that goes by packet,
 * or waits in a stage, is complete with the acknowledgement or the call that ends the epoch.
 *
 * A trace changes nothing in the way in which operations are done. While the recording is stopped,
 * operations and their requests get no number. Locks: none; a thread records for itself.
 */
#include "rma/traced/traced_path.h"

#include "acc/acc.h"
#include "rma/traced/traced_access.h"
#include "rma/win/path_ops.h"

static enum trace_path trace_path_of(const struct rma_target *t)
{
    static const uint8_t path[PATH_COUNT] = {[PATH_MAPPED] = TRACE_MAPPED,
                                             [PATH_ASSISTED] = TRACE_ASSISTED,
                                             [PATH_PACKETS] = TRACE_PACKETS,
                                             [PATH_RDMA] = TRACE_NETWORK};
    return t->peer->net ? TRACE_NETWORK : (enum trace_path)path[t->path];
}

/* element_of returns the logarithm of the size of an atomic operation's elements: two atomic
 * operations are ordered only on whole elements. */
static uint32_t element_of(enum pkt_op_kind kind, const struct rma_op *op)
{
    const bool atomic = kind == PKT_OP_ACC || kind == PKT_OP_GET_ACC || kind == PKT_OP_CAS;
    const size_t extent = atomic ? acc_extent(op->ttype->basic) : 0;

    return extent > 1 ? (uint32_t)__builtin_ctzll(extent) << TRACE_OP_ELEMENT_SHIFT : 0;
}

/* The operation's request, if it has one, keeps the number. */
uint64_t traced_issue(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                      const struct rma_op *op, size_t len)
{
    static const uint16_t what[] = {[PKT_OP_PUT] = TRACE_PUT,
                                    [PKT_OP_GET] = TRACE_GET,
                                    [PKT_OP_ACC] = TRACE_ACCUMULATE,
                                    [PKT_OP_GET_ACC] = TRACE_GET_ACCUMULATE,
                                    [PKT_OP_CAS] = TRACE_COMPARE_AND_SWAP};
    struct trace *tr = w->rma->env->trace;
    if (trace_is_stopped(tr))
        return 0;
    const bool accesses = unlikely(trace_has_accesses(tr)) && len;
    const uint64_t entered = trace_time_of_last(tr, TRACE_ENTER);
    const struct trace_record rec = {
        .time = entered ? entered : trace_now(tr),
        .kind = TRACE_OP,
        .what = what[kind],
        .win = w->index + 1,
        .peer = t->rank,
        .arg = (uint32_t)trace_path_of(t) | (op->req ? TRACE_OP_REQUEST : 0) |
               (accesses ? element_of(kind, op) : 0) | op->notify << TRACE_OP_NOTIFY_SHIFT,
        .id = trace_next_op(tr),
        .bytes = len,
    };
    if (op->req)
        op->req->number = rec.id;
    trace_add(tr, &rec);
    if (accesses)
        traced_access(tr, rec.time, t, kind, op);
    return rec.id;
}

/* done_here returns whether this process has done all that the operation asks for. */
static bool done_here(const struct rma_target *t)
{
    if (atomic_load_explicit(&t->joint, memory_order_relaxed)) /* the operation may be published */
        return false;
    return t->path == PATH_MAPPED || (t->path == PATH_ASSISTED && t->sent == SENT_NOTHING);
}

static int traced_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                          const struct rma_op *op, int64_t offset, size_t len)
{
    const uint64_t id = traced_issue(w, t, kind, op, len);
    const int err = route_next(t, &traced_path)->operate(w, t, kind, op, offset, len);
    if (!err && id && done_here(t))
        rma_event(w->rma, (struct trace_record){
                              .kind = TRACE_DONE, .win = w->index + 1, .peer = t->rank, .id = id});
    return err;
}

static int traced_flush(struct win *w, struct rma_target *t, bool local)
{
    return route_next(t, &traced_path)->flush(w, t, local);
}

static int traced_unlock(struct win *w, struct rma_target *t)
{
    return route_next(t, &traced_path)->unlock(w, t);
}

const struct path_ops traced_path = {
    .name = "traced",
    .operate = traced_operate,
    .flush = traced_flush,
    .unlock = traced_unlock,
};
