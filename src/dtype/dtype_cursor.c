/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_cursor.c - walking over the pieces of a flattened datatype, and copying.
 *
 * A cursor stands on a byte of a piece: count instances are left, this one lies
 * at origin, and in it the cursor is off bytes into piece rep of run number run.
 * When every instance is a single piece and the instances touch, the whole
 * buffer is one piece: count and origin then stay as they were at the start, and
 * off counts through all of it.
 *
 * For a compact list the cursor holds the present run, and for the lists around it only by how much
 * they move the run: where a list in a list ends, the next run is looked up anew, from the
 * outermost list and the number of bytes gone by.
 *
 * Everything is built on two steps: peek shows the equal, evenly spaced pieces ahead without
 * moving, and advance moves over some of them. So strided copies are tight loops over a whole run.
 *
 * No locks: a cursor belongs to one thread, and datatypes do not change. Neighbours:
 * dtype_compact.c, which reads compact lists; acc.c, which copies elements with padding.
 */
#include "dtype/dtype.h"

#include <string.h>

#include "base/atomic.h"
#include "acc/acc.h"
#include "dtype/dtype_compact.h"

/* ---- compact lists ---- */

/* enter places the cursor on byte pos of list, which lies at cur->base in the instance. */
static void enter(struct dtype_cursor *cur, const struct dtype_compact *list, size_t pos)
{
    for (;;) {
        size_t before;

        cur->list = list;
        cur->code = dtype_compact_find(list, pos, &cur->now, &before);
        pos -= before;
        cur->rep = pos / cur->now.run.len;
        pos %= cur->now.run.len;
        if (!cur->now.list)
            break;
        const ptrdiff_t shift = cur->now.run.disp + (ptrdiff_t)cur->rep * cur->now.run.stride;
        cur->origin += shift;
        cur->base += shift;
        list = cur->now.list;
    }
    cur->off = pos;
}

/* enter_root does the same from the outermost list on. */
static void enter_root(struct dtype_cursor *cur, size_t pos)
{
    cur->origin -= cur->base;
    cur->base = 0;
    enter(cur, cur->root, pos);
}

/* next_item moves to the run behind the present one. */
static void next_item(struct dtype_cursor *cur)
{
    cur->pos += cur->now.run.len * cur->now.run.n;
    cur->rep = 0;
    if (cur->code < cur->list->code + cur->list->len) {
        cur->code = dtype_compact_read(cur->code, &cur->now);
        if (cur->now.list) {
            cur->origin += cur->now.run.disp;
            cur->base += cur->now.run.disp;
            enter(cur, cur->now.list, 0);
        }
        return;
    }
    if (cur->pos == cur->root->size) {
        cur->pos = 0;
        cur->origin += cur->type->extent;
        if (--cur->count == 0)
            return;
    }
    enter_root(cur, cur->pos);
}

/* ---- both kinds ---- */

void dtype_cursor_init(struct dtype_cursor *cur, const struct dtype *type, size_t count,
                       enum dtype_view view)
{
    cur->type = type;
    cur->runs = view == DTYPE_BYTES ? type->runs : type->eruns;
    cur->nruns = view == DTYPE_BYTES ? type->nruns : type->neruns;
    cur->root = view == DTYPE_BYTES ? type->list : type->elist;
    cur->count = count;
    cur->origin = 0;
    cur->run = cur->rep = cur->off = 0;
    if (unlikely(cur->root != NULL)) {
        cur->base = 0;
        cur->pos = 0;
        enter(cur, cur->root, 0);
    } else if (cur->nruns == 0) {
        cur->count = 0;
    }
}

static const struct dtype_run *present(const struct dtype_cursor *cur)
{
    return likely(!cur->root) ? &cur->runs[cur->run] : &cur->now.run;
}

static bool one_piece_each(const struct dtype_cursor *cur)
{
    return cur->nruns == 1 && cur->runs->n == 1;
}

