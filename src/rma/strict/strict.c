/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict.c - what MPIRMA_STRICT=1 checks of operations: conflicts and hints. Asserts of active
 * target epochs are in strict_assert.c, those of locks in strict_lock.c.
 *
 * Conflicts: this process's accesses to one target since its epoch there began, or since the last
 * flush. A local flush completes what only reads. Gets with a request are checked but not kept,
 * since their completion is not seen here. Notified operations are not kept either, since a
 * notification or a message in answer may say that they are done (doc/notified.md). same_op is the
 * user's promise and always checked. same_op_no_op is the default, and is checked only where
 * accumulate_ordering does not order the operations, since ordered operations are not concurrent.
 *
 * Not decided: operations against earlier notified ones, accesses of different origins (which
 * mpi-rma-trace looks at: doc/traces.md), loads and stores against operations, MPI_MODE_NOCHECK of
 * MPI_Win_start and MPI_Win_post, NOCHECK and locks of packet targets, MPI_MODE_NOSTORE.
 */
#include "rma/strict/strict_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/fault.h"

int strict_new(struct win *w)
{
    struct strict *s = calloc(1, sizeof *s + (size_t)w->nproc * sizeof *s->target);
    if (!s)
        return MRMA_ERR_NO_MEM;
    pthread_mutex_init(&s->mutex, NULL);
    w->strict = s;
    return MRMA_SUCCESS;
}

