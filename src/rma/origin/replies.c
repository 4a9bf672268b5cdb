/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies.c - operations that fetch: their requests, and the replies to these.
 *
 * Ownership: a request holds a reference to the datatype whose cursor it uses and points into the
 * user's buffer, which stays the library's until the operation is locally complete. Replies of one
 * request come in the order of its positions (channels keep the order of a pair); anything else is
 * refused. Locks: the engine's, held by the caller.
 */
#include "rma/origin/replies.h"

#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "rma/origin/open_packet.h"
#include "rma/progress/lost.h"
#include "rma/traced/traced_path.h"
#include "rma/types/type_table.h"
#include "rma/win/bad_packet.h"
#include "rma/win/win.h"

/* How many ended requests are kept to be used again. */
enum { SPARE_MOST = ORIGIN_PAIR_REQUESTS };

struct origin_req {
    struct list_node link; /* in pt->requests, or in rma->spare_requests */
    uint32_t number;
    struct pkt_target *pt;
    struct dtype_cursor result;
    const struct dtype *type;
    void *addr;
    size_t left, pos;  /* bytes of the packed result */
    size_t kept;       /* of these, bytes of which the target keeps a copy: those of accumulates */
    bool plain;        /* they go to addr as they are, and result is not used */
    uint32_t behind;   /* pt->written when the request was made: its reply proves that these
                          operations are done */
    uint32_t lock_seq; /* pt->lock_seq when it was made: its reply proves that this lock is held */
    uint64_t last_op;  /* as in struct pkt_target */
    struct rma_req *req;
};

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
        free(LIST_ENTRY(node, struct origin_req, link));
    map_fini(&r->requests);
}

void rma_req_init(struct rma_req *req)
{
    atomic_init(&req->pending, 0);
    atomic_init(&req->err, MRMA_SUCCESS);
    req->number = 0;
    req->ended = NULL;
}

void rma_req_begin(struct rma_req *req, struct rma_req_list *ended)
{
    rma_req_init(req);
    atomic_init(&req->pending, 1);
    req->ended = ended;
}

void rma_req_issued(struct rma_req *req)
{
    origin_discharge(req, MRMA_SUCCESS);
}

/*
 * Several threads may end the parts of a request; the one that ends the last part enters the
 * request into the list, and another thread takes it:
 *
 *   part                       last part                    who takes
 *   A: err, user's buffer      C: pending reads B           E: takes the list
 *   B: pending -= 1 (release)     (acquire)                 F: reads err
 *                              D: enters it (release)
 *
 * C reads what B, or a later decrement, has written, and E (acquire) reads what D has written; so A
 * comes before F.
 */
static void enter(struct rma_req_list *ended, struct rma_req *req)
{
    struct rma_req *first = atomic_load_explicit(&ended->first, memory_order_relaxed);
    do {
        req->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&ended->first, &first, req,
                                                    memory_order_release, /* D */
                                                    memory_order_relaxed));
}

/* It takes the whole list at once: since nobody takes a single entry, it does no harm if a later
 * request has the address of an earlier one. */
struct rma_req *rma_req_take(struct rma_req_list *ended)
{
    if (likely(!atomic_load_explicit(&ended->first, memory_order_relaxed)))
        return NULL;
    return atomic_exchange_explicit(&ended->first, NULL, memory_order_acquire); /* E */
}

void origin_charge(struct rma_req *req)
{
    if (req)
        atomic_fetch_add_explicit(&req->pending, 1, memory_order_relaxed);
}

/* A request without a list may be gone as soon as nothing is pending. */
void origin_discharge(struct rma_req *req, int err)
{
    if (!req)
        return;
    int none = MRMA_SUCCESS;
    if (err)
        atomic_compare_exchange_strong_explicit(&req->err, &none, err, memory_order_relaxed,
                                                memory_order_relaxed);
    struct rma_req_list *ended = req->ended;
    const uint32_t before =
        atomic_fetch_sub_explicit(&req->pending, 1, memory_order_acq_rel); /* B, C; rma_req_done */
    if (before == 1 && ended)
        enter(ended, req);
}

bool origin_request_room(const struct pkt_target *pt)
{
    return pt->replies == 0 ||
           (pt->replies < ORIGIN_PAIR_REQUESTS && pt->fetching < ORIGIN_PAIR_FETCHING &&
            map_count(&pt->win->rma->requests) < ORIGIN_REQUESTS);
}

/* take_spare takes a request that has ended, since malloc is slow with many objects that come and
 * go together, between those of others. */
static struct origin_req *take_spare(struct rma *r)
{
    struct list_node *node = list_pop_front(&r->spare_requests);
    r->nspare_requests -= node != NULL;
    return node ? LIST_ENTRY(node, struct origin_req, link) : malloc(sizeof(struct origin_req));
}

