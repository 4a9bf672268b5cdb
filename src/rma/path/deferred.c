/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deferred.c - see deferred.h.
 */
#include "rma/path/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "rma/origin/active_epoch.h"
#include "rma/origin/pair_ops.h"
#include "rma/origin/rdma.h"
#include "rma/origin/refused.h"
#include "rma/path/path.h"
#include "rma/progress/unsent.h"
#include "rma/win/path_ops.h"
#include "rma/win/region.h"
#include "rma/win/sync_ops.h"

struct deferred_op {
    struct list_node link;
    enum pkt_op_kind kind;
    struct rma_op op;
    int64_t offset;
    size_t len;
    size_t bytes; /* size of it and its data */
    char data[];  /* data that go out, if they are short and contiguous, and the value of
                     compare-and-swap */
};

static bool leave_deferred(struct unsent *u);

/* enter_unsent is called when the first operation is about to wait. Nothing is gathered for t then
 * (assisted.c), since the end of the epoch before has done that. */
static void enter_unsent(struct win *w, struct rma_target *t)
{
    unsent_gone(w->rma, &t->path_side.unsent);
    t->path_side.unsent.leave = leave_deferred;
    t->path_side.unsent_of = w;
    unsent_add(w->rma, &t->path_side.unsent);
}

/* end_waiting is called when no operation waits any more. Under the engine's lock. */
static void end_waiting(struct win *w, struct rma_target *t)
{
    list_remove(&t->path_side.link);
    __atomic_store_n(&w->path_side.ndeferring, w->path_side.ndeferring - 1,
                     __ATOMIC_RELEASE); /* pairs with deferred_any */
    unsent_gone(w->rma, &t->path_side.unsent);
}

bool deferred_begin(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    const bool waits = !target_sync(t)->accessible(w, t);
    if (waits && t->deferral == DEFERRAL_NONE) {
        list_init(&t->path_side.deferred);
        t->path_side.deferred_bytes = 0;
        t->deferral = DEFERRAL_WAITING;
        target_set_unready(w, t);
        if (w->path_side.ndeferring == 0)
            list_init(&w->path_side.deferring);
        __atomic_store_n(&w->path_side.ndeferring, w->path_side.ndeferring + 1, __ATOMIC_RELAXED);
        list_push_back(&w->path_side.deferring, &t->path_side.link);
        enter_unsent(w, t);
    }
    rma_leave(w->rma);
    return waits;
}

static void forget(struct deferred_op *d)
{
    dtype_unref(d->op.otype);
    dtype_unref(d->op.rtype);
    dtype_unref(d->op.ttype);
    free(d);
}

/* add adds one more operation that waits, unless there is no memory, or operations on t do not wait
 * any more. */
static bool add(struct win *w, struct rma_target *t, const struct deferred_op *op, size_t copied,
                int *err)
{
    struct deferred_op *d = malloc(op->bytes);
    rma_enter(w->rma);
    const bool waits = t->deferral != DEFERRAL_NONE;
    if (waits && d) {
        *d = *op;
        if (copied)
            d->op.oaddr = memcpy(d->data, op->op.oaddr, copied);
        if (copied && op->op.caddr)
            d->op.caddr = memcpy(d->data + copied, op->op.caddr, copied);
        (void)dtype_ref(op->op.otype), (void)dtype_ref(op->op.rtype), (void)dtype_ref(op->op.ttype);
        list_push_back(&t->path_side.deferred, &d->link);
        t->path_side.deferred_bytes += d->bytes;
    }
    rma_leave(w->rma);
    *err = waits && !d ? MRMA_ERR_NO_MEM : MRMA_SUCCESS;
    if (!waits)
        free(d);
    return waits;
}

static bool is_full(struct win *w, const struct rma_target *t)
{
    rma_enter(w->rma);
    const bool full = t->deferral == DEFERRAL_WAITING &&
                      t->path_side.deferred_bytes >= (size_t)w->rma->conf->tune.defer_queue;
    rma_leave(w->rma);
    return full;
}

/* finish waits until t may be accessed, and carries out the operations that wait for that. */
static int finish(struct win *w, struct rma_target *t)
{
    return deferred_run(w, t, target_sync(t)->await(w, t));
}

/* takes_at_once returns whether the path has read the caller's buffers when its function returns.
 * Only then may data be copied, since a copy lives only as long as the operation waits here, and
 * puts that the channel does by itself may read later. */
static bool takes_at_once(const struct win *w, const struct rma_target *t, size_t len)
{
    return t->path != PATH_RDMA || origin_rdma_takes_at_once(w, t, len);
}

bool deferred_add(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len, int *err)
{
    const bool plain = op->otype && op->otype->contig && op->op != ACC_NO_OP;
    const bool copies = op->oaddr && (plain || kind == PKT_OP_CAS) &&
                        len <= (size_t)w->rma->conf->tune.defer_copy_max &&
                        takes_at_once(w, t, len);
    const size_t copied = copies ? len : 0;
    if (unlikely(op->req || op->notify || is_full(w, t))) {
        *err = finish(w, t);
        return false;
    }
    return add(w, t,
               &(struct deferred_op){.kind = kind,
                                     .op = *op,
                                     .offset = offset,
                                     .len = len,
                                     .bytes = sizeof(struct deferred_op) + 2 * copied},
               copied, err);
}

bool deferred_early(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, int64_t offset, size_t len, int *err)
{
    *err = MRMA_SUCCESS;
    return deferred_begin(w, t) && deferred_add(w, t, kind, op, offset, len, err);
}

