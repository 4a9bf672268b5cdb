/*
 * deferred.c - see deferred.h.
 */
#include "rma/path/deferred.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/traced/traced.h"
#include "rma/win/path_ops.h"

struct deferred_op {
    struct list_node link;
    enum pkt_op_kind kind;
    struct rma_op op;
    int64_t offset;
    size_t len;
};

static uint8_t late_now(const struct rma_target *t)
{
    return atomic_load_explicit(&t->late, memory_order_relaxed);
}

static void set_late(struct rma_target *t, enum late late)
{
    atomic_store_explicit(&t->late, (uint8_t)late, memory_order_relaxed);
}

bool deferred_begin(struct win *w, struct rma_target *t,
                    bool (*accessible)(struct win *w, struct rma_target *t))
{
    rma_enter(w->rma);
    const bool late = !accessible(w, t);
    if (late && late_now(t) == LATE_NOT) {
        list_init(&t->deferred);
        set_late(t, LATE);
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
    struct deferred_op *d = malloc(sizeof *d);
    rma_enter(w->rma);
    const bool late = late_now(t) != LATE_NOT;
    if (late && d) {
        *d = (struct deferred_op){.kind = kind, .op = *op, .offset = offset, .len = len};
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

int deferred_run(struct win *w, struct rma_target *t, int err)
{
    struct list_node *node;
    int first = err;
    if (likely(!deferred_wait(t)))
        return err;
    rma_enter(w->rma);
    const bool mine = late_now(t) == LATE;
    if (mine)
        set_late(t, LATE_RUNNING);
    while (mine && (node = list_pop_front(&t->deferred)) != NULL) {
        struct deferred_op *d = LIST_ENTRY(node, struct deferred_op, link);
        rma_leave(w->rma);
        const int failed =
            err ? err : w->rma->paths[t->way]->operate(w, t, d->kind, &d->op, d->offset, d->len);
        first = first ? first : failed;
        forget(d);
        rma_enter(w->rma);
    }
    if (mine) {
        set_late(t, LATE_NOT);
        w->nlate--;
    }
    rma_leave(w->rma);
    return first;
}