static bool instances_touch(const struct dtype_cursor *cur)
{
    return (ptrdiff_t)cur->runs->len == cur->type->extent;
}

/* peek returns the pieces that lie ahead; false at the end. The rest of a piece that was begun
 * comes alone. */
static bool peek(const struct dtype_cursor *cur, struct dtype_stretch *ahead)
{
    const struct dtype_run *r = present(cur);

    if (cur->count == 0)
        return false;
    ahead->disp = cur->origin + r->disp + (ptrdiff_t)cur->rep * r->stride + (ptrdiff_t)cur->off;
    if (one_piece_each(cur)) {
        ahead->stride = cur->type->extent;
        if (instances_touch(cur)) {
            ahead->len = cur->count * r->len - cur->off;
            ahead->n = 1;
            return true;
        }
        ahead->n = cur->count;
    } else {
        ahead->stride = r->stride;
        ahead->n = r->n - cur->rep;
    }
    ahead->len = r->len - cur->off;
    if (cur->off)
        ahead->n = 1;
    return true;
}

static void next_pieces(struct dtype_cursor *cur, size_t pieces)
{
    if (one_piece_each(cur)) {
        cur->count -= pieces;
        cur->origin += (ptrdiff_t)pieces * cur->type->extent;
        return;
    }
    cur->rep += pieces;
    if (cur->rep < present(cur)->n)
        return;
    if (unlikely(cur->root != NULL)) {
        next_item(cur);
        return;
    }
    cur->rep = 0;
    if (++cur->run < cur->nruns)
        return;
    cur->run = 0;
    cur->count--;
    cur->origin += cur->type->extent;
}

/* advance moves over bytes that peek has shown. */
static void advance(struct dtype_cursor *cur, size_t bytes)
{
    size_t len = present(cur)->len;

    cur->off += bytes;
    if (cur->off < len)
        return;
    if (one_piece_each(cur) && instances_touch(cur)) {
        if (cur->off == cur->count * len)
            cur->count = 0;
        return;
    }
    size_t pieces = cur->off == len ? 1 : cur->off / len;
    cur->off = 0;
    next_pieces(cur, pieces);
}

void dtype_cursor_seek(struct dtype_cursor *cur, size_t pos)
{
    if (!(one_piece_each(cur) && instances_touch(cur))) {
        const size_t instances = pos / cur->type->size;
        cur->count -= instances;
        cur->origin += (ptrdiff_t)instances * cur->type->extent;
        pos %= cur->type->size;
        if (cur->root) {
            enter_root(cur, pos);
            cur->pos = pos - cur->rep * cur->now.run.len - cur->off;
            return;
        }
        for (; pos >= cur->runs[cur->run].len * cur->runs[cur->run].n; cur->run++)
            pos -= cur->runs[cur->run].len * cur->runs[cur->run].n;
        cur->rep = pos / cur->runs[cur->run].len;
        pos %= cur->runs[cur->run].len;
    }
    cur->off = pos;
}

size_t dtype_cursor_take(struct dtype_cursor *cur, size_t max, struct dtype_stretch *ahead)
{
    if (!peek(cur, ahead))
        return 0;
    if (ahead->len >= max) {
        ahead->len = max;
        ahead->n = 1;
    } else if (ahead->n > 1 && ahead->n > max / ahead->len) {
        ahead->n = max / ahead->len;
    }
    advance(cur, ahead->len * ahead->n);
    return ahead->len * ahead->n;
}

size_t dtype_cursor_next(struct dtype_cursor *cur, size_t max, ptrdiff_t *disp)
{
    struct dtype_stretch ahead;

    if (!peek(cur, &ahead))
        return 0;
    size_t len = ahead.len < max ? ahead.len : max;
    *disp = ahead.disp;
    advance(cur, len);
    return len;
}

/* base may be MPI_BOTTOM and disp an absolute address, so this is address
 * arithmetic and not pointer arithmetic within an object. */
static char *at(const void *base, ptrdiff_t disp)
{
    return (char *)((uintptr_t)base + (uintptr_t)disp);
}

