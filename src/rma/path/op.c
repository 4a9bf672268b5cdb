/*
 * op.c - put, get and accumulates from the call to the path (MPI 4.1, 12.3).
 *
 * Each operation: may the target be accessed (one comparison, or epoch_access);
 * do the two sides' sizes agree; does the target side lie in the window; then to
 * the path that the window's creation chose for this target. Contiguous operations
 * on mapped memory do all that in their first lines; everything else is out of line.
 * An accumulate or compare-and-swap on mapped memory tries the processor's atomic
 * instructions first; before any stripe is used, acc_lock_mode (acc_atomic.h).
 */
#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/assisted.h"
#include "rma/path/cma.h"
#include "rma/path/direct.h"
#include "rma/progress/progress.h"
#include "rma/strict/strict.h"
#include "rma/path/access.h"
#include "rma/path/stage.h"
#include "rma/win/region.h"
#include "rma/win/win.h"

/* R-operations are for passive target epochs only (MPI 4.1, 12.3.5). */
static inline int ready(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    if (unlikely(op->req && epoch_now(&w->epoch) != EPOCH_LOCK &&
                 epoch_now(&w->epoch) != EPOCH_LOCK_ALL))
        return MRMA_ERR_RMA_SYNC;
    return likely(target_ready(w, t)) ? MRMA_SUCCESS : epoch_access(w, t);
}

/* All attached? Pieces one by one if the whole span is not. */
static bool attached(struct win *w, struct rma_target *t, const struct rma_op *op, int64_t lo,
                     int64_t hi)
{
    if (!t->direct) /* the target itself checks */
        return true;
    if (region_covers(w, t, (uint64_t)(op->disp + lo), (uint64_t)(hi - lo)))
        return true;
    struct dtype_cursor cur;
    ptrdiff_t disp;
    size_t n;
    dtype_cursor_init(&cur, op->ttype, op->tcount, DTYPE_BYTES);
    while ((n = dtype_cursor_next(&cur, SIZE_MAX, &disp)) != 0)
        if (!region_covers(w, t, (uint64_t)(op->disp + disp), n))
            return false;
    return true;
}

static int check_range(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    ptrdiff_t lo, hi;
    int64_t offset, first, end;
    if (op->tcount == 0 || op->ttype->size == 0)
        return MRMA_SUCCESS;
    if (!dtype_span(op->ttype, op->tcount, &lo, &hi))
        return MRMA_ERR_RMA_RANGE;
    if (w->dynamic)
        return attached(w, t, op, lo, hi) ? MRMA_SUCCESS : MRMA_ERR_RMA_RANGE;
    if (__builtin_mul_overflow(op->disp, (int64_t)t->disp_unit, &offset) ||
        __builtin_add_overflow(offset, lo, &first) || __builtin_add_overflow(offset, hi, &end))
        return MRMA_ERR_RMA_RANGE;
    return first >= 0 && (uint64_t)end <= t->size ? MRMA_SUCCESS : MRMA_ERR_RMA_RANGE;
}

static int check_sizes(size_t count, const struct dtype *type, const struct rma_op *op)
{
    size_t here, there;
    if (__builtin_mul_overflow(count, type->size, &here) ||
        __builtin_mul_overflow(op->tcount, op->ttype->size, &there))
        return MRMA_ERR_COUNT;
    return here == there ? MRMA_SUCCESS : MRMA_ERR_COUNT;
}

static int64_t byte_offset(const struct win *w, const struct rma_target *t, const struct rma_op *op)
{
    return w->dynamic ? op->disp : op->disp * (int64_t)t->disp_unit;
}

static char *mapped_addr(const struct win *w, const struct rma_target *t, int64_t offset)
{
    return w->dynamic ? (char *)(uintptr_t)offset : t->base + offset;
}

static uint64_t owner_addr(const struct win *w, const struct rma_target *t, int64_t offset)
{
    return (w->dynamic ? 0 : t->vaddr) + (uint64_t)offset;
}

