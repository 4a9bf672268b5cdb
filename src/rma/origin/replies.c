/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies.c - see replies.h.
 *
 * Locks: the caller holds the engine's. Neighbours: fetch_request.h, the requests that replies
 * name; open_packet.c, which may send when a reply has come.
 */
#include "rma/origin/replies.h"

#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/origin_impl.h"
#include "rma/progress/lost.h"
#include "rma/traced/traced_path.h"
#include "rma/types/type_table.h"
#include "rma/win/bad_packet.h"
#include "rma/win/win.h"

/* note_done is called when all of a request's result is here. Packets of a pair are applied in
 * order, and replies leave after that. So all operations issued before the request are done, and
 * their errors have come. */
static void note_done(const struct origin_request *rq)
{
    struct origin_pair *pair = rq->pair;
    if (!pair->rdma_ops)
        win_done_up_to(pair->win, pair->target->rank, rq->last_op);
    if (!seq_reached(pair->flushed, rq->behind))
        pair->flushed = rq->behind;
    origin_epoch_answered(pair, rq->lock_seq);
    if (pair->written == rq->behind && pair->replies == 1 && pair->acks_seen == pair->acks_due)
        pair->unconfirmed = false;
}

/* take_part takes len bytes of the result of a request to t, from position offset on. */
static bool take_part(struct win *w, struct rma_target *t, const struct pkt_part *part,
                      const void *data)
{
    struct rma *r = w->rma;
    struct origin_request *rq = origin_request_find(w, t, part->request);
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
        struct origin_pair *pair = rq->pair;
        note_done(rq);
        origin_request_end(r, rq, MRMA_SUCCESS);
        origin_answer_came(pair);
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
    struct origin_request *rq = hdr->count ? origin_request_find(w, t, hdr->count) : NULL;
    /* if the program has a request, the wait for that returns the error */
    if (!(rq && rq->req) && !w->origin_side.err) {
        w->origin_side.err = err;
        w->origin_side.refusal = (struct origin_refusal){t->rank + 1, why, (int64_t)hdr->offset,
                                                         hdr->seq / PKT_ERROR_BYTES};
    }
    if (t->pair) { /* perhaps a definition was lost */
        type_table_forget(t->pair->types);
        t->pair->refused |= err == MRMA_ERR_RMA_SYNC || err == MRMA_ERR_PROC_FAILED;
    }
    if (rq)
        origin_request_end(w->rma, rq, err);
    else if (hdr->seq == PKT_ERROR_ALL && t->pair)
        origin_fail_requests(t->pair, err);
}

bool origin_got_posts(struct rma_target *t, uint32_t posts)
{
    const uint32_t known = atomic_load_explicit(&t->in->posts, memory_order_relaxed);
    if (likely(seq_reached(known, posts)))
        return true;
    if (!seq_reached(t->starts + 1, posts))
        return false;
    atomic_store_explicit(&t->in->posts, posts,
                          memory_order_release); /* pairs with has_posted of pair_epoch.c */
    if (t->pair)
        origin_answer_came(t->pair);
    return true;
}

void origin_got_open(struct rma_target *t, uint32_t seq, bool lock)
{
    struct origin_pair *pair = t->pair;
    if (!pair)
        return;
    if (!lock)
        pair->open_seq = seq + 1;
    else
        origin_lock_granted(pair, seq);
    origin_answer_came(pair);
}

bool origin_got_ack(struct rma_target *t, uint32_t seq)
{
    struct origin_pair *pair = t->pair;
    if (!pair || pair->acks_seen == pair->acks_due || seq != pair->acks_seen + 1)
        return false;
    origin_epoch_answered(pair, pair->lock_seq);
    pair->acks_seen = seq;
    pair->unlocking &= seq != pair->acks_due;
    if (seq == pair->acks_due && !pair->rdma_ops)
        win_done_up_to(pair->win, t->rank, pair->last_op);
    if (seq == pair->acks_due && pair->unconfirmed) {
        pair->unconfirmed = false;
        pair->win->origin_side.unconfirmed -= pair->win->origin_side.unconfirmed != 0;
    }
    pair->win->rma->stats.acks++;
    origin_answer_came(pair);
    return true;
}