int deferred_finish(struct win *w, struct rma_target *t)
{
    return deferred_wait(t) ? finish(w, t) : MRMA_SUCCESS;
}

static void keep(struct win *w, int err)
{
    rma_enter(w->rma);
    origin_keep_error(w, err);
    rma_leave(w->rma);
}

int deferred_end(struct win *w)
{
    int lost = MRMA_SUCCESS;
    while (deferred_any(w)) {
        rma_enter(w->rma);
        struct list_node *node =
            w->path_side.ndeferring ? list_first(&w->path_side.deferring) : NULL;
        rma_leave(w->rma);
        const int err =
            node ? finish(w, LIST_ENTRY(node, struct rma_target, path_side.link)) : MRMA_SUCCESS;
        if (err == MRMA_ERR_PROC_FAILED)
            lost = err;
        else if (err)
            keep(w, err);
    }
    return lost;
}

/* leave_one carries out one operation. On a target of the network it is a put or get of the network
 * where a call would do that, else a packet; in a dynamic window always a packet, for which the
 * target looks into its regions itself. False: the operation would have to wait, or a call has to
 * do it or to refuse it. */
static bool leave_one(struct win *w, struct rma_target *t, const struct deferred_op *d, int *err)
{
    const bool moves = d->kind == PKT_OP_PUT || d->kind == PKT_OP_GET;
    if (w->dynamic && !region_allows(t, &d->op))
        return false;
    if (t->path == PATH_MAPPED)
        return mapped_leave(w, t, d->kind, &d->op, d->offset, d->len, err);
    if (t->path == PATH_ASSISTED)
        return assisted_leave(w, t, d->kind, &d->op, d->offset, d->len, err);
    *err = MRMA_ERR_NO_MEM;
    if (moves && t->path == PATH_RDMA && !w->dynamic)
        *err = origin_rdma_deferred(w, t, d->kind, &d->op, d->offset, d->len);
    if (*err == MRMA_ERR_NO_MEM)
        return origin_operate_deferred(w, t, d->kind, &d->op, d->len, err);
    return *err != MRMA_AGAIN;
}

/* may_leave returns whether operations on t may be carried out now. Packets are asked for each
 * operation (origin_make_ready_now). */
static bool may_leave(const struct win *w, const struct rma_target *t)
{
    if (!origin_epoch_lasts(w)) /* the last fence carries out by itself what belongs to it */
        return false;
    if (t->path == PATH_PACKETS || t->path == PATH_RDMA)
        return true;
    return target_sync(t)->accessible(w, t) && !t->lost;
}

/* leave_deferred carries out operations in the order of the calls, until one would have to wait.
 * That one and those behind it stay, and the call that ends or flushes the epoch carries them out.
 * Also where no operation is there yet, since its call is between deferred_begin and deferred_add,
 * the waiting ends only if the target may be accessed: that operation then goes past the queue. */
static bool leave_deferred(struct unsent *u)
{
    struct rma_target *t = LIST_ENTRY(u, struct rma_target, path_side.unsent);
    struct win *w = t->path_side.unsent_of;
    struct list_node *node;
    for (;;) {
        if (!may_leave(w, t)) /* not yet, or the target was lost meanwhile */
            return false;
        node = list_first(&t->path_side.deferred);
        if (!node)
            break;
        struct deferred_op *d = LIST_ENTRY(node, struct deferred_op, link);
        int err;
        if (!leave_one(w, t, d, &err))
            return false;
        list_remove(node);
        t->path_side.deferred_bytes -= d->bytes;
        forget(d);
        if (err)
            origin_keep_error(w, err);
    }
    end_waiting(w, t);
    t->deferral = DEFERRAL_NONE;
    return true;
}

void deferred_drop(struct rma_target *t)
{
    struct list_node *node;
    if (deferred_wait(t) && list_node_queued(&t->path_side.unsent.link))
        list_remove(&t->path_side.unsent.link);
    while (deferred_wait(t) && (node = list_pop_front(&t->path_side.deferred)) != NULL)
        forget(LIST_ENTRY(node, struct deferred_op, link));
}

static int carry_out(struct win *w, struct rma_target *t, const struct deferred_op *d)
{
    if (w->dynamic && !region_allows(t, &d->op))
        return FAULT(w->rma->log, NOT_ATTACHED, (unsigned long long)d->offset,
                     (unsigned long long)d->op.tcount, (unsigned long long)d->op.ttype->size,
                     (unsigned long long)d->offset, (unsigned long long)d->offset + d->len - 1,
                     t->rank);
    return route_way(target_route(t))->operate(w, t, d->kind, &d->op, d->offset, d->len);
}

int deferred_run(struct win *w, struct rma_target *t, int err)
{
    struct list_node *node;
    if (likely(!deferred_wait(t)))
        return err;
    rma_enter(w->rma);
    const bool mine = t->deferral == DEFERRAL_WAITING;
    if (mine) {
        t->deferral = DEFERRAL_RUNNING;
        end_waiting(w, t);
    }
    while (mine && (node = list_pop_front(&t->path_side.deferred)) != NULL) {
        struct deferred_op *d = LIST_ENTRY(node, struct deferred_op, link);
        rma_leave(w->rma);
        const int failed = err ? MRMA_SUCCESS : carry_out(w, t, d);
        rma_enter(w->rma);
        t->path_side.deferred_bytes -= d->bytes;
        forget(d);
        if (failed)
            origin_keep_error(w, failed);
    }
    if (mine)
        t->deferral = DEFERRAL_NONE;
    rma_leave(w->rma);
    return err;
}
