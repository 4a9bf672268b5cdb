/*
 * target_apply.c - the records of a packet onto this process's window memory.
 *
 * Everything in a record is checked before anything is touched: kind, operation
 * and type, that segments and data lie in the packet, that segments lie in the
 * window (or in attached memory), that lengths agree. A record that fails is
 * refused: the origin gets a PKT_ERROR and reports it at its next
 * synchronization; the records behind it are still applied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/acc_atomic.h"
#include "rma/direct.h"
#include "rma/fence_counts.h"
#include "rma/region.h"
#include "rma/strict.h"
#include "rma/target.h"
#include "rma/win.h"

struct record {
    const struct pkt_op *op;
    const struct pkt_seg *segs;
    const char *data;
    uint64_t total; /* bytes named by the segments */
};

/* A get's answer on its way: reads the window as the packets leave. */
struct reply {
    struct ch3_stream stream;
    struct win *win;
    struct rma_target *to;
    uint32_t request, nseg, seg;
    uint64_t seg_pos, pos, left;
    struct pkt_seg segs[];
};

static char *window_addr(const struct win *w, const struct pkt_seg *seg)
{
    return w->dynamic ? (char *)(uintptr_t)seg->disp : (char *)w->base + seg->disp;
}

static bool seg_inside(struct win *w, const struct pkt_seg *seg)
{
    if (w->dynamic)
        return region_covers_own(w, (uint64_t)seg->disp, seg->len);
    return seg->disp >= 0 && (uint64_t)seg->disp <= w->size && seg->len <= w->size - (uint64_t)seg->disp;
}

static int check_segments(struct win *w, struct record *rec)
{
    const size_t unit = rec->op->type ? acc_extent(rec->op->type) : 1;
    rec->total = 0;
    for (uint32_t i = 0; i < rec->op->nseg; i++) {
        const struct pkt_seg *seg = &rec->segs[i];
        if (!seg_inside(w, seg))
            return MRMA_ERR_RMA_RANGE;
        if (!seg->len || seg->len % unit || seg->len > SIZE_MAX / 2 - rec->total)
            return MRMA_ERR_COUNT;
        rec->total += seg->len;
    }
    return MRMA_SUCCESS;
}

/* Does the record's data length fit its kind? */
static int check_kind(const struct record *rec)
{
    const struct pkt_op *op = rec->op;
    const bool acc = op->kind == PKT_OP_ACC || op->kind == PKT_OP_GET_ACC;
    switch (op->kind) {
    case PKT_OP_PUT:
        return op->data_len == rec->total ? MRMA_SUCCESS : MRMA_ERR_COUNT;
    case PKT_OP_GET:
        return op->data_len == 0 ? MRMA_SUCCESS : MRMA_ERR_COUNT;
    case PKT_OP_CAS:
        return op->type && op->nseg == 1 && rec->total == acc_extent(op->type) &&
                       op->data_len == 2 * rec->total
                   ? MRMA_SUCCESS
                   : MRMA_ERR_COUNT;
    default:
        break;
    }
    if (!acc || !op->type || op->op == ACC_OP_NONE || !acc_allowed(op->op, op->type))
        return MRMA_ERR_OP;
    if (op->kind == PKT_OP_GET_ACC && rec->total > PKT_MAX - sizeof(struct pkt_hdr))
        return MRMA_ERR_COUNT;
    return op->data_len == (op->op == ACC_NO_OP ? 0 : rec->total) ? MRMA_SUCCESS : MRMA_ERR_COUNT;
}

