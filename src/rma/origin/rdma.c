/*
 * rdma.c - see rdma.h.
 *
 * Order (doc/protocol.md). Such an operation may begin only when the epoch is known
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
#include "rma/origin/open_packet.h"
#include "rma/origin/epoch_open.h"
#include "rma/origin/replies.h"
#include "rma/origin/stream.h"
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

bool rdma_serves(const struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op)
{
    const struct rma_target *t = pt->target;
    if (!t->net_key.usable || (kind != PKT_OP_PUT && kind != PKT_OP_GET))
        return false;
    const struct dtype *here = kind == PKT_OP_PUT ? op->otype : op->rtype;
    return here->contig && op->ttype->contig &&
           op->tcount * op->ttype->size >= ch3_rdma_min(&t->peer->vc);
}

/* It is not outstanding any more, for whoever waits. */
static void leave(struct rdma_op *n, int err)
{
    struct pkt_target *pt = n->pt;
    struct win *w = pt->win;
    list_remove(&n->link);
    pt->rdma_ops--;
    w->origin_side.rdma_ops--;
    pt->streams--;
    w->origin_side.streams--;
    pt->holding -= n->holding;
    w->origin_side.holding -= n->holding;
    if (err && !w->origin_side.err)
        w->origin_side.err = err;
    origin_discharge(n->req, err);
    n->pt = NULL;
}

static void done(struct ch3_rdma *rdma, int err)
{
    struct rdma_op *n = (struct rdma_op *)(void *)rdma;
    if (n->pt)
        leave(n, err);
    free(n);
}

static void enter(struct rdma_op *n)
{
    struct pkt_target *pt = n->pt;
    struct win *w = pt->win;
    list_push_back(&pt->under_way, &n->link);
    pt->rdma_ops++;
    w->origin_side.rdma_ops++;
    pt->streams++;
    w->origin_side.streams++;
    pt->holding += n->holding;
    w->origin_side.holding += n->holding;
    origin_charge(n->req);
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
    int err = MRMA_SUCCESS;
    enter(n);
    if (!try_start(&s)) {
        w->origin_side.waits++;
        rma_leave(w->rma);
        err = rma_wait_until(w, &(struct rma_wait){.done = try_start,
                                                   .arg = &s,
                                                   .locked = true,
                                                   .what = "room to start a large put or get",
                                                   .rank = pt->target->rank});
        rma_enter(w->rma);
    }
    if (!err)
        err = s.err;
    if (!err)
        return MRMA_SUCCESS;
    if (n->pt)
        leave(n, MRMA_SUCCESS);
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

static bool room(void *arg)
{
    const struct pkt_target *pt = arg;
    return origin_stream_room(pt);
}

int rdma_issue(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op)
{
    const bool put = kind == PKT_OP_PUT;
    const size_t max = ch3_rdma_max(&pt->target->peer->vc);
    size_t left = op->tcount * op->ttype->size;
    uint64_t remote = (uint64_t)op->disp * pt->target->disp_unit;
    char *local = put ? (char *)(uintptr_t)op->oaddr : op->raddr;
    pkt_target_touch(pt);
    int err = pkt_await_open(pt);
    if (!err && !pkt_epoch_is_open(pt)) /* the target has reported an error instead */
        return MRMA_AGAIN;
    while (!err && left) {
        const size_t len = left < max ? left : max;
        while (!err && !origin_stream_room(pt))
            err = pkt_wait(pt, room, "large operations to end");
        if (!err)
            err = issue_part(pt, put, local, remote, len, op->req);
        local += len;
        remote += len;
        left -= len;
    }
    return err;
}

struct settle {
    const struct win *w;
    const struct pkt_target *pt;
    bool delivered;
};

static bool settled(void *arg)
{
    const struct settle *s = arg;
    if (s->pt)
        return !(s->delivered ? s->pt->rdma_ops : s->pt->holding);
    return !(s->delivered ? s->w->origin_side.rdma_ops : s->w->origin_side.holding);
}

int rdma_settle(struct win *w, const struct pkt_target *pt, bool delivered)
{
    struct settle s = {w, pt, delivered};
    rma_enter(w->rma);
    const bool already = settled(&s);
    rma_leave(w->rma);
    if (already)
        return MRMA_SUCCESS;
    return rma_wait_until(w, &(struct rma_wait){.done = settled,
                                                .arg = &s,
                                                .locked = true,
                                                .what = "large puts and gets to end",
                                                .rank = pt ? pt->target->rank : -1});
}

void rdma_fail(struct pkt_target *pt, int err)
{
    LIST_EACH_SAFE (it, &pt->under_way)
        leave(LIST_ENTRY(it, struct rdma_op, link), err);
}

void rdma_close(struct win *w)
{
    struct rma_net_mem *m = &w->net_mem;
    if (m->channel)
        ch3_mem_release(m->channel, m->mem);
    m->channel = NULL;
}