#define COPY_LOOP(LEN)               \
    for (; n; n--, d += ds, s += ss) \
    memcpy(d, s, LEN)

void dtype_copy_pieces(char *d, ptrdiff_t ds, const char *s, ptrdiff_t ss, size_t len, size_t n)
{
    if (n == 1) {
        memcpy(d, s, len);
        return;
    }
    switch (len) {
    case 1:
        COPY_LOOP(1);
        break;
    case 2:
        COPY_LOOP(2);
        break;
    case 4:
        COPY_LOOP(4);
        break;
    case 8:
        COPY_LOOP(8);
        break;
    case 12:
        COPY_LOOP(12);
        break;
    case 16:
        COPY_LOOP(16);
        break;
    case 24:
        COPY_LOOP(24);
        break;
    case 32:
        COPY_LOOP(32);
        break;
    default:
        COPY_LOOP(len);
    }
}

/* copy_elements copies n pieces of len bytes each, whose elements have padding. Padding is not
 * copied: it is not the application's data, and there may be no memory behind the last element. */
static void copy_elements(uint8_t basic, char *d, ptrdiff_t ds, const char *s, ptrdiff_t ss,
                          size_t len, size_t n)
{
    for (; n; n--, d += ds, s += ss)
        acc_apply(ACC_REPLACE, basic, d, s, acc_count(len, acc_extent(basic)));
}

/* transfer copies between cur's pieces and len bytes at packed, in either direction. */
static void transfer(struct dtype_cursor *cur, char *base, char *packed, size_t len, bool pack)
{
    const bool padded = (cur->runs != cur->type->runs || cur->root != cur->type->list) &&
                        cur->type->basic != ACC_NONE;
    struct dtype_stretch ahead;

    while (len && peek(cur, &ahead)) {
        size_t piece = ahead.len < len ? ahead.len : len;
        size_t fit = len / piece, n = ahead.n < fit ? ahead.n : fit;
        char *user = at(base, ahead.disp);

        if (unlikely(padded) && pack)
            copy_elements(cur->type->basic, packed, (ptrdiff_t)piece, user, ahead.stride, piece, n);
        else if (unlikely(padded))
            copy_elements(cur->type->basic, user, ahead.stride, packed, (ptrdiff_t)piece, piece, n);
        else if (pack)
            dtype_copy_pieces(packed, (ptrdiff_t)piece, user, ahead.stride, piece, n);
        else
            dtype_copy_pieces(user, ahead.stride, packed, (ptrdiff_t)piece, piece, n);
        advance(cur, piece * n);
        packed += piece * n;
        len -= piece * n;
    }
}

void dtype_pack(struct dtype_cursor *cur, const void *base, void *packed, size_t len)
{
    transfer(cur, (char *)base, packed, len, true);
}

void dtype_unpack(struct dtype_cursor *cur, void *base, const void *packed, size_t len)
{
    transfer(cur, base, (char *)packed, len, false);
}

/* slice divides the first piece of a wide stretch into pieces as long as those of the narrow
 * one. */
static void slice(struct dtype_stretch *wide, const struct dtype_stretch *narrow)
{
    wide->n = wide->len / narrow->len;
    wide->len = narrow->len;
    wide->stride = (ptrdiff_t)narrow->len;
}

void dtype_copy(struct dtype_cursor *dst, void *dst_base, struct dtype_cursor *src,
                const void *src_base)
{
    struct dtype_stretch d, s;

    while (peek(dst, &d) && peek(src, &s)) {
        if (d.len > s.len)
            slice(&d, &s);
        else if (s.len > d.len)
            slice(&s, &d);
        size_t n = d.n < s.n ? d.n : s.n;

        dtype_copy_pieces(at(dst_base, d.disp), d.stride, at(src_base, s.disp), s.stride, d.len, n);
        advance(dst, d.len * n);
        advance(src, d.len * n);
    }
}