/* Cut the next record out of the packet. False: malformed, the rest is lost. */
static bool parse(const char **at, const char *end, struct record *rec)
{
    const size_t room = (size_t)(end - *at);
    rec->op = (const struct pkt_op *)(const void *)*at;
    if (room < sizeof *rec->op)
        return false;
    const size_t left = room - sizeof *rec->op;
    if (rec->op->kind == PKT_OP_NONE || rec->op->kind >= PKT_OP_KIND_LAST || rec->op->op >= ACC_OP_LAST ||
        rec->op->type >= ACC_TYPE_LAST || rec->op->nseg > left / sizeof *rec->segs)
        return false;
    const size_t data_room = left - rec->op->nseg * sizeof *rec->segs;
    if (rec->op->data_len > data_room || pkt_align(rec->op->data_len) > data_room)
        return false;
    rec->segs = (const struct pkt_seg *)(rec->op + 1);
    rec->data = (const char *)(rec->segs + rec->op->nseg);
    *at = rec->data + pkt_align(rec->op->data_len);
    return true;
}

static void apply_put(struct win *w, const struct record *rec)
{
    const char *data = rec->data;
    for (uint32_t i = 0; i < rec->op->nseg; i++) {
        memcpy(window_addr(w, &rec->segs[i]), data, rec->segs[i].len);
        data += rec->segs[i].len;
    }
}

static bool reply_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    struct reply *rp = LIST_ENTRY(st, struct reply, stream);
    struct pkt_hdr *hdr = room;
    char *to = (char *)(hdr + 1);
    size_t space = cap - sizeof *hdr;
    *hdr = (struct pkt_hdr){.version = PKT_VERSION, .type = PKT_REPLY, .win = rp->to->remote_win,
                            .win_gen = rp->to->remote_gen, .rank = (uint32_t)rp->win->rank,
                            .count = rp->request, .offset = rp->pos};
    while (space && rp->left) {
        struct pkt_seg part = {.disp = rp->segs[rp->seg].disp + (int64_t)rp->seg_pos,
                               .len = rp->segs[rp->seg].len - rp->seg_pos};
        if (part.len > space)
            part.len = space;
        memcpy(to, window_addr(rp->win, &part), part.len);
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
    return rp->left == 0;
}

static void reply_done(struct ch3_stream *st, int err)
{
    (void)err;
    free(LIST_ENTRY(st, struct reply, stream));
}

static int apply_get(struct win *w, struct rma_target *t, const struct record *rec)
{
    if (!rec->total)
        return MRMA_SUCCESS;
    struct reply *rp = malloc(sizeof *rp + rec->op->nseg * sizeof *rec->segs);
    if (!rp)
        return MRMA_ERR_NO_MEM;
    *rp = (struct reply){.stream = {.next = reply_next, .done = reply_done, .owner = &w->queued}, .win = w, .to = t,
                         .request = rec->op->request, .nseg = rec->op->nseg, .pos = rec->op->offset,
                         .left = rec->total};
    memcpy(rp->segs, rec->segs, rec->op->nseg * sizeof *rec->segs);
    if (rp->left + sizeof(struct pkt_hdr) < PKT_MAX)
        rp->stream.wants = rp->left + sizeof(struct pkt_hdr);
    int err = ch3_send_stream(&t->peer->vc, &rp->stream);
    if (err)
        free(rp);
    return err;
}

/* ACC, GET_ACC and CAS: under the stripe locks, as every other accumulate. */
static int apply_acc(struct win *w, struct rma_target *t, const struct record *rec)
{
    const struct pkt_op *op = rec->op;
    const bool fetch = op->kind != PKT_OP_ACC;
    struct {
        struct pkt_hdr hdr;
        char data[PKT_MAX - sizeof(struct pkt_hdr)];
    } out;
    const char *data = rec->data;
    char *old = out.data;
    int err = acc_lock_mode(w, w->ctl);
    if (err)
        return err;
    for (uint32_t i = 0; i < op->nseg; i++) {
        char *at = window_addr(w, &rec->segs[i]);
        const size_t len = rec->segs[i].len;
        if (op->kind == PKT_OP_CAS)
            direct_cas(w->rma->env->stripes, (uint64_t)(uintptr_t)at, at, data, data + len, old, len);
        else
            direct_acc_piece(w->rma->env->stripes, (uint64_t)(uintptr_t)at, at, op->op, op->type, data,
                             fetch ? old : NULL, len);
        data += op->data_len ? len : 0;
        old += len;
    }
    if (!fetch)
        return MRMA_SUCCESS;
    out.hdr = (struct pkt_hdr){.version = PKT_VERSION, .type = PKT_REPLY, .win = t->remote_win,
                               .win_gen = t->remote_gen, .rank = (uint32_t)w->rank, .count = op->request,
                               .len = (uint32_t)(sizeof out.hdr + rec->total), .offset = op->offset};
    return ch3_send_owned(&t->peer->vc, &out, out.hdr.len, &w->queued);
}

