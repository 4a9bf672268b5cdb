/*
 * target_reply.c - see target_reply.h.
 *
 * Short replies to the records of one packet wait for each other in the batch, those to one request
 * in their order. A reply that is not ahead of others (target.c) may take along what rides on its
 * packet. A long one is a stream, which cuts packets from the window as there is room.
 */
#include "rma/target/target_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "rma/target/lock_queue.h"
#include "rma/target/target.h"
#include "rma/win/send_header.h"

enum {
    PART_MAX = 2048,      /* longer ones are not worth another copy */
    TARGET_AT_ONCE = 1024 /* shorter gets are not worth a stream */
};

/* A get's answer on its way: reads the window as the packets leave. */
struct reply {
    struct ch3_stream stream;
    struct win *win;
    struct rma_target *to;
    uint32_t request, seg;
    uint64_t seg_pos, pos, left;
    uint8_t flags; /* done by its last packet: flush, unlock */
    uint32_t ack;
    const struct dtype *type; /* a reference: of cur, if not NULL */
    struct dtype_cursor cur;
    char *base;
    struct pkt_seg segs[];
};

static uint8_t riding(const struct target_record *rec)
{
    return rec->flags ? *rec->flags & (PKT_F_FLUSH | PKT_F_UNLOCK) : 0;
}

static void rides_no_more(const struct target_record *rec)
{
    if (rec->flags)
        *rec->flags &= (uint8_t) ~(PKT_F_FLUSH | PKT_F_UNLOCK);
}

static void acknowledge(struct pkt_hdr *reply, uint8_t flags, uint32_t ack)
{
    if (!flags)
        return;
    reply->flags = PKT_F_FLUSH;
    reply->seq = ack;
}

static size_t reply_typed(struct reply *rp, char *to, size_t space)
{
    const size_t len = rp->left < space ? rp->left : space;
    dtype_pack(&rp->cur, rp->base, to, len);
    rp->left -= len;
    rp->pos += len;
    return len;
}

static bool reply_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    struct reply *rp = LIST_ENTRY(st, struct reply, stream);
    struct pkt_hdr *hdr = room;
    char *to = (char *)(hdr + 1);
    size_t space = cap - sizeof *hdr;
    *hdr = (struct pkt_hdr){.version = PKT_VERSION,
                            .type = PKT_REPLY,
                            .win = rp->to->remote_win,
                            .win_gen = rp->to->remote_gen,
                            .rank = (uint32_t)rp->win->rank,
                            .count = rp->request,
                            .offset = rp->pos};
    if (rp->type)
        to += reply_typed(rp, to, space);
    while (!rp->type && space && rp->left) {
        struct pkt_seg part = {.disp = rp->segs[rp->seg].disp + (int64_t)rp->seg_pos,
                               .len = rp->segs[rp->seg].len - rp->seg_pos};
        if (part.len > space)
            part.len = space;
        memcpy(to, target_seg_addr(rp->win, &part), part.len);
        to += part.len;
        space -= part.len;
        rp->left -= part.len;
        rp->pos += part.len;
        rp->seg_pos += part.len;
        if (rp->seg_pos == rp->segs[rp->seg].len) {
            rp->seg++;
            rp->seg_pos = 0;
        }
    }
    *len = (size_t)(to - (char *)room);
    hdr->len = (uint32_t)*len;
    if (rp->left == 0)
        acknowledge(hdr, rp->flags, rp->ack);
    return rp->left == 0;
}

static void reply_done(struct ch3_stream *st, int err)
{
    struct reply *rp = LIST_ENTRY(st, struct reply, stream);
    if (!err && rp->flags & PKT_F_UNLOCK)
        lock_queue_release(rp->to->from);
    if (rp->type)
        dtype_unref(rp->type);
    free(rp);
}

/* A reply of out->len bytes, and with it what rides on its packet (rec NULL: nothing); but not
 * ahead of other replies (target.c). */
static int send_reply(struct win *w, struct rma_target *t, const struct target_record *rec,
                      struct pkt_hdr *out)
{
    const uint8_t flags = !rec || ch3_vc_busy(&t->peer->vc) ? 0 : riding(rec);
    acknowledge(out, flags, rec ? rec->ack : 0);
    int err = ch3_send_awaited(&t->peer->vc, out, out->len, &w->queued);
    if (err || !flags)
        return err;
    rides_no_more(rec);
    if (flags & PKT_F_UNLOCK)
        lock_queue_release(t->from);
    return MRMA_SUCCESS;
}

static const struct pkt_part *next_part(const struct pkt_part *part)
{
    return (const struct pkt_part *)(const void *)((const char *)(part + 1) + pkt_align(part->len));
}

