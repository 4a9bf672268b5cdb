/*
 * direct.c - see direct.h.
 *
 * Accumulates hold the stripe of every element they change: one mechanism for
 * single elements, long vectors, the kernel-assisted path and packets, so that
 * all are atomic against all; callers have called acc_lock_mode, which excludes
 * those that need no stripe (acc_atomic.h). An uncontended stripe costs two atomics.
 */
#include "rma/direct.h"

enum { BOUNCE = 16384 };

void direct_put(char *target, const struct rma_op *op)
{
    struct dtype_cursor dst, src;
    dtype_cursor_init(&dst, op->ttype, op->tcount, DTYPE_BYTES);
    dtype_cursor_init(&src, op->otype, op->ocount, DTYPE_BYTES);
    dtype_copy(&dst, target, &src, op->oaddr);
}

void direct_get(const char *target, const struct rma_op *op)
{
    struct dtype_cursor dst, src;
    dtype_cursor_init(&dst, op->rtype, op->rcount, DTYPE_BYTES);
    dtype_cursor_init(&src, op->ttype, op->tcount, DTYPE_BYTES);
    dtype_copy(&dst, op->raddr, &src, target);
}

void direct_acc_piece(struct fmutex *stripes, uint64_t vaddr, char *target, enum acc_op op,
                      enum acc_type type, const void *origin, void *old, size_t len)
{
    const size_t unit = acc_extent(type);
    const char *from = origin;
    char *to_old = old;
    while (len) {
        const size_t n = stripe_run(vaddr, len, unit);
        struct fmutex *mx = &stripes[stripe_index(vaddr)];
        fmutex_lock(mx);
        if (to_old)
            memcpy(to_old, target, n);
        if (op != ACC_NO_OP)
            acc_apply(op, type, target, from, n / unit);
        fmutex_unlock(mx);
        vaddr += n;
        target += n;
        len -= n;
        if (from)
            from += n;
        if (to_old)
            to_old += n;
    }
}

void direct_cas(struct fmutex *stripes, uint64_t vaddr, char *target, const void *compare, const void *value,
                void *old, size_t unit)
{
    struct fmutex *mx = &stripes[stripe_index(vaddr)];
    fmutex_lock(mx);
    memcpy(old, target, unit);
    if (memcmp(old, compare, unit) == 0)
        memcpy(target, value, unit);
    fmutex_unlock(mx);
}

void direct_acc(struct fmutex *stripes, uint64_t vaddr, char *target, const struct rma_op *op, bool fetch)
{
    const enum acc_type type = op->ttype->basic;
    const size_t unit = acc_extent(type);
    const bool data = op->op != ACC_NO_OP;
    const bool packed_origin = !data || op->otype->contig, packed_result = !fetch || op->rtype->contig;
    struct dtype_cursor dst, src, res;
    const char *origin = op->oaddr;
    char *result = fetch ? op->raddr : NULL;
    alignas(16) char in[BOUNCE], out[BOUNCE];
    dtype_cursor_init(&dst, op->ttype, op->tcount, DTYPE_ELEMENTS);
    if (!packed_origin)
        dtype_cursor_init(&src, op->otype, op->ocount, DTYPE_ELEMENTS);
    if (!packed_result)
        dtype_cursor_init(&res, op->rtype, op->rcount, DTYPE_ELEMENTS);
    const size_t max = packed_origin && packed_result ? SIZE_MAX / unit * unit : BOUNCE / unit * unit;
    ptrdiff_t disp;
    size_t n;
    while ((n = dtype_cursor_next(&dst, max, &disp)) != 0) {
        if (!packed_origin)
            dtype_pack(&src, op->oaddr, in, n);
        direct_acc_piece(stripes, vaddr + (uint64_t)disp, target + disp, op->op, type,
                         !data ? NULL : packed_origin ? origin : in,
                         !fetch ? NULL : packed_result ? result : out, n);
        if (!packed_result)
            dtype_unpack(&res, op->raddr, out, n);
        origin += data && packed_origin ? n : 0;
        result += fetch && packed_result ? n : 0;
    }
}
