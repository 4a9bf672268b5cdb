/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op.c - put, get and accumulates from the call to the target's path (MPI 4.1, 12.3).
 *
 * Each operation: may the target be accessed (one comparison, or epoch_access); do the two sides'
 * sizes agree; does the target side lie in the window; then on to the table of functions that was
 * chosen when the target was made (win/path_ops.h).
 */
#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/path/deferred.h"
#include "rma/path/path.h"
#include "rma/path/stage.h"
#include "rma/traced/traced.h"
#include "rma/win/region.h"
#include "rma/win/win.h"

const struct path_ops *const path_by_number[PATH_COUNT] = {
    [PATH_MAPPED] = &path_mapped,
    [PATH_ASSISTED] = &path_assisted,
    [PATH_PACKETS] = &path_packets,
    [PATH_RDMA] = &path_rdma,
};

/* The target side of an operation; len 0: there is nothing to do, and offset means nothing. */
struct place {
    int64_t offset;
    size_t len;
};

/* R-operations are for passive target epochs only (MPI 4.1, 12.3.5). */
static inline int ready(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    if (unlikely(op->req && epoch_now(&w->epoch) != EPOCH_LOCK &&
                 epoch_now(&w->epoch) != EPOCH_LOCK_ALL))
        return MRMA_ERR_RMA_SYNC;
    return likely(target_ready(w, t)) ? MRMA_SUCCESS : epoch_access(w, t);
}

/* What is attached is looked at when the target's exposure has begun (deferred.c). */
static __attribute__((noinline)) int check_span(struct win *w, struct rma_target *t,
                                                const struct rma_op *op)
{
    ptrdiff_t lo, hi;
    int64_t offset, first, end;
    if (op->tcount == 0 || op->ttype->size == 0)
        return MRMA_SUCCESS;
    if (!dtype_span(op->ttype, op->tcount, &lo, &hi))
        return MRMA_ERR_RMA_RANGE;
    if (w->dynamic)
        return deferred_wait(t) || region_allows(t, op) ? MRMA_SUCCESS : MRMA_ERR_RMA_RANGE;
    if (__builtin_mul_overflow(op->disp, (int64_t)t->disp_unit, &offset) ||
        __builtin_add_overflow(offset, lo, &first) || __builtin_add_overflow(offset, hi, &end))
        return MRMA_ERR_RMA_RANGE;
    return first >= 0 && (uint64_t)end <= t->size ? MRMA_SUCCESS : MRMA_ERR_RMA_RANGE;
}

/* Does the target side lie in the window? Then *at says where. */
static inline int find_place(struct win *w, struct rma_target *t, const struct rma_op *op,
                             struct place *at)
{
    const uint64_t offset = (uint64_t)op->disp * t->disp_unit;
    const size_t len = op->tcount * op->ttype->size;
    *at = (struct place){(int64_t)offset, len};
    if (likely(op->ttype->contig && !((uint64_t)op->disp >> 31) && !(op->tcount >> 31) &&
               offset <= t->size && len <= t->size - offset))
        return MRMA_SUCCESS;
    return check_span(w, t, op);
}

static inline int check_sizes(size_t count, const struct dtype *type, const struct rma_op *op)
{
    size_t here, there;
    if (__builtin_mul_overflow(op->tcount, op->ttype->size, &there))
        return MRMA_ERR_COUNT;
    if (likely(count == op->tcount && type == op->ttype))
        return MRMA_SUCCESS;
    if (__builtin_mul_overflow(count, type->size, &here))
        return MRMA_ERR_COUNT;
    return likely(here == there) ? MRMA_SUCCESS : MRMA_ERR_COUNT;
}

/* The target may be accessed, and op, which has count of type on this side, is right. */
static inline int check_copy(struct win *w, struct rma_target *t, const struct rma_op *op,
                             size_t count, const struct dtype *type, struct place *at)
{
    int err = ready(w, t, op);
    if (likely(!err))
        err = check_sizes(count, type, op);
    return likely(!err) ? find_place(w, t, op, at) : err;
}

/* Operations on the target wait, and so does op, unless that has just ended. */
static __attribute__((noinline)) int operate_late(struct win *w, struct rma_target *t,
                                                  enum pkt_op_kind kind, const struct rma_op *op,
                                                  struct place at)
{
    int err;
    if (deferred_add(w, t, kind, op, at.offset, at.len, &err)) {
        if (unlikely(w->front != NULL))
            (void)traced_issue(w, t, kind, op, at.len);
        return err;
    }
    if (!err && w->dynamic && !region_allows(t, op)) /* find_place has not looked */
        err = MRMA_ERR_RMA_RANGE;
    return err ? err : target_path_ops(t)->operate(w, t, kind, op, at.offset, at.len);
}

