/*
 * teardown.c - see teardown.h.
 */
#include "rma/origin/teardown.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/rdma.h"
#include "rma/origin/replies.h"
#include "rma/packet/type_table.h"

static void pair_fail(struct pkt_target *pt, int err)
{
    origin_fail(pt, err);
    rdma_fail(pt, err);
}

void pair_lost(struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    if (!pt || (!pt->replies && !pt->rdma_ops))
        return;
    pair_fail(pt, MRMA_ERR_PROC_FAILED);
    if (!pt->win->origin_side.err)
        pt->win->origin_side.err = MRMA_ERR_PROC_FAILED;
}

void pair_fail_all(struct win *w, int err)
{
    for (int i = 0; i < w->nlocal; i++)
        if (w->local[i].pkt)
            pair_fail(w->local[i].pkt, err);
    LIST_EACH (node, &w->remote) {
        const struct rma_target *t = LIST_ENTRY(node, struct rma_target, remote_link);
        if (t->pkt)
            pair_fail(t->pkt, err);
    }
}

void pair_free(struct rma_target *t)
{
    if (!t->pkt)
        return;
    pair_fail(t->pkt, MRMA_ERR_PROC_FAILED);
    if (list_node_queued(&t->pkt->touched))
        list_remove(&t->pkt->touched);
    struct rma *r = t->pkt->win->rma;
    if (r->lock_due == t->pkt)
        r->lock_due = NULL;
    type_table_free(t->pkt->types);
    free(t->pkt->buf);
    free(t->pkt);
    t->pkt = NULL;
}
