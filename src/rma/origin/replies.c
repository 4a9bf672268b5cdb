/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies.c - see replies.h.
 *
 * Locks: the caller holds the engine's. Neighbours: fetch_request.h, the requests that replies
 * name; open_packet.h, which may send when a reply has come.
 */
#include "rma/origin/replies.h"

#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/pair_epoch.h"
#include "rma/progress/lost.h"
#include "rma/traced/traced_path.h"
#include "rma/types/type_table.h"
#include "rma/win/bad_packet.h"
#include "rma/win/win.h"

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

/* take_part takes len bytes of the result of a request to t, from position offset on. */
static bool take_part(struct win *w, struct rma_target *t, const struct pkt_part *part,
                      const void *data)
{
    struct rma *r = w->rma;
    struct origin_req *rq = fetch_request_find(w, t, part->request);
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
        fetch_request_end(r, rq, MRMA_SUCCESS);
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
    struct origin_req *rq = hdr->count ? fetch_request_find(w, t, hdr->count) : NULL;
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
        fetch_request_end(w->rma, rq, err);
    else if (hdr->seq == PKT_ERROR_ALL && t->pkt)
        origin_fail(t->pkt, err);
}
