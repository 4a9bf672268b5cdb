/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_reply.c - see target_reply.h.
 *
 * Replies to one request leave in the order of its positions. Synchronization that is piggybacked
 * on a packet does not take effect before earlier replies to the same process have been read out of
 * the window: so it goes with a reply only if no other reply is queued in front of that one.
 */
#include "rma/target/target_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/notify/notify.h"
#include "rma/target/target.h"
#include "rma/win/send_header.h"

enum { SHORT_MAX = 2048 }; /* longer results are not worth another copy */

/* A long result that is being sent. */
struct long_reply {
    struct ch3_stream stream;
    struct win *win;
    struct rma_target *to;
    uint32_t request, seg;
    uint64_t seg_pos, pos, left;
    uint8_t flags;  /* carried out by its last packet: flush, unlock */
    uint8_t notify; /* pkt_op.notify: raised when the result has been read */
    uint32_t ack;
    const struct dtype *type; /* a reference to the datatype of cur, or NULL */
    struct dtype_cursor cur;
    char *base;
    struct pkt_seg segs[];
};

static struct pkt_hdr reply_header(const struct win *w, const struct rma_target *t, uint32_t parts,
                                   size_t len)
{
    struct pkt_hdr hdr = win_header(w, t, PKT_REPLY);
    hdr.count = parts;
    hdr.total = t->posted;
    hdr.len = (uint32_t)(sizeof hdr + len);
    return hdr;
}

static void acknowledge(struct pkt_hdr *reply, uint8_t flags, uint32_t ack)
{
    if (!flags)
        return;
    reply->flags = PKT_F_FLUSH;
    reply->seq = ack;
}

/* begin_part begins a part of len bytes at room, and returns the place of its data, which are
 * padded. */
static char *begin_part(void *room, uint32_t request, uint64_t offset, size_t len)
{
    struct pkt_part *part = room;
    *part = (struct pkt_part){request, (uint32_t)len, offset};
    if (len % sizeof(uint64_t))
        memset((char *)(part + 1) + len, 0, pkt_align(len) - len);
    return (char *)(part + 1);
}

/* ---- short results ---- */

/* take_flags returns the piggybacked flags that a reply carries out, and notes that they are
 * done. */
static uint8_t take_flags(struct replies *r)
{
    const uint8_t flags = r->flags & (PKT_F_FLUSH | PKT_F_UNLOCK);
    r->flags ^= flags;
    return flags;
}

static void end_requests(const struct replies *r, int err)
{
    const char *at = r->out.data;
    for (uint32_t i = 0; i < r->parts; i++) {
        const struct pkt_part *part = (const struct pkt_part *)(const void *)at;
        (void)win_send_header(r->win, r->to, PKT_ERROR, 0, part->request, (uint32_t)err, 0);
        at += sizeof *part + pkt_align(part->len);
    }
}

void target_replies_send(struct replies *r, bool end)
{
    struct ch3_vc *vc = &r->to->peer->vc;
    if (!r->parts)
        return;
    const uint8_t flags = end && !ch3_vc_busy(vc) ? r->flags & (PKT_F_FLUSH | PKT_F_UNLOCK) : 0;
    r->out.hdr = reply_header(r->win, r->to, r->parts, r->used);
    acknowledge(&r->out.hdr, flags, r->ack);
    const int err = ch3_send(vc, &r->out, r->out.hdr.len, &r->win->queued, true);
    if (err)
        end_requests(r, err);
    else if (flags && take_flags(r) & PKT_F_UNLOCK)
        lock_queue_release(r->to->from);
    r->used = r->parts = 0;
}

char *target_reply_room(struct replies *r, const struct target_record *rec)
{
    const size_t need = sizeof(struct pkt_part) + pkt_align(rec->total);
    if (r->used + need > sizeof r->out.data)
        target_replies_send(r, false);
    char *room = r->out.data + r->used;
    r->used += (uint32_t)need;
    r->parts++;
    return begin_part(room, rec->op.request, rec->op.offset, rec->total);
}

/* ---- long results ---- */