void strict_free(struct win *w)
{
    struct strict *s = w->strict;
    w->strict = NULL;
    if (!s)
        return;
    for (int i = 0; i < w->nproc; i++)
        strict_ranges_free(&s->target[i].ranges);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

/* ---- operations ---- */

const char *strict_describe(unsigned kind, unsigned op, char *buf, size_t len)
{
    if (kind != STRICT_ACC)
        return kind == STRICT_PUT ? "put" : "get";
    if (op == ACC_OP_NONE)
        return "compare-and-swap";
    snprintf(buf, len, "accumulate (%s)", acc_op_name((enum acc_op)op));
    return buf;
}

static int check_hints(const struct win *w, enum strict_kind kind, unsigned op)
{
    char name[40];
    if (kind != STRICT_ACC || w->hints.which_ops >> op & 1)
        return MRMA_SUCCESS;
    return FAULT(w->rma->log, OP_NOT_HINTED, strict_describe(kind, op, name, sizeof name));
}

static enum strict_same same_rule(const struct win_hints *h)
{
    if (h->same_op)
        return STRICT_SAME_OP;
    return h->ordering & WIN_ORDER_WAW ? STRICT_SAME_TYPE : STRICT_SAME_OP_NO_OP;
}

static int conflict(const struct win *w, int rank, const struct strict_access *a,
                    const struct strict_access *old)
{
    char mine[40], theirs[40];
    const uint64_t lo = a->lo > old->lo ? a->lo : old->lo, hi = a->hi < old->hi ? a->hi : old->hi;
    return FAULT(w->rma->log, CONFLICT, rank, strict_describe(a->kind, a->op, mine, sizeof mine),
                 a->kind == STRICT_ACC ? acc_type_name((enum acc_type)a->basic) : "bytes",
                 (unsigned long long)lo, (unsigned long long)hi - 1,
                 strict_describe(old->kind, old->op, theirs, sizeof theirs),
                 old->kind == STRICT_ACC ? acc_type_name((enum acc_type)old->basic) : "bytes");
}

/* next_piece sets *a to the next piece of the target side; false at its end. */
static bool next_piece(struct dtype_cursor *cur, int64_t offset, struct strict_access *a)
{
    ptrdiff_t disp;
    const size_t n = dtype_cursor_next(cur, SIZE_MAX, &disp);
    a->lo = (uint64_t)(offset + disp);
    a->hi = a->lo + n;
    return n != 0;
}

/* check_overlap: an operation that writes the target may not name a byte of it twice (12.3.1,
 * 12.3.4). */
static int check_overlap(const struct win *w, int rank, const struct rma_op *op, int64_t offset,
                         struct strict_access a)
{
    const struct strict_access mine = a;
    struct strict_ranges seen = {.v = NULL};
    struct dtype_cursor cur;
    char name[40];
    int err = MRMA_SUCCESS;
    if (op->ttype->contig || !strict_updates((enum strict_kind)a.kind, a.op))
        return MRMA_SUCCESS;
    dtype_cursor_init(&cur, op->ttype, op->tcount, DTYPE_BYTES);
    a.kind = STRICT_PUT; /* which conflicts with every other */
    while (!err && !seen.incomplete && next_piece(&cur, offset, &a)) {
        const struct strict_access *old = strict_ranges_conflict(&seen, &a, STRICT_SAME_TYPE);
        if (old)
            err = FAULT(w->rma->log, CONFLICT_WITHIN, rank,
                        strict_describe(mine.kind, mine.op, name, sizeof name),
                        (unsigned long long)(a.lo > old->lo ? a.lo : old->lo),
                        (unsigned long long)(a.hi < old->hi ? a.hi : old->hi) - 1);
        else
            strict_ranges_add(&seen, a);
    }
    strict_ranges_free(&seen);
    return err;
}

static int check_conflict(struct win *w, int rank, const struct rma_op *op, int64_t offset,
                          struct strict_access a)
{
    struct strict_ranges *ranges = &w->strict->target[rank].ranges;
    const enum strict_same same = same_rule(&w->hints);
    struct dtype_cursor cur;
    dtype_cursor_init(&cur, op->ttype, op->tcount, DTYPE_BYTES);
    while (next_piece(&cur, offset, &a)) {
        const struct strict_access *old = strict_ranges_conflict(ranges, &a, same);
        if (old)
            return conflict(w, rank, &a, old);
    }
    return MRMA_SUCCESS;
}

static void remember(struct win *w, int rank, const struct rma_op *op, int64_t offset,
                     struct strict_access a)
{
    struct strict *s = w->strict;
    struct strict_ranges *ranges = &s->target[rank].ranges;
    struct dtype_cursor cur;
    if (op->notify || (op->req && !strict_updates((enum strict_kind)a.kind, a.op)))
        return;
    dtype_cursor_init(&cur, op->ttype, op->tcount, DTYPE_BYTES);
    while (!ranges->incomplete && next_piece(&cur, offset, &a))
        strict_ranges_add(ranges, a);
    if (ranges->incomplete && !s->noted) {
        s->noted = true;
        log_msg(w->rma->log, LOG_LEVEL_WARN,
                "window %u, target %d: too many accesses to keep, conflicts with later ones "
                "are not found in this epoch",
                w->index, rank);
    }
}

int strict_op(struct win *w, struct rma_target *t, enum strict_kind kind, const struct rma_op *op,
              int64_t offset)
{
    struct strict *s = w->strict;
    const int rank = t->rank;
    const unsigned acc_op = kind == STRICT_ACC ? op->op : ACC_OP_NONE;
    const struct strict_access a = {.kind = (uint8_t)kind,
                                    .op = (uint8_t)acc_op,
                                    .basic = kind == STRICT_ACC ? op->ttype->basic : ACC_NONE};
    int err = check_hints(w, kind, acc_op);
    if (!err)
        err = check_overlap(w, rank, op, offset, a);
    if (err)
        return err;
    pthread_mutex_lock(&s->mutex);
    err = check_conflict(w, rank, op, offset, a);
    if (!err) {
        remember(w, rank, op, offset, a);
        s->issued |= strict_in_fence_epoch(w);
    }
    pthread_mutex_unlock(&s->mutex);
    return err;
}

void strict_completed(struct win *w, struct rma_target *t, bool local)
{
    struct strict *s = w->strict;
    if (likely(!s))
        return;
    pthread_mutex_lock(&s->mutex);
    const int first = t ? t->rank : 0, end = t ? t->rank + 1 : w->nproc;
    for (int i = first; i < end; i++)
        if (local)
            strict_ranges_drop_reads(&s->target[i].ranges);
        else
            strict_ranges_clear(&s->target[i].ranges);
    s->noted &= t != NULL;
    pthread_mutex_unlock(&s->mutex);
}