static struct acc_at mapped_at(const struct win *w, const struct rma_target *t, int64_t offset)
{
    return (struct acc_at){t->peer->stripes, owner_addr(w, t, offset), mapped_addr(w, t, offset)};
}

static int check_acc(struct win *w, struct rma_target *t, const struct rma_op *op, bool fetch);

/* Errors of the arguments come first, so that only what can be performed is remembered. */
static __attribute__((noinline)) int check_strict(struct win *w, struct rma_target *t,
                                                  const struct rma_op *op, enum strict_kind kind)
{
    int err = kind == STRICT_PUT   ? check_sizes(op->ocount, op->otype, op)
              : kind == STRICT_GET ? check_sizes(op->rcount, op->rtype, op)
                                   : check_acc(w, t, op, op->rtype != NULL);
    if (!err && kind != STRICT_ACC)
        err = check_range(w, t, op);
    if (err)
        return err;
    return strict_op(w, t, kind, op, op->tcount && op->ttype->size ? byte_offset(w, t, op) : 0);
}

/* Small puts of fence and PSCW epochs wait in a stage for the target, which costs less than a
 * system call. */
static int put_assisted(struct win *w, struct rma_target *t, const struct rma_op *op,
                        int64_t offset, size_t len)
{
    win_count(w, PATH_CMA, len);
    return assisted_put(w, t, op, owner_addr(w, t, offset), len);
}

static __attribute__((noinline)) int put_general(struct win *w, struct rma_target *t,
                                                 const struct rma_op *op)
{
    int err = check_sizes(op->ocount, op->otype, op);
    if (!err)
        err = check_range(w, t, op);
    const size_t len = op->tcount * op->ttype->size;
    if (err || !len)
        return err;
    const int64_t offset = byte_offset(w, t, op);
    switch (t->path) {
    case PATH_MAPPED:
        win_count(w, PATH_MAPPED, len);
        direct_put(mapped_addr(w, t, offset), op);
        win_set_dirty(w);
        return MRMA_SUCCESS;
    case PATH_CMA:
        return put_assisted(w, t, op, offset, len);
    default:
        win_count(w, PATH_PACKETS, len);
        return issue_op(w, t, PKT_OP_PUT, op);
    }
}

/* Contiguous on both sides, inside the window, sizes agree? Then where in the window, and *len;
 * everything else (-1) goes the general way, which also finds the errors. */
static inline int64_t plain_offset(const struct rma_target *t, const struct rma_op *op,
                                   size_t count, const struct dtype *type, size_t *len)
{
    const size_t n = count * type->size;
    const uint64_t offset = (uint64_t)op->disp * t->disp_unit;
    if (unlikely(!type->contig || !op->ttype->contig || n != op->tcount * op->ttype->size ||
                 (count | op->tcount) >> 31 || (uint64_t)op->disp >> 31 || offset > t->size ||
                 n > t->size - offset))
        return -1;
    *len = n;
    return (int64_t)offset;
}

int rma_put(struct win *w, const struct rma_op *op)
{
    struct rma_target *t;
    int err = win_target(w, op->target, &t);
    if (unlikely(err))
        return err;
    size_t len;
    if (unlikely(!target_ready(w, t) || op->req || t->path == PATH_CMA)) {
        if (stage_put(w, t, op))
            return MRMA_SUCCESS;
        err = ready(w, t, op);
    }
    if (unlikely(err))
        return err;
    if (unlikely(w->strict) && (err = check_strict(w, t, op, STRICT_PUT)) != MRMA_SUCCESS)
        return err;
    RMA_TRACE(w->rma, RMA_EV_PUT, w, op->target, op->tcount * op->ttype->size);
    const int64_t offset = plain_offset(t, op, op->ocount, op->otype, &len);
    if (unlikely(offset < 0 || (!t->base && t->path != PATH_CMA) || !len))
        return put_general(w, t, op);
    if (t->path == PATH_CMA)
        return put_assisted(w, t, op, offset, len);
    win_count(w, PATH_MAPPED, len);
    copy_whole(t->base + offset, op->oaddr, len);
    win_set_dirty(w);
    return MRMA_SUCCESS;
}