/* read_segments copies the next len bytes of the window. */
static void read_segments(struct long_reply *lr, char *to, size_t len)
{
    while (len) {
        const struct pkt_seg *seg = &lr->segs[lr->seg];
        const struct pkt_seg piece = {.disp = seg->disp + (int64_t)lr->seg_pos,
                                      .len = seg->len - lr->seg_pos < len ? seg->len - lr->seg_pos
                                                                          : len};
        memcpy(to, target_seg_addr(lr->win, &piece), piece.len);
        to += piece.len;
        len -= piece.len;
        lr->seg_pos += piece.len;
        if (lr->seg_pos == seg->len) {
            lr->seg++;
            lr->seg_pos = 0;
        }
    }
}

static bool long_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    struct long_reply *lr = LIST_ENTRY(st, struct long_reply, stream);
    struct pkt_hdr *hdr = room;
    const size_t space = (cap - sizeof *hdr - sizeof(struct pkt_part)) & ~(size_t)7,
                 n = lr->left < space ? lr->left : space;
    char *to = begin_part(hdr + 1, lr->request, lr->pos, n);
    *hdr = reply_header(lr->win, lr->to, 1, sizeof(struct pkt_part) + pkt_align(n));
    if (lr->type)
        dtype_pack(&lr->cur, lr->base, to, n);
    else
        read_segments(lr, to, n);
    lr->pos += n;
    lr->left -= n;
    *len = hdr->len;
    if (lr->left == 0)
        acknowledge(hdr, lr->flags, lr->ack);
    return lr->left == 0;
}

static void long_done(struct ch3_stream *st, int err)
{
    struct long_reply *lr = LIST_ENTRY(st, struct long_reply, stream);
    if (!err && lr->flags & PKT_F_UNLOCK)
        lock_queue_release(lr->to->from);
    if (!err && lr->notify)
        notify_arrived(lr->win, lr->to, lr->notify);
    if (lr->type)
        dtype_unref(lr->type);
    free(lr);
}

static int send_long(struct replies *r, const struct target_record *rec, bool last)
{
    struct long_reply *lr = malloc(sizeof *lr + rec->nseg * sizeof *rec->segs);
    if (!lr)
        return MRMA_ERR_NO_MEM;
    const size_t whole = sizeof(struct pkt_hdr) + sizeof(struct pkt_part) + pkt_align(rec->total);
    *lr = (struct long_reply){.stream = {.next = long_next,
                                         .done = long_done,
                                         .wants = rec->total < PKT_REPLY_MAX ? whole : 0,
                                         .owner = &r->win->queued,
                                         .awaited = true},
                              .win = r->win,
                              .to = r->to,
                              .request = rec->op.request,
                              .pos = rec->op.offset,
                              .left = rec->total,
                              .ack = r->ack,
                              .notify = rec->op.notify,
                              .type = rec->typed ? dtype_ref(rec->type) : NULL,
                              .base = rec->base};
    if (rec->typed)
        lr->cur = rec->cur;
    memcpy(lr->segs, rec->segs, rec->nseg * sizeof *rec->segs);
    if (last)
        lr->flags = r->flags & (PKT_F_FLUSH | PKT_F_UNLOCK);
    const int err = ch3_send_stream(&r->to->peer->vc, &lr->stream);
    if (err)
        long_done(&lr->stream, err);
    else if (last)
        (void)take_flags(r);
    return err;
}

/* ---- gets ---- */

int target_reply_get(struct replies *r, struct target_record *rec, bool last)
{
    if (rec->total > SHORT_MAX) {
        target_replies_send(r, false); /* the collected replies are older */
        return send_long(r, rec, last);
    }
    char *to = rec->total ? target_reply_room(r, rec) : NULL;
    if (rec->typed)
        dtype_pack(&rec->cur, rec->base, to, rec->total);
    for (uint32_t i = 0; i < rec->nseg; i++) {
        memcpy(to, target_seg_addr(r->win, &rec->segs[i]), rec->segs[i].len);
        to += rec->segs[i].len;
    }
    if (rec->op.notify)
        notify_arrived(r->win, r->to, rec->op.notify);
    return MRMA_SUCCESS;
}
