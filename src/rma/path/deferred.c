/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deferred.c - see deferred.h.
 */
#include "rma/path/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/traced/traced.h"
#include "rma/win/path_ops.h"
#include "rma/win/region.h"

enum { COPIED_MAX = 4096 };

struct deferred_op {
    struct list_node link;
    enum pkt_op_kind kind;
    struct rma_op op;
    int64_t offset;
    size_t len;
    char data[]; /* what goes out, if it is short and contiguous, and compare-and-swap's value */
};

bool deferred_begin(struct win *w, struct rma_target *t,
                    bool (*accessible)(struct win *w, struct rma_target *t))
{
    rma_enter(w->rma);
    const bool late = !accessible(w, t);
    if (late && t->late == LATE_NOT) {
        list_init(&t->deferred);
        t->late = LATE;
        w->nlate++;
    }
    rma_leave(w->rma);
    return late;
}

static void forget(struct deferred_op *d)
{
    dtype_unref(d->op.otype);
    dtype_unref(d->op.rtype);
    dtype_unref(d->op.ttype);
    free(d);
}

bool deferred_add(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len, int *err)
{
    const bool plain = op->otype && op->otype->contig && op->op != ACC_NO_OP;
    const size_t copied = op->oaddr && (plain || kind == PKT_OP_CAS) && len <= COPIED_MAX ? len : 0;
    struct deferred_op *d = malloc(sizeof *d + 2 * copied);
    rma_enter(w->rma);
    const bool late = t->late != LATE_NOT;
    if (late && d) {
        *d = (struct deferred_op){.kind = kind, .op = *op, .offset = offset, .len = len};
        if (copied)
            d->op.oaddr = memcpy(d->data, op->oaddr, copied);
        if (copied && op->caddr)
            d->op.caddr = memcpy(d->data + copied, op->caddr, copied);
        (void)dtype_ref(op->otype), (void)dtype_ref(op->rtype), (void)dtype_ref(op->ttype);
        list_push_back(&t->deferred, &d->link);
        if (unlikely(w->front != NULL))
            (void)traced_issue(w, t, kind, op, len);
    }
    rma_leave(w->rma);
    *err = d ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
    if (!late)
        free(d);
    return late;
}

void deferred_drop(struct rma_target *t)
{
    struct list_node *node;
    while (deferred_wait(t) && (node = list_pop_front(&t->deferred)) != NULL)
        forget(LIST_ENTRY(node, struct deferred_op, link));
}

static int carry_out(struct win *w, struct rma_target *t, const struct deferred_op *d)
{
    if (w->dynamic && !region_allows(t, &d->op))
        return log_fail(w->rma->log, MRMA_ERR_RMA_RANGE,
                        "not attached at rank %d: %zu bytes at address %#llx, or some of them",
                        t->rank, d->len, (unsigned long long)d->offset);
    return w->rma->paths[t->way]->operate(w, t, d->kind, &d->op, d->offset, d->len);
}

int deferred_run(struct win *w, struct rma_target *t, int err)
{
    struct list_node *node;
    if (likely(!deferred_wait(t)))
        return err;
    rma_enter(w->rma);
    const bool mine = t->late == LATE;
    if (mine)
        t->late = LATE_RUNNING;
    while (mine && (node = list_pop_front(&t->deferred)) != NULL) {
        struct deferred_op *d = LIST_ENTRY(node, struct deferred_op, link);
        rma_leave(w->rma);
        const int failed = err ? MRMA_SUCCESS : carry_out(w, t, d);
        forget(d);
        rma_enter(w->rma);
        if (failed)
            issue_keep_error(w, failed);
    }
    if (mine) {
        t->late = LATE_NOT;
        w->nlate--;
    }
    rma_leave(w->rma);
    return err;
}