static void send_batch(struct win *w, struct rma_target *t, const struct target_record *rec,
                       struct reply_batch *b)
{
    const struct pkt_part *part = (const struct pkt_part *)(const void *)b->out.data;
    b->out.hdr = (struct pkt_hdr){.version = PKT_VERSION,
                                  .type = PKT_REPLY,
                                  .win = t->remote_win,
                                  .win_gen = t->remote_gen,
                                  .rank = (uint32_t)w->rank,
                                  .total = b->parts,
                                  .len = (uint32_t)sizeof b->out.hdr + b->used};
    const int err = send_reply(w, t, rec, &b->out.hdr);
    for (uint32_t i = 0; err && i < b->parts; i++, part = next_part(part))
        (void)win_send_header(w, t, PKT_ERROR, 0, part->request, (uint32_t)err, 0);
    b->used = b->parts = 0;
}

void target_reply_flush(struct win *w, struct rma_target *t, struct reply_batch *batch)
{
    if (batch->used)
        send_batch(w, t, NULL, batch);
}

/* Among others, if it is short. */
static bool add_part(struct win *w, struct rma_target *t, const struct target_record *rec,
                     const void *data)
{
    struct reply_batch *b = rec->batch;
    const size_t need = sizeof(struct pkt_part) + pkt_align(rec->total);
    if (!b || rec->total > PART_MAX)
        return false;
    if (b->used + need > sizeof b->out.data)
        target_reply_flush(w, t, b);
    struct pkt_part *part = (struct pkt_part *)(void *)(b->out.data + b->used);
    *part = (struct pkt_part){rec->op->request, (uint32_t)rec->total, rec->op->offset};
    memcpy(part + 1, data, rec->total);
    memset((char *)(part + 1) + rec->total, 0, pkt_align(rec->total) - rec->total);
    b->used += (uint32_t)need;
    b->parts++;
    if (rec->flags)
        send_batch(w, t, rec, b);
    return true;
}

/* It leaves by itself: what was batched is older. */
static void flush_older(struct win *w, struct rma_target *t, const struct target_record *rec)
{
    if (rec->batch)
        target_reply_flush(w, t, rec->batch);
}

int target_reply_fetched(struct win *w, struct rma_target *t, const struct target_record *rec,
                         struct pkt_hdr *out)
{
    if (add_part(w, t, rec, out + 1))
        return MRMA_SUCCESS;
    flush_older(w, t, rec);
    *out = (struct pkt_hdr){.version = PKT_VERSION,
                            .type = PKT_REPLY,
                            .win = t->remote_win,
                            .win_gen = t->remote_gen,
                            .rank = (uint32_t)w->rank,
                            .count = rec->op->request,
                            .len = (uint32_t)(sizeof *out + rec->total),
                            .offset = rec->op->offset};
    return send_reply(w, t, rec, out);
}

/* A short one at once: making a stream of it takes 0.1 us of a round trip of 1.3. */
static int get_at_once(struct win *w, struct rma_target *t, const struct target_record *rec)
{
    struct {
        struct pkt_hdr hdr;
        char data[TARGET_AT_ONCE];
    } out;
    memcpy(out.data, target_seg_addr(w, rec->segs), rec->total);
    return target_reply_fetched(w, t, rec, &out.hdr);
}

int target_reply_get(struct win *w, struct rma_target *t, const struct target_record *rec)
{
    if (!rec->total)
        return MRMA_SUCCESS;
    if (rec->nseg == 1 && !rec->typed && rec->batch &&
        add_part(w, t, rec, target_seg_addr(w, rec->segs)))
        return MRMA_SUCCESS;
    flush_older(w, t, rec);
    if (rec->nseg == 1 && rec->total <= TARGET_AT_ONCE && !ch3_vc_busy(&t->peer->vc))
        return get_at_once(w, t, rec);
    struct reply *rp = malloc(sizeof *rp + rec->nseg * sizeof *rec->segs);
    if (!rp)
        return MRMA_ERR_NO_MEM;
    *rp = (struct reply){
        .stream = {.next = reply_next, .done = reply_done, .owner = &w->queued, .awaited = true},
        .win = w,
        .to = t,
        .request = rec->op->request,
        .pos = rec->op->offset,
        .left = rec->total,
        .flags = riding(rec),
        .ack = rec->ack,
        .type = rec->typed ? dtype_ref(rec->type) : NULL};
    if (rec->typed) {
        rp->cur = rec->cur;
        rp->base = rec->base;
    } else {
        memcpy(rp->segs, rec->segs, rec->nseg * sizeof *rec->segs);
    }
    if (rp->left + sizeof(struct pkt_hdr) < PKT_MAX)
        rp->stream.wants = rp->left + sizeof(struct pkt_hdr);
    int err = ch3_send_stream(&t->peer->vc, &rp->stream);
    if (err)
        reply_done(&rp->stream, err);
    else
        rides_no_more(rec);
    return err;
}