static int get_assisted(struct win *w, struct rma_target *t, const struct rma_op *op,
                        int64_t offset, size_t len)
{
    win_count(w, PATH_CMA, len);
    return assisted_get(w, t, op, owner_addr(w, t, offset), len);
}

static __attribute__((noinline)) int get_general(struct win *w, struct rma_target *t,
                                                 const struct rma_op *op)
{
    int err = check_sizes(op->rcount, op->rtype, op);
    if (!err)
        err = check_range(w, t, op);
    const size_t len = op->tcount * op->ttype->size;
    if (err || !len)
        return err;
    const int64_t offset = byte_offset(w, t, op);
    switch (t->path) {
    case PATH_MAPPED:
        win_count(w, PATH_MAPPED, len);
        direct_get(mapped_addr(w, t, offset), op);
        return MRMA_SUCCESS;
    case PATH_CMA:
        return get_assisted(w, t, op, offset, len);
    default:
        win_count(w, PATH_PACKETS, len);
        return issue_op(w, t, PKT_OP_GET, op);
    }
}

int rma_get(struct win *w, const struct rma_op *op)
{
    struct rma_target *t;
    int err = win_target(w, op->target, &t);
    if (unlikely(err))
        return err;
    err = ready(w, t, op);
    size_t len;
    if (unlikely(err))
        return err;
    if (unlikely(w->strict) && (err = check_strict(w, t, op, STRICT_GET)) != MRMA_SUCCESS)
        return err;
    RMA_TRACE(w->rma, RMA_EV_GET, w, op->target, op->tcount * op->ttype->size);
    const int64_t offset = plain_offset(t, op, op->rcount, op->rtype, &len);
    if (unlikely(offset < 0 || (!t->base && t->path != PATH_CMA) || !len))
        return get_general(w, t, op);
    if (t->path == PATH_CMA)
        return get_assisted(w, t, op, offset, len);
    win_count(w, PATH_MAPPED, len);
    copy_whole(op->raddr, t->base + offset, len);
    return MRMA_SUCCESS;
}

/* Accumulates check sizes by elements of the one predefined type. */
static int check_acc(struct win *w, struct rma_target *t, const struct rma_op *op, bool fetch)
{
    int err = op->op == ACC_NO_OP ? MRMA_SUCCESS : check_sizes(op->ocount, op->otype, op);
    if (!err && fetch)
        err = check_sizes(op->rcount, op->rtype, op);
    if (!err && op->ttype->basic == ACC_NONE)
        err = MRMA_ERR_TYPE;
    return err ? err : check_range(w, t, op);
}

static int acc_assisted(struct win *w, struct rma_target *t, const struct rma_op *op, bool fetch,
                        int64_t offset, size_t len)
{
    const int err = acc_lock_mode(w, t->ctl);
    if (unlikely(err))
        return err;
    win_count(w, PATH_CMA, len);
    return assisted_accumulate(w, t, op, fetch, owner_addr(w, t, offset), len);
}

static __attribute__((noinline)) int accumulate_general(struct win *w, struct rma_target *t,
                                                        const struct rma_op *op, bool fetch)
{
    int err = check_acc(w, t, op, fetch);
    const size_t len = op->tcount * op->ttype->size;
    if (unlikely(err) || !len)
        return err;
    const int64_t offset = byte_offset(w, t, op);
    if (t->path == PATH_CMA)
        return acc_assisted(w, t, op, fetch, offset, len);
    win_count(w, t->path, len);
    if (t->direct && (err = acc_lock_mode(w, t->ctl)) != MRMA_SUCCESS)
        return err;
    if (t->path != PATH_MAPPED)
        return issue_op(w, t, fetch ? PKT_OP_GET_ACC : PKT_OP_ACC, op);
    direct_acc(mapped_at(w, t, offset), op, fetch);
    return MRMA_SUCCESS;
}