static bool is_fetch(const struct record *rec)
{
    return rec->op->kind == PKT_OP_GET || rec->op->kind == PKT_OP_GET_ACC || rec->op->kind == PKT_OP_CAS;
}

static void refuse_record(struct win *w, struct rma_target *t, const struct record *rec, int err)
{
    (void)target_send_simple(w, t, PKT_ERROR, 0, is_fetch(rec) ? rec->op->request : 0, (uint32_t)err, 0);
}

static int apply_record(struct win *w, struct rma_target *t, struct record *rec, unsigned epoch)
{
    int err = check_segments(w, rec);
    if (!err)
        err = check_kind(rec);
    if (unlikely(w->strict) && !err)
        err = strict_arrival(w, rec->op->kind, rec->op->op, epoch);
    if (!err) {
        if (rec->op->kind == PKT_OP_PUT)
            apply_put(w, rec);
        else if (rec->op->kind == PKT_OP_GET)
            err = apply_get(w, t, rec);
        else
            err = apply_acc(w, t, rec);
    }
    if (err)
        refuse_record(w, t, rec, err);
    return err;
}

static uint64_t named_bytes(const struct record *rec)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rec->op->nseg; i++)
        sum += rec->segs[i].len;
    return sum;
}

/* The next record of the packet. Where it cannot be read the rest of the packet is
 * lost, and with it the names of the requests in there. */
static int next_record(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const char **at,
                       struct record *rec)
{
    if (parse(at, (const char *)hdr + hdr->len, rec))
        return MRMA_SUCCESS;
    (void)target_send_simple(w, t, PKT_ERROR, PKT_ERROR_ALL, 0, MRMA_ERR_INTERN, 0);
    return MRMA_ERR_INTERN;
}

/* For the fence that ends the phase. Ring puts are not counted: it drains the rings. */
static void count_arrived(struct win *w, struct rma_target *t, uint64_t bytes)
{
    t->from->phase_bytes += (uint32_t)bytes;
    if (!t->direct)
        w->phase_arrived += bytes;
}

int target_apply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr)
{
    const char *at = (const char *)(hdr + 1);
    int first = MRMA_SUCCESS;
    for (uint32_t i = 0; i < hdr->count; i++) {
        struct record rec;
        int err = next_record(w, t, hdr, &at, &rec);
        if (err) {
            t->from->phase_broken |= hdr->epoch == PKT_EPOCH_FENCE;
            if (hdr->epoch == PKT_EPOCH_FENCE)
                fence_counts_lost(w);
            return err;
        }
        if (hdr->epoch == PKT_EPOCH_FENCE)
            count_arrived(w, t, named_bytes(&rec));
        err = apply_record(w, t, &rec, hdr->epoch);
        if (!first)
            first = err;
    }
    return first;
}

void target_refuse_records(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, int err)
{
    const char *at = (const char *)(hdr + 1);
    bool told = false;
    for (uint32_t i = 0; i < hdr->count; i++) {
        struct record rec;
        if (next_record(w, t, hdr, &at, &rec))
            return;
        if (!told || is_fetch(&rec))
            refuse_record(w, t, &rec, err);
        told = true;
    }
    if (!told)
        (void)target_send_simple(w, t, PKT_ERROR, 0, 0, (uint32_t)err, 0);
}
