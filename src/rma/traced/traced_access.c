/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_access.c - see traced_access.h.
 *
 * Addresses are those of the process that has the memory: addresses at a target are those by which
 * the target's own process knows the memory, so that overlapping windows are seen to overlap. Equal
 * pieces that are evenly spaced are one record, whatever the datatype was made of. Locks: none.
 */
#include "rma/traced/traced_access.h"

#include "acc/acc.h"
#include "dtype/dtype.h"
#include "rma/rma.h"
#include "rma/win/win.h"
#include "trace/record_parts.h"

enum {
    RECORDS_MAX = 64,       /* most records for one side of an operation, */
    STRETCHES_MAX = 1 << 16 /* and most stretches of its datatype that are looked at */
};

_Static_assert((unsigned)TRACE_ACC_SUM == ACC_SUM && (unsigned)TRACE_ACC_MINLOC == ACC_MINLOC &&
                   (unsigned)TRACE_ACC_NO_OP == ACC_NO_OP &&
                   (unsigned)TRACE_ACC_LAST == ACC_OP_LAST,
               "operations have the same numbers in a trace");
_Static_assert(ACC_OP_LAST <= 1 << (TRACE_ACC_TYPE_SHIFT - TRACE_ACC_OP_SHIFT) &&
                   ACC_TYPE_LAST <= 1 << (16 - TRACE_ACC_TYPE_SHIFT),
               "operations and types fit into their bits");

/* One side of an operation: count of type, whose displacements are from base. */
struct side {
    struct trace *tr;
    uint64_t time, base;
    const struct dtype *type;
    size_t count;
    unsigned what;
};

/* Adds next to *last if that makes one stretch of both. */
static bool joins(struct dtype_stretch *last, const struct dtype_stretch *next)
{
    const ptrdiff_t distance = next->disp - last->disp;

    if (next->len != last->len || (next->n > 1 && last->n > 1 && next->stride != last->stride))
        return false;
    const ptrdiff_t stride = last->n > 1 ? last->stride : next->n > 1 ? next->stride : distance;
    if (stride <= 0 || distance != stride * (ptrdiff_t)last->n)
        return false;
    last->stride = stride;
    last->n += next->n;
    return true;
}

/* stretches finds the stretches of a side, with neighbours joined, and returns how many there are;
 * more than RECORDS_MAX means too many.
 */
static int stretches(const struct side *side, struct dtype_stretch *found)
{
    struct dtype_cursor cursor;
    struct dtype_stretch next;
    int n = 0;

    dtype_cursor_init(&cursor, side->type, side->count, DTYPE_BYTES);
    for (int looked = 0; dtype_cursor_take(&cursor, SIZE_MAX, &next); looked++) {
        if (n > 0 && joins(&found[n - 1], &next))
            continue;
        if (n == RECORDS_MAX || looked == STRETCHES_MAX)
            return RECORDS_MAX + 1;
        found[n++] = next;
    }
    return n;
}

static void add(const struct side *side, const struct dtype_stretch *stretch, unsigned more)
{
    const struct trace_access access = {
        .time = side->time,
        .what = (uint16_t)(side->what | more),
        .n = (uint32_t)stretch->n,
        .begin = side->base + (uint64_t)stretch->disp,
        .length = stretch->len,
        .stride = stretch->stride,
    };

    trace_add_access(side->tr, &access);
}

static void record(const struct side *side)
{
    struct dtype_stretch found[RECORDS_MAX];
    ptrdiff_t lo, hi;
    bool is_exact = true;

    if (side->count == 0 || side->type->size == 0)
        return;
    const int n = stretches(side, found);
    for (int i = 0; is_exact && i < n; i++)
        is_exact = n <= RECORDS_MAX && found[i].n <= UINT32_MAX;
    if (is_exact)
        for (int i = 0; i < n; i++)
            add(side, &found[i], 0);
    else if (dtype_span(side->type, side->count, &lo, &hi))
        add(side, &(struct dtype_stretch){.disp = lo, .len = (size_t)(hi - lo), .n = 1},
            TRACE_INEXACT);
}

static void record_buffer(struct side side, const void *base, const struct dtype *type,
                          size_t count, enum trace_side what)
{
    side.base = (uint64_t)(uintptr_t)base;
    side.type = type;
    side.count = count;
    side.what = what;
    record(&side);
}

void rma_trace_buffer(struct trace *tr, uint64_t time, const void *base, const struct dtype *type,
                      size_t count, bool stored)
{
    record_buffer((struct side){.tr = tr, .time = time}, base, type, count,
                  stored ? TRACE_STORED : TRACE_LOADED);
}

void traced_access(struct trace *tr, uint64_t time, const struct rma_target *t,
                   enum pkt_op_kind kind, const struct rma_op *op)
{
    const struct side side = {.tr = tr,
                              .time = time,
                              .base = t->vaddr + (uint64_t)op->disp * t->disp_unit,
                              .type = op->ttype,
                              .count = op->tcount,
                              .what = TRACE_AT_TARGET | (unsigned)op->op << TRACE_ACC_OP_SHIFT |
                                      (unsigned)op->ttype->basic << TRACE_ACC_TYPE_SHIFT};

    record(&side);
    switch (kind) {
    case PKT_OP_GET_ACC:
    case PKT_OP_GET:
        record_buffer(side, op->raddr, op->rtype, op->rcount, TRACE_STORED);
        break;
    case PKT_OP_CAS: /* buffers of one element */
        record_buffer(side, op->caddr, op->ttype, 1, TRACE_LOADED);
        record_buffer(side, op->raddr, op->ttype, 1, TRACE_STORED);
        break;
    default:
        break;
    }
    if (kind == PKT_OP_CAS)
        record_buffer(side, op->oaddr, op->ttype, 1, TRACE_LOADED);
    else if (kind != PKT_OP_GET && op->op != ACC_NO_OP)
        record_buffer(side, op->oaddr, op->otype, op->ocount, TRACE_LOADED);
}
