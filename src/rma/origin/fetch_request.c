/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fetch_request.c - see fetch_request.h.
 */
#include "rma/origin/fetch_request.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/origin_impl.h"
#include "rma/traced/traced_path.h"
#include "rma/win/win.h"

/* How many ended requests are kept to be used again. */
enum { SPARE_MOST = ORIGIN_PAIR_REQUESTS };

void origin_init(struct rma *r)
{
    map_init(&r->requests);
    list_init(&r->spare_requests);
    r->last_request = r->env->first_number;
}

void origin_fini(struct rma *r)
{
    struct list_node *node;
    while ((node = list_pop_front(&r->spare_requests)) != NULL)
        free(LIST_ENTRY(node, struct origin_request, link));
    map_fini(&r->requests);
}

bool origin_request_room(const struct origin_pair *pair)
{
    return pair->replies == 0 ||
           (pair->replies < ORIGIN_PAIR_REQUESTS && pair->fetching < ORIGIN_PAIR_FETCHING &&
            map_count(&pair->win->rma->requests) < ORIGIN_REQUESTS);
}

/* take_spare takes a request that has ended, since malloc is slow with many objects that come and
 * go together, between those of others. */
static struct origin_request *take_spare(struct rma *r)
{
    struct list_node *node = list_pop_front(&r->spare_requests);
    r->nspare_requests -= node != NULL;
    return node ? LIST_ENTRY(node, struct origin_request, link)
                : malloc(sizeof(struct origin_request));
}

static void put_spare(struct rma *r, struct origin_request *rq)
{
    if (r->nspare_requests == SPARE_MOST) {
        free(rq);
        return;
    }
    list_push_front(&r->spare_requests, &rq->link);
    r->nspare_requests++;
}

/* new_request makes a request under the next free number, which is never 0. So a late reply to a
 * request that has ended is not taken for a reply to another. NULL: no memory. */
static struct origin_request *new_request(struct rma *r)
{
    struct origin_request *rq = take_spare(r);
    void *in_use = rq;
    while (in_use) {
        r->last_request += r->last_request == UINT32_MAX ? 2 : 1;
        if (map_put(&r->requests, r->last_request, rq, &in_use) != MRMA_SUCCESS) {
            put_spare(r, rq);
            return NULL;
        }
        if (in_use) /* since numbers came round */
            (void)map_put(&r->requests, r->last_request, in_use, NULL);
    }
    if (rq)
        rq->number = r->last_request;
    return rq;
}

int origin_request_new(struct origin_pair *pair, enum pkt_op_kind kind, const struct rma_op *op,
                       uint32_t *number)
{
    struct win *w = pair->win;
    struct rma *r = w->rma;
    struct origin_request *rq = new_request(r);
    if (!rq)
        return log_fail(r->log, MRMA_ERR_NO_MEM, "no memory for a request");
    const struct dtype *rtype = kind == PKT_OP_CAS ? op->ttype : op->rtype;
    const size_t bytes = op->tcount * op->ttype->size;
    /* The fields are set one by one: see rma_op_clear. */
    list_node_init(&rq->link);
    *number = rq->number;
    rq->pair = pair;
    rq->type = dtype_ref(rtype);
    rq->addr = op->raddr;
    rq->req = op->req;
    rq->pos = 0;
    rq->left = kind == PKT_OP_GET   ? bytes
               : kind == PKT_OP_CAS ? acc_extent(op->ttype->basic)
                                    : op->tcount * op->ttype->elems * acc_extent(op->ttype->basic);
    rq->plain = rtype->contig && (kind == PKT_OP_CAS || rq->left == bytes);
    if (!rq->plain)
        dtype_cursor_init(&rq->result, rtype, kind == PKT_OP_CAS ? 1 : op->rcount,
                          kind == PKT_OP_GET ? DTYPE_BYTES : DTYPE_ELEMENTS);
    rq->kept = kind == PKT_OP_GET ? 0 : rq->left;
    rq->behind = pair->written;
    rq->last_op = win_last_op(w);
    rq->lock_seq = pair->lock_seq;
    pair->fetching += rq->kept;
    list_push_back(&pair->requests, &rq->link);
    pair->replies++;
    w->origin_side.replies++;
    origin_charge(op->req);
    return MRMA_SUCCESS;
}

void origin_request_end(struct rma *r, struct origin_request *rq, int err)
{
    list_remove(&rq->link);
    rq->pair->fetching -= rq->kept;
    rq->pair->replies--;
    rq->pair->win->origin_side.replies--;
    origin_discharge(rq->req, err);
    dtype_unref(rq->type);
    (void)map_del(&r->requests, rq->number);
    put_spare(r, rq);
}

void origin_request_cancel(struct win *w, uint32_t number, int err)
{
    struct origin_request *rq = map_get(&w->rma->requests, number);
    if (rq)
        origin_request_end(w->rma, rq, err);
}

int origin_abandon(struct origin_pair *pair, struct rma_req *req, int err)
{
    LIST_EACH_SAFE (it, &pair->requests) {
        struct origin_request *rq = LIST_ENTRY(it, struct origin_request, link);
        if (rq->req == req)
            origin_request_end(pair->win->rma, rq, err);
    }
    if (req->ended ? rma_req_held_only(req) : rma_req_done(req))
        return err;
    origin_charge(req);
    origin_discharge(req, err);
    return MRMA_SUCCESS;
}

void origin_fail_requests(struct origin_pair *pair, int err)
{
    struct list_node *link;
    while ((link = list_first(&pair->requests)) != NULL)
        origin_request_end(pair->win->rma, LIST_ENTRY(link, struct origin_request, link), err);
}

struct origin_request *origin_request_find(struct win *w, struct rma_target *t, uint32_t number)
{
    struct origin_request *rq = map_get(&w->rma->requests, number);
    return rq && rq->pair == t->pair ? rq : NULL;
}