/* Contiguous elements, inside the window, the same number of bytes on all sides? Then as
 * plain_offset. */
static inline int64_t plain_acc(const struct rma_target *t, const struct rma_op *op, bool fetch,
                                size_t *len)
{
    if (op->ttype->basic == ACC_NONE || (op->op != ACC_NO_OP && !op->otype->contig) ||
        (fetch && !op->rtype->contig))
        return -1;
    const int64_t offset = plain_offset(t, op, op->tcount, op->ttype, len);
    if (unlikely(offset < 0 || !*len))
        return -1;
    const bool agree =
        (op->op == ACC_NO_OP || (op->ocount <= *len && op->ocount * op->otype->size == *len)) &&
        (!fetch || (op->rcount <= *len && op->rcount * op->rtype->size == *len));
    return agree ? offset : -1;
}

static inline int accumulate(struct win *w, const struct rma_op *op, bool fetch)
{
    struct rma_target *t;
    int err = win_target(w, op->target, &t);
    if (unlikely(err))
        return err;
    err = ready(w, t, op);
    size_t len;
    if (unlikely(err))
        return err;
    if (unlikely(w->strict) && (err = check_strict(w, t, op, STRICT_ACC)) != MRMA_SUCCESS)
        return err;
    RMA_TRACE(w->rma, fetch ? RMA_EV_GET_ACC : RMA_EV_ACC, w, op->target,
              op->tcount * op->ttype->size);
    const int64_t offset = plain_acc(t, op, fetch, &len);
    if (unlikely(offset < 0 || (!t->base && t->path != PATH_CMA)))
        return accumulate_general(w, t, op, fetch);
    if (t->path == PATH_CMA)
        return acc_assisted(w, t, op, fetch, offset, len);
    char *at = t->base + offset;
    win_count(w, PATH_MAPPED, len);
    if (likely(acc_atomic(w, t->ctl, at, op, fetch, len)))
        return MRMA_SUCCESS;
    err = acc_lock_mode(w, t->ctl);
    if (err)
        return err;
    direct_acc_piece((struct acc_at){t->peer->stripes, t->vaddr + (uint64_t)offset, at},
                     (struct acc_what){op->op, op->ttype->basic},
                     op->op == ACC_NO_OP ? NULL : op->oaddr, fetch ? op->raddr : NULL, len);
    return MRMA_SUCCESS;
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
    int err = win_target(w, op->target, &t);
    if (unlikely(err))
        return err;
    err = ready(w, t, op);
    size_t len;
    if (!err && unlikely(plain_offset(t, op, op->tcount, op->ttype, &len) < 0))
        err = check_range(w, t, op);
    if (unlikely(err))
        return err;
    if (unlikely(w->strict) &&
        (err = strict_op(w, t, STRICT_ACC, op, byte_offset(w, t, op))) != MRMA_SUCCESS)
        return err;
    const size_t unit = acc_extent(op->ttype->basic);
    RMA_TRACE(w->rma, RMA_EV_CAS, w, op->target, unit);
    const int64_t offset = byte_offset(w, t, op);
    const uint64_t vaddr = owner_addr(w, t, offset);
    win_count(w, t->path, unit);
    if (t->path == PATH_MAPPED && likely(acc_atomic_cas(w, t->ctl, mapped_addr(w, t, offset), op)))
        return MRMA_SUCCESS;
    if (t->direct && (err = acc_lock_mode(w, t->ctl)) != MRMA_SUCCESS)
        return err;
    switch (t->path) {
    case PATH_MAPPED:
        direct_cas(mapped_at(w, t, offset), op->caddr, op->oaddr, op->raddr, unit);
        return MRMA_SUCCESS;
    case PATH_CMA:
        return assisted_compare_and_swap(w, t, op, vaddr, unit);
    default:
        return issue_op(w, t, PKT_OP_CAS, op);
    }
}