/* Its path cannot take op before the target has begun its part of the epoch: from now on all
 * operations on it wait. What stands in front of the path has seen op. */
static __attribute__((noinline)) int operate_early(struct win *w, struct rma_target *t,
                                                   enum pkt_op_kind kind, const struct rma_op *op,
                                                   struct place at)
{
    int err = MRMA_SUCCESS;
    if (deferred_begin(w, t) && deferred_add(w, t, kind, op, at.offset, at.len, &err))
        return err;
    return err ? err : w->rma->paths[t->path]->operate(w, t, kind, op, at.offset, at.len);
}

/* op is right, and its target may be accessed, or it waits until that is so. */
static inline int operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                          const struct rma_op *op, struct place at)
{
    if (!at.len)
        return MRMA_SUCCESS;
    win_count(w, t->path, at.len);
    if (deferred_wait(t))
        return operate_late(w, t, kind, op, at);
    const int err = target_path_ops(t)->operate(w, t, kind, op, at.offset, at.len);
    return likely(err != MRMA_AGAIN) ? err : operate_early(w, t, kind, op, at);
}

/* May op wait in a stage? Not what load and store do at once. */
static inline bool may_stage(const struct win *w, const struct rma_target *t)
{
    return t->stage.out.bytes && !epoch_is_passive(&w->epoch) &&
           (t->path == PATH_ASSISTED || !target_ready(w, t));
}

int rma_put(struct win *w, const struct rma_op *op)
{
    struct rma_target *t;
    struct place at;
    int err = win_target(w, op->target, &t);
    if (unlikely(err))
        return err;
    if (may_stage(w, t) && stage_put(w, t, op)) {
        const size_t len = op->tcount * op->ttype->size;
        if (unlikely(w->front != NULL))
            (void)traced_issue(w, t, PKT_OP_PUT, op, len);
        win_count(w, t->path, len);
        return MRMA_SUCCESS;
    }
    err = check_copy(w, t, op, op->ocount, op->otype, &at);
    return unlikely(err) ? err : operate(w, t, PKT_OP_PUT, op, at);
}

int rma_get(struct win *w, const struct rma_op *op)
{
    struct rma_target *t;
    struct place at;
    int err = win_target(w, op->target, &t);
    if (likely(!err))
        err = check_copy(w, t, op, op->rcount, op->rtype, &at);
    return unlikely(err) ? err : operate(w, t, PKT_OP_GET, op, at);
}

/* Accumulates are on elements of one predefined type. */
static inline int check_acc(struct win *w, struct rma_target *t, const struct rma_op *op,
                            bool fetch, struct place *at)
{
    int err = ready(w, t, op);
    if (likely(!err) && op->op != ACC_NO_OP)
        err = check_sizes(op->ocount, op->otype, op);
    if (likely(!err) && fetch)
        err = check_sizes(op->rcount, op->rtype, op);
    if (unlikely(err))
        return err;
    return likely(op->ttype->basic != ACC_NONE) ? find_place(w, t, op, at) : MRMA_ERR_TYPE;
}

static inline int accumulate(struct win *w, const struct rma_op *op, bool fetch)
{
    struct rma_target *t;
    struct place at;
    int err = win_target(w, op->target, &t);
    if (likely(!err))
        err = check_acc(w, t, op, fetch, &at);
    return unlikely(err) ? err : operate(w, t, fetch ? PKT_OP_GET_ACC : PKT_OP_ACC, op, at);
}

int rma_accumulate(struct win *w, const struct rma_op *op)
{
    return accumulate(w, op, false);
}

int rma_get_accumulate(struct win *w, const struct rma_op *op)
{
    return accumulate(w, op, true);
}

int rma_compare_and_swap(struct win *w, const struct rma_op *op)
{
    struct rma_target *t;
    struct place at;
    int err = win_target(w, op->target, &t);
    if (likely(!err))
        err = ready(w, t, op);
    if (likely(!err))
        err = find_place(w, t, op, &at);
    return unlikely(err) ? err : operate(w, t, PKT_OP_CAS, op, at);
}
