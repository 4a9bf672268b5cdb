/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_local.c - see copy_local.h.
 *
 * Accumulates hold the stripe of every element they change: one mechanism for single elements, long
 * vectors, the kernel-assisted path and packets, so that all are atomic against all; callers have
 * called acc_lock_mode, which excludes those that need no stripe (acc_atomic.h). A stripe costs two
 * atomic operations even without contention, so it is kept while consecutive elements need the same
 * one (at most the elements of one granule).
 */
#include "rma/path/copy_local.h"

#include "base/err.h"
#include "acc/acc.h"

/* How many bytes are packed at once, in memory on the stack: a thread may have little stack, and
 * any number of threads may be here. */
enum { BOUNCE = 1024 };

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

/* What an accumulate does to each piece, and the stripe it holds meanwhile. */
struct acc_walk {
    struct acc_at at;
    struct stripe_hold hold;
    enum acc_op op;
    enum acc_type type;
    size_t unit;
};

/* acc_piece accumulates on one piece. origin and old are packed data, or NULL. */
static void acc_piece(struct acc_walk *w, ptrdiff_t disp, const char *origin, char *old, size_t len)
{
    uint64_t vaddr = w->at.vaddr + (uint64_t)disp;
    char *target = w->at.here + disp;
    while (len) {
        const size_t n = stripe_run(vaddr, len, w->unit);
        stripe_hold_take(&w->hold, w->at.stripes, stripe_index(vaddr));
        if (old)
            acc_fetch(w->op, w->type, target, origin, old, acc_count(n, w->unit));
        else if (origin)
            acc_apply(w->op, w->type, target, origin, acc_count(n, w->unit));
        vaddr += n;
        target += n;
        len -= n;
        if (origin)
            origin += n;
        if (old)
            old += n;
    }
}

/* acc_elements accumulates on pieces of one element each, as many at a time as start in one
 * granule. */
static void acc_elements(struct acc_walk *w, const struct dtype_stretch *s, const char *origin,
                         char *old)
{
    ptrdiff_t disp = s->disp;
    for (size_t left = s->n, n; left; left -= n) {
        const uint64_t vaddr = w->at.vaddr + (uint64_t)disp;
        n = stripe_count(vaddr, s->stride, left);
        stripe_hold_take(&w->hold, w->at.stripes, stripe_index(vaddr));
        if (old) {
            dtype_copy_pieces(old, (ptrdiff_t)w->unit, w->at.here + disp, s->stride,
                              w->unit - acc_pad(w->type), n);
            old += n * w->unit;
        }
        if (origin) {
            acc_apply_strided(w->op, w->type, w->at.here + disp, s->stride, origin, n);
            origin += n * w->unit;
        }
        disp += (ptrdiff_t)n * s->stride;
    }
}

static void acc_stretch(struct acc_walk *w, const struct dtype_stretch *s, const char *origin,
                        char *old)
{
    if (s->len == w->unit) {
        acc_elements(w, s, origin, old);
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        acc_piece(w, s->disp + (ptrdiff_t)i * s->stride, origin ? origin + i * s->len : NULL,
                  old ? old + i * s->len : NULL, s->len);
}

void direct_acc_piece(struct acc_at at, struct acc_what what, const void *origin, void *old,
                      size_t len)
{
    struct stripe_hold hold = {NULL};
    direct_acc_held(&hold, at, what, origin, old, len);
    stripe_hold_drop(&hold);
}

void direct_acc_held(struct stripe_hold *hold, struct acc_at at, struct acc_what what,
                     const void *origin, void *old, size_t len)
{
    const size_t unit = acc_extent(what.type);
    if (likely(len == unit)) {
        stripe_hold_take(hold, at.stripes, stripe_index(at.vaddr));
        if (old)
            copy_whole(old, at.here, len - acc_pad(what.type));
        if (what.op != ACC_NO_OP)
            acc_kernels[what.op][what.type].one(at.here, origin);
        return;
    }
    struct acc_walk w = {.at = at, .hold = *hold, .op = what.op, .type = what.type, .unit = unit};
    acc_piece(&w, 0, what.op == ACC_NO_OP ? NULL : origin, old, len);
    *hold = w.hold;
}

void direct_acc_walk_held(struct stripe_hold *hold, struct acc_at at, struct dtype_cursor *cur,
                          struct acc_what what, const char *origin, char *old, size_t len)
{
    struct acc_walk w = {
        .at = at, .hold = *hold, .op = what.op, .type = what.type, .unit = acc_extent(what.type)};
    struct dtype_stretch ahead;
    for (size_t done = 0, n; done < len && (n = dtype_cursor_take(cur, len - done, &ahead)) != 0;
         done += n)
        acc_stretch(&w, &ahead, what.op == ACC_NO_OP ? NULL : origin + done,
                    old ? old + done : NULL);
    *hold = w.hold;
}

void direct_cas(struct acc_at at, const void *compare, const void *value, void *old, size_t unit)
{
    struct fmutex *mx = &at.stripes.at[stripe_index(at.vaddr)];
    fmutex_lock(mx, at.stripes.self);
    memcpy(old, at.here, unit);
    if (memcmp(old, compare, unit) == 0)
        memcpy(at.here, value, unit);
    fmutex_unlock(mx);
}

void direct_acc(struct acc_at at, const struct rma_op *op, bool fetch)
{
    const enum acc_type type = op->ttype->basic;
    const size_t unit = acc_extent(type);
    struct acc_walk w = {.at = at, .op = op->op, .type = type, .unit = unit};
    const bool data = op->op != ACC_NO_OP;
    const bool packed_origin = !data || op->otype->contig,
               packed_result = !fetch || op->rtype->contig;
    struct dtype_cursor dst, src, res;
    const char *origin = op->oaddr;
    char *result = fetch ? op->raddr : NULL;
    alignas(16) char in[BOUNCE], out[BOUNCE];
    dtype_cursor_init(&dst, op->ttype, op->tcount, DTYPE_ELEMENTS);
    if (!packed_origin)
        dtype_cursor_init(&src, op->otype, op->ocount, DTYPE_ELEMENTS);
    if (!packed_result)
        dtype_cursor_init(&res, op->rtype, op->rcount, DTYPE_ELEMENTS);
    const size_t max =
        packed_origin && packed_result ? SIZE_MAX / unit * unit : BOUNCE / unit * unit;
    struct dtype_stretch ahead;
    size_t n;
    while ((n = dtype_cursor_take(&dst, max, &ahead)) != 0) {
        if (!packed_origin) {
            stripe_hold_drop(&w.hold);
            dtype_pack(&src, op->oaddr, in, n);
        }
        acc_stretch(&w, &ahead,
                    !data           ? NULL
                    : packed_origin ? origin
                                    : in,
                    !fetch          ? NULL
                    : packed_result ? result
                                    : out);
        if (!packed_result) {
            stripe_hold_drop(&w.hold);
            dtype_unpack(&res, op->raddr, out, n);
        }
        origin += data && packed_origin ? n : 0;
        result += fetch && packed_result ? n : 0;
    }
    stripe_hold_drop(&w.hold);
}