static void put_spare(struct rma *r, struct origin_req *rq)
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
static struct origin_req *new_request(struct rma *r)
{
    struct origin_req *rq = take_spare(r);
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

int origin_request(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op,
                   uint32_t *number)
{
    struct win *w = pt->win;
    struct rma *r = w->rma;
    struct origin_req *rq = new_request(r);
    if (!rq)
        return log_fail(r->log, MRMA_ERR_NO_MEM, "no memory for a request");
    const struct dtype *rtype = kind == PKT_OP_CAS ? op->ttype : op->rtype;
    const size_t bytes = op->tcount * op->ttype->size;
    /* The fields are set one by one: see rma_op_clear. */
    list_node_init(&rq->link);
    *number = rq->number;
    rq->pt = pt;
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
    rq->behind = pt->written;
    rq->last_op = win_last_op(w);
    rq->lock_seq = pt->lock_seq;
    pt->fetching += rq->kept;
    list_push_back(&pt->requests, &rq->link);
    pt->replies++;
    w->origin_side.replies++;
    origin_charge(op->req);
    return MRMA_SUCCESS;
}

static void end_request(struct rma *r, struct origin_req *rq, int err)
{
    list_remove(&rq->link);
    rq->pt->fetching -= rq->kept;
    rq->pt->replies--;
    rq->pt->win->origin_side.replies--;
    origin_discharge(rq->req, err);
    dtype_unref(rq->type);
    (void)map_del(&r->requests, rq->number);
    put_spare(r, rq);
}

/* note_done is called when all of a request's result is here. Packets of a pair are applied in
 * order, and replies leave after that. So all operations issued before the request are done, and
 * their errors have come. */
static void note_done(const struct origin_req *rq)
{
    struct pkt_target *pt = rq->pt;
    if (!pt->rdma_ops)
        win_done_up_to(pt->win, pt->target->rank, rq->last_op);
    if (!seq_reached(pt->flushed, rq->behind))
        pt->flushed = rq->behind;
    pkt_epoch_answered(pt, rq->lock_seq);
    if (pt->written == rq->behind && pt->replies == 1 && pt->acks_seen == pt->acks_due)
        pt->unconfirmed = false;
}

void origin_request_cancel(struct win *w, uint32_t number, int err)
{
    struct origin_req *rq = map_get(&w->rma->requests, number);
    if (rq)
        end_request(w->rma, rq, err);
}

int origin_abandon(struct pkt_target *pt, struct rma_req *req, int err)
{
    LIST_EACH_SAFE (it, &pt->requests) {
        struct origin_req *rq = LIST_ENTRY(it, struct origin_req, link);
        if (rq->req == req)
            end_request(pt->win->rma, rq, err);
    }
    if (req->ended ? rma_req_held_only(req) : rma_req_done(req))
        return err;
    origin_charge(req);
    origin_discharge(req, err);
    return MRMA_SUCCESS;
}

void origin_fail(struct pkt_target *pt, int err)
{
    struct list_node *link;
    while ((link = list_first(&pt->requests)) != NULL)
        end_request(pt->win->rma, LIST_ENTRY(link, struct origin_req, link), err);
}

static struct origin_req *find(struct win *w, struct rma_target *t, uint32_t number)
{
    struct origin_req *rq = map_get(&w->rma->requests, number);
    return rq && rq->pt == t->pkt ? rq : NULL;
}

/* take_part takes len bytes of the result of a request to t, from position offset on. */
static bool take_part(struct win *w, struct rma_target *t, const struct pkt_part *part,
                      const void *data)
{
    struct rma *r = w->rma;
    struct origin_req *rq = find(w, t, part->request);
    if (!rq || part->offset != rq->pos || part->len > rq->left || !part->len) {
        rma_bad_packet(r, "reply refused: request %u, position %llu, %u bytes", part->request,
                       (unsigned long long)part->offset, part->len);
        return false;
    }
    if (likely(rq->plain))
        copy_whole((char *)rq->addr + rq->pos, data, part->len);
    else
        dtype_unpack(&rq->result, rq->addr, data, part->len);
    rq->pos += part->len;
    rq->left -= part->len;
    if (!rq->left) {
        struct pkt_target *pt = rq->pt;
        note_done(rq);
        end_request(r, rq, MRMA_SUCCESS);
        pkt_word_came(pt);
    }
    return true;
}

bool origin_reply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body)
{
    const char *at = body, *end = at + (hdr->len - sizeof *hdr);
    bool taken = true;
    uint32_t i = 0;
    do { /* there is at least one part */
        const size_t left = (size_t)(end - at);
        struct pkt_part part = {0};
        if (left >= sizeof part)
            copy_once(&part, at, sizeof part);
        if (left < sizeof part || left - sizeof part < pkt_align(part.len)) {
            rma_bad_packet(w->rma, "reply refused: part %u of %u does not fit", i, hdr->count);
            return false;
        }
        taken = take_part(w, t, &part, at + sizeof part) && taken;
        at += sizeof part + pkt_align(part.len);
    } while (++i < hdr->count);
    return taken;
}

void origin_error(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr)
{
    const struct pkt_refusal why = pkt_refusal_of(hdr->total);
    const int err = why.err > MRMA_AGAIN && why.err < MRMA_ERR_LAST ? why.err : MRMA_ERR_INTERN;
    if (hdr->seq == PKT_ERROR_LOST) {
        win_lost_got(w, hdr);
        return;
    }
    struct origin_req *rq = hdr->count ? find(w, t, hdr->count) : NULL;
    /* if the program has a request, the wait for that returns the error */
    if (!(rq && rq->req) && !w->origin_side.err) {
        w->origin_side.err = err;
        w->origin_side.refusal = (struct origin_refusal){t->rank + 1, why, (int64_t)hdr->offset,
                                                         hdr->seq / PKT_ERROR_BYTES};
    }
    if (t->pkt) { /* perhaps a definition was lost */
        type_table_forget(t->pkt->types);
        t->pkt->refused |= err == MRMA_ERR_RMA_SYNC || err == MRMA_ERR_PROC_FAILED;
    }
    if (rq)
        end_request(w->rma, rq, err);
    else if (hdr->seq == PKT_ERROR_ALL && t->pkt)
        origin_fail(t->pkt, err);
}
