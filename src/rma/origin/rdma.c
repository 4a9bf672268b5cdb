/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.c - see rdma.h.
 *
 * Order. Such an operation may begin only when the epoch is known
 * to be open at the target, which is never asked while it runs. What ends the epoch must
 * not let the target, or whoever comes next, go on before it is done:
 *
 *   put, channel with RDMA_ORDERED   markers, completes and unlocks follow at once
 *   put, other channels                they wait until it is done
 *   get                                they wait until it is done
 *   fence by counts                    waits for all puts: counts go by way of others
 *
 * A flush sends nothing for them: done means that the data is in place (channel.h). They are
 * not counted in a fence phase's bytes, as the target does not see them.
 *
 * Ownership: a struct rdma_op is the channel's from its start to done and knows its
 * pair, unless that has ended before (rdma_fail). Locks: the engine's.
 */
#include "rma/origin/rdma.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/issue.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/replies.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

struct rdma_op {
    struct ch3_rdma rdma;  /* first */
    struct list_node link; /* in pt->under_way */
    struct pkt_target *pt; /* NULL: has ended */
    struct rma_req *req;
    bool holding; /* what ends the epoch waits for it */
};

/* Its start, as long as the channel has no room for it. */
struct start {
    struct rdma_op *n; /* the channel's, if done */
    struct pkt_target *pt;
    bool done;
    int err;
};

/* One more, or, by is -1, one less is outstanding. */
static void count(const struct rdma_op *n, uint32_t by)
{
    struct pkt_target *pt = n->pt;
    struct origin_win *all = &pt->win->origin_side;
    const uint32_t held = n->holding ? by : 0;
    pt->rdma_ops += by;
    pt->streams += by;
    pt->holding += held;
    all->rdma_ops += by;
    all->streams += by;
    all->holding += held;
}

/* It is not outstanding any more, for whoever waits. */
static void end(struct rdma_op *n, int err)
{
    struct win *w = n->pt->win;
    list_remove(&n->link);
    count(n, -1U);
    if (err && !w->origin_side.err)
        w->origin_side.err = err;
    origin_discharge(n->req, err);
    n->pt = NULL;
}

static void done(struct ch3_rdma *rdma, int err)
{
    struct rdma_op *n = (struct rdma_op *)(void *)rdma;
    if (n->pt)
        end(n, err);
    free(n);
}

/* A condition to wait for: it has been started, or cannot be. */
static bool try_start(void *arg)
{
    struct start *s = arg;
    if (s->done)
        return true;
    s->err = ch3_rdma_start(&s->pt->target->peer->vc, &s->n->rdma);
    s->done = s->err != MRMA_AGAIN;
    return s->done;
}

/* Called and returning with the lock, which it gives up while there is no room. */
static int start(struct rdma_op *n)
{
    struct pkt_target *pt = n->pt;
    struct win *w = pt->win;
    struct start s = {.n = n, .pt = pt};
    list_push_back(&pt->under_way, &n->link);
    count(n, 1);
    origin_charge(n->req);
    int err = MRMA_SUCCESS;
    if (!try_start(&s)) {
        w->origin_side.waits++;
        rma_leave(w->rma);
        err = origin_wait(w, try_start, &s, "room to start a large put or get", pt->target->rank);
        rma_enter(w->rma);
    }
    if (!err)
        err = s.err;
    if (!err)
        return MRMA_SUCCESS;
    if (n->pt)
        end(n, MRMA_SUCCESS);
    free(n);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(w, pt->target) : err;
}

static int issue_part(struct pkt_target *pt, bool put, char *local, uint64_t remote, size_t len,
                      struct rma_req *req)
{
    const struct rma_target *t = pt->target;
    struct rdma_op *n = malloc(sizeof *n);
    if (!n)
        return log_fail(pt->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a large operation");
    *n = (struct rdma_op){.rdma = {.put = put,
                                   .local = local,
                                   .len = len,
                                   .key = t->net_key.mem.key,
                                   .remote = t->net_key.mem.base + remote,
                                   .done = done},
                          .pt = pt,
                          .req = req,
                          .holding = !put || !ch3_rdma_is_ordered(&t->peer->vc)};
    return start(n);
}

/* Errors as issue_rdma. */
static int issue_parts(struct pkt_target *pt, bool put, char *local, uint64_t remote, size_t left,
                       struct rma_req *req)
{
    const size_t max = ch3_rdma_max(&pt->target->peer->vc);
    pkt_target_touch(pt);
    int err = pkt_await_unlocked(pt);
    if (!err && !pkt_epoch_is_open(pt))
        err = pkt_may_defer(pt, req) ? pkt_open_soon(pt) : pkt_await_open(pt);
    for (size_t len; !err && left; local += len, remote += len, left -= len) {
        len = left < max ? left : max;
        err = pkt_make_stream_room(pt);
        if (!err)
            err = issue_part(pt, put, local, remote, len, req);
    }
    return err;
}

/* Counted with the streams of the pair until it is done. MRMA_ERR_NO_MEM: it is not, or not as a
 * whole, under way. */
static int issue(struct win *w, struct rma_target *t, bool put, void *local, int64_t offset,
                 size_t len, struct rma_req *req)
{
    rma_enter(w->rma);
    struct pkt_target *pt = pkt_target_get(w, t);
    int err = pt ? issue_parts(pt, put, local, (uint64_t)offset, len, req) : MRMA_ERR_NO_MEM;
    if (err && err != MRMA_AGAIN && err != MRMA_ERR_NO_MEM && req && pt)
        err = origin_abandon(pt, req, err);
    rma_leave(w->rma);
    return err;
}

/* Can the channel do this operation, here with datatype here? */
static bool serves(const struct rma_target *t, const struct rma_op *op, const struct dtype *here,
                   size_t len)
{
    return len >= ch3_rdma_min(&t->peer->vc) && here->contig && op->ttype->contig;
}

int issue_rdma(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
               int64_t offset, size_t len)
{
    int err = MRMA_ERR_NO_MEM;
    if (kind == PKT_OP_PUT && serves(t, op, op->otype, len))
        err = issue(w, t, true, (void *)(uintptr_t)op->oaddr, offset, len, op->req);
    if (kind == PKT_OP_GET && serves(t, op, op->rtype, len))
        err = issue(w, t, false, op->raddr, offset, len, op->req);
    /* The channel cannot reach this process's own memory, maybe: packets can. */
    return err == MRMA_ERR_NO_MEM ? issue_operate(w, t, kind, op, offset, len) : err;
}

struct ending {
    const struct win *w;
    const struct pkt_target *pt;
    bool delivered;
};

static bool has_ended(void *arg)
{
    const struct ending *s = arg;
    if (s->pt)
        return !(s->delivered ? s->pt->rdma_ops : s->pt->holding);
    return !(s->delivered ? s->w->origin_side.rdma_ops : s->w->origin_side.holding);
}

int rdma_await(struct win *w, const struct pkt_target *pt, bool delivered)
{
    struct ending s = {w, pt, delivered};
    rma_enter(w->rma);
    const bool already = has_ended(&s);
    rma_leave(w->rma);
    return already ? MRMA_SUCCESS
                   : origin_wait(w, has_ended, &s, "large puts and gets to end",
                                 pt ? pt->target->rank : -1);
}

void rdma_fail(struct pkt_target *pt, int err)
{
    LIST_EACH_SAFE (it, &pt->under_way)
        end(LIST_ENTRY(it, struct rdma_op, link), err);
}
