/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair_ops.c - puts operations into packets (origin's side).
 *
 * A short operation becomes records in the open packet; a long one a stream that reads the user's
 * buffer packet by packet. Where a target datatype is in many pieces it is sent once, in front of
 * the operation, and named from then on.
 *
 * Ownership: a stream holds references to the datatypes whose cursors it uses and points into the
 * user's buffer, which stays the library's until the operation is locally complete. The stream is
 * freed when its last packet has left, or the connection is lost. Locks: the engine's, taken in
 * this file.
 */
#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/atomics.h"
#include "rma/origin/await_open.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/issue.h"
#include "rma/origin/op_record.h"
#include "rma/origin/op_request.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/pair_epoch.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/types/type_table.h"
#include "rma/win/win.h"

/* TAIL_MAX: copying costs less than another packet */
enum { SMALL_OP = PKT_MAX / 2, TAIL_MAX = PKT_MAX / 4 };

/* wants_type returns whether src should name its target bytes by a datatype, which it does unless
 * segments are shorter. The target accepts neither pieces that overlap (range) nor types whose
 * elements are not simply their bytes. */
static bool wants_type(const struct record_source *src)
{
    const struct dtype *type = src->ttype;
    const size_t known = sizeof(struct pkt_typed) / sizeof(struct pkt_seg);
    int64_t lo, hi;
    return !src->contig && record_segments(src, known + 1) > known && !type->list &&
           type->nruns <= PKT_TYPE_RUNS && src->target_cur.runs == type->runs &&
           type_table_range(type, src->count, src->base, &lo, &hi);
}

/* make_types returns the pair's table of datatypes, and makes it on first use; NULL: no memory. */
static struct type_table *make_types(struct pkt_target *pt)
{
    if (!pt->types)
        pt->types = type_table_new(pt->win->first_number);
    return pt->types;
}

/* type_due returns whether the definition of src's datatype must go to the target in front of the
 * next record. */
static bool type_due(const struct pkt_target *pt, const struct record_source *src)
{
    return src->typed && !type_table_find(pt->types, src->ttype);
}

/* name_type sets the number of src's datatype, and enters the datatype into the table if its
 * definition goes in front. */
static void name_type(struct pkt_target *pt, struct record_source *src)
{
    if (src->typed)
        src->id = src->define ? type_table_add(pt->types, src->ttype)
                              : type_table_find(pt->types, src->ttype);
}

/* record_most returns how many bytes behind record_min all of src would take, if that is less than
 * a packet. */
static size_t record_most(const struct record_source *src)
{
    const size_t segments = src->typed ? 0 : record_segments(src, PKT_MAX / sizeof(struct pkt_seg));
    const size_t data = src->data && src->left < PKT_MAX ? src->left : src->data ? PKT_MAX : 0;
    return segments * sizeof(struct pkt_seg) + pkt_align(data);
}

/* count_phase counts bytes of the fence phase. Both sides count only what belongs to the phase,
 * since operations that follow the marker of the closing fence (in a lock epoch) may be applied
 * before the marker takes effect. Only bytes that are sure to leave are counted; otherwise the
 * target would wait for the rest. */
static void count_phase(struct pkt_target *pt, size_t bytes)
{
    const struct win *w = pt->win;
    const enum epoch_state now = epoch_now(&w->epoch);
    if (now == EPOCH_FENCE_USED || now == EPOCH_FENCE ||
        w->origin_side.fence_closing) /* as pkt_epoch_kind */
        pt->phase_bytes += bytes;
}

static int append_records(struct pkt_target *pt, struct record_source *src)
{
    const size_t before = src->pos;
    while (src->left) {
        const bool define = src->define = type_due(pt, src);
        const size_t need = record_min(src), wish = need + record_most(src);
        const int err = pt->room - pt->used < wish ? pkt_make_room(pt, need, wish) : MRMA_SUCCESS;
        if (err)
            return err;
        src->define = type_due(pt, src);
        if (src->define && !define) /* the table was emptied while this thread waited */
            continue;
        name_type(pt, src);
        pkt_add_records(pt, src->define ? 2 : 1);
        pt->used += (uint32_t)record_build(src, pt->buf + pt->used, pt->room - pt->used);
    }
    count_phase(pt, src->pos - before);
    return MRMA_SUCCESS;
}

/* ---- long operations ---- */

struct origin_stream {
    struct ch3_stream stream;
    struct pkt_target *pt;
    struct record_source src;
    const struct dtype *otype, *ttype;
    struct rma_req *req;
    struct pkt_hdr hdr; /* header of every packet, except for len and count; the flags are those of
                           the first packet */
};

static bool stream_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    struct origin_stream *os = LIST_ENTRY(st, struct origin_stream, stream);
    struct pkt_hdr *hdr = room;
    *hdr = os->hdr;
    os->hdr.flags = 0;
    hdr->count = os->src.define ? 2 : 1;
    *len = sizeof *hdr + record_build(&os->src, hdr + 1, cap - sizeof *hdr);
    hdr->len = (uint32_t)*len;
    return os->src.left == 0;
}

static void stream_done(struct ch3_stream *st, int err)
{
    struct origin_stream *os = LIST_ENTRY(st, struct origin_stream, stream);
    os->pt->streams--;
    os->pt->win->origin_side.streams--;
    if (err && !os->pt->win->origin_side.err)
        os->pt->win->origin_side.err = err;
    origin_discharge(os->req, err);
    dtype_unref(os->otype);
    dtype_unref(os->ttype);
    free(os);
}

/* start_stream returns the errors of ch3_send_stream, or MRMA_ERR_NO_MEM. The operation's rma_req
 * is charged with the stream until its last packet has left. */
static int start_stream(struct pkt_target *pt, const struct record_source *src,
                        const struct rma_op *op)
{
    struct origin_stream *os = malloc(sizeof *os);
    if (!os)
        return log_fail(pt->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a large operation");
    *os = (struct origin_stream){
        .stream = {.next = stream_next, .done = stream_done, .owner = &pt->win->queued},
        .pt = pt,
        .src = *src,
        .otype = dtype_ref(op->otype),
        .ttype = dtype_ref(op->ttype),
        .req = op->req,
        .hdr = pkt_ops_header(pt)};
    pkt_take_lock(pt, &os->hdr);
    pt->unconfirmed = true;
    pt->streams++;
    pt->win->origin_side.streams++;
    origin_charge(op->req);
    int err = ch3_send_stream(&pt->target->peer->vc, &os->stream);
    if (err)
        stream_done(&os->stream, err);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pt->win, pt->target) : err;
}

/* stream_packets returns how many packets src takes at most, or SIZE_MAX if it is in many pieces.
 * They do not include *tail, the last bytes, which would be a short packet and go into the open
 * packet instead. */
static size_t stream_packets(const struct record_source *src, size_t *tail)
{
    const size_t heads = sizeof(struct pkt_op) + sizeof(struct pkt_seg) + src->unit;
    const size_t per = src->plain ? RECORD_PLAIN_MAX : PKT_MAX - sizeof(struct pkt_hdr) - heads;
    const size_t rest = src->left % per;
    *tail = src->plain && src->left > per && rest <= TAIL_MAX ? rest : 0;
    return src->contig ? (src->left - *tail + per - 1) / per : SIZE_MAX;
}

/* stream_records sends a long operation in packets from the user's buffer, behind the open packet;
 * a put may overtake that. */
static int stream_records(struct pkt_target *pt, struct record_source *src, const struct rma_op *op)
{
    size_t tail;
    int err = pkt_await_stream(pt, stream_packets(src, &tail), src->plain);
    if (!err)
        err = pkt_make_stream_room(pt);
    if (err)
        return err;
    /* The stream overtakes what another thread has meanwhile put into the open packet, and the
     * definition of the datatype may be in there. */
    src->typed = src->typed && !pt->count;
    /* nothing overtakes the stream, so its packets may name the datatype */
    src->define = type_due(pt, src);
    name_type(pt, src);
    const size_t bytes = src->left -= tail;
    const uint8_t notify = src->notify;
    src->notify = tail ? 0 : notify; /* behind the last byte */
    err = start_stream(pt, src, op);
    if (err)
        return err;
    count_phase(pt, bytes);
    src->pos += bytes;
    src->left = tail;
    src->notify = notify;
    return append_records(pt, src);
}

/* ---- any operation ---- */

static bool request_room(void *arg)
{
    const struct pkt_target *pt = arg;
    return origin_request_room(pt);
}

/* make_request_room makes progress until there is room for a request, since their number is
 * bounded. Requests for which somebody waits must have left. */
static int make_request_room(struct pkt_target *pt)
{
    int err = MRMA_SUCCESS;
    /* again, since another thread may use up the room while this one waits */
    while (!err && !origin_request_room(pt)) {
        if (pt->count)
            err = pkt_send_open(pt, 0, true);
        if (!err)
            err = pkt_wait(pt, request_room, "replies, for room for another request");
    }
    return err;
}

/* packets_due returns how many packets must leave before src is issued; SIZE_MAX: unknown. */
static size_t packets_due(const struct pkt_target *pt, const struct record_source *src, bool stream)
{
    const size_t define = type_due(pt, src) ? type_table_size(src->ttype) : 0;
    const size_t more = src->left / src->limit * (sizeof(struct pkt_op) + sizeof(struct pkt_typed));
    const size_t wish = record_min(src) + record_most(src) + define + more;
    size_t tail;
    if (stream) {
        const size_t packets = stream_packets(src, &tail);
        return packets == SIZE_MAX ? SIZE_MAX : packets + (pt->count || tail);
    }
    if (wish <= PKT_MAX - pt->used)
        return 0;
    return wish <= PKT_MAX - sizeof(struct pkt_hdr) ? 1 : SIZE_MAX;
}

/* is_early returns whether src would wait because its target has not begun its part of the
 * epoch. */
static bool is_early(const struct pkt_target *pt, const struct record_source *src,
                     const struct rma_req *req, bool stream)
{
    if (pkt_epoch_is_open(pt) || !pkt_may_defer(pt, req))
        return false;
    if (pkt_fetches(src->kind) && !origin_request_room(pt))
        return true;
    const size_t packets = packets_due(pt, src, stream);
    return packets && !pkt_may_send_early(pt, packets);
}

/* begin_source sets up src for op. Returns whether the operation becomes a stream. */
static bool begin_source(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op,
                         int64_t offset, struct record_source *src)
{
    record_source_init(src, kind, op, offset, 0);
    src->typed = wants_type(src) && make_types(pt); /* without memory: by segments */
    if (src->typed && src->limit > PKT_TYPED_DYNAMIC && pt->win->dynamic)
        src->limit = PKT_TYPED_DYNAMIC;
    return src->data && src->left > SMALL_OP;
}

static int append_or_stream(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op,
                            int64_t offset)
{
    const bool fetch = pkt_fetches(kind);
    struct record_source src;
    const bool stream = begin_source(pt, kind, op, offset, &src);
    int err = MRMA_SUCCESS;
    if (is_early(pt, &src, op->req, stream))
        err = pkt_open_soon(pt);
    if (fetch && !err)
        err = make_request_room(pt);
    if (fetch && !err)
        err = origin_request(pt, kind, op, &src.request);
    if (err)
        return err;
    err = stream ? stream_records(pt, &src, op) : append_records(pt, &src);
    pt->asks += fetch && !err && pt->count;
    if (err && src.request)
        origin_request_cancel(pt->win, src.request, err);
    return err;
}

/* append_notification adds a put of no bytes, which only notifies. */
static int append_notification(struct pkt_target *pt, const struct rma_op *op)
{
    const size_t need = sizeof(struct pkt_op);
    const int err = pt->room - pt->used < need ? pkt_make_room(pt, need, need) : MRMA_SUCCESS;
    if (err)
        return err;
    pt->used += (uint32_t)record_notify(pt->buf + pt->used, (uint8_t)op->notify);
    pkt_add_records(pt, 1);
    count_phase(pt, PKT_NOTIFY_BYTES);
    return MRMA_SUCCESS;
}

/* send_notification sends a notification at once, since the target waits for it and this process
 * may synchronize late. Only in an active target epoch that the target has not begun, and if no
 * further packet may be early, the notification leaves with the end of the epoch. */
static int send_notification(struct pkt_target *pt)
{
    struct win *w = pt->win;
    win_count_notified(w);
    early_note(pt);
    if (!pt->count ||
        (!epoch_is_passive(&w->epoch) && !pkt_epoch_is_open(pt) && !pkt_may_send_early(pt, 1)))
        return MRMA_SUCCESS;
    return pkt_send_open(pt, 0, true);
}

/* nothing_in_flight returns whether, as far as answers tell, nothing is on its way to the target,
 * and nothing in the open packet has waited for such an answer. For an operation that fetches the
 * reply tells that it has arrived; for any other nothing tells that before a flush. */
static bool nothing_in_flight(const struct pkt_target *pt, enum pkt_op_kind kind)
{
    return pt->replies == pt->asks && pt->acks_seen == pt->acks_due && !pt->unsent.awaited &&
           (pkt_fetches(kind) || !issue_unflushed(pt));
}

/* may_stay returns whether an operation with a request may wait in the open packet for others.
 * Without an agent nobody would send the packet later. */
static bool may_stay(const struct pkt_target *pt)
{
    return rma_has_agent(pt->win->rma) || pkt_epoch_is_open(pt);
}

/* leave_request sends an operation with a request at once if nothing is in flight to its target.
 * Operations behind it share packets, which leave when the program asks for any request, or when
 * the answers to the operations before have come (pkt_word_came), since the program may never
 * synchronize. */
static int leave_request(struct pkt_target *pt, bool alone)
{
    if (!pt->count)
        return MRMA_SUCCESS;
    if (!may_stay(pt))
        return pkt_send_open(pt, 0, true);
    unsent_await(pt->win->rma, &pt->unsent);
    return alone ? pkt_send_or_ask(pt) : MRMA_SUCCESS;
}

/* end_request_call is the rest of a call with a request; err is the result of putting its operation
 * into a packet. */
static int end_request_call(struct pkt_target *pt, struct rma_req *req, int err, bool alone)
{
    if (!err)
        err = leave_request(pt, alone);
    return err ? origin_abandon(pt, req, err) : MRMA_SUCCESS;
}

static int issue(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op, size_t len)
{
    const int64_t offset = op->disp * (int64_t)pt->target->disp_unit;
    const bool alone = op->req && nothing_in_flight(pt, kind);
    pkt_target_touch(pt);
    int err = pkt_await_unlocked(pt);
    if (!err)
        err = len ? append_or_stream(pt, kind, op, offset) : append_notification(pt, op);
    if (err == MRMA_AGAIN) /* not of a request */
        return err;
    /* only now, since another thread may have flushed while this one waited */
    if (!pkt_fetches(kind))
        pt->written++;
    if (unlikely(op->notify))
        return err ? err : send_notification(pt);
    if (likely(!op->req))
        return err;
    return end_request_call(pt, op->req, err, alone);
}

/* ---- from the path ---- */

/* append_plain is for the commonest operation, a short put of contiguous bytes by a pair that has
 * sent in its epoch before: it writes the record without a record_source, if there is room. pt is
 * NULL if there is no pair yet. */
static inline __attribute__((always_inline)) bool append_plain(const struct win *w,
                                                               struct pkt_target *pt,
                                                               const void *from, int64_t offset,
                                                               size_t len)
{
    if (!pt || !list_node_queued(&pt->touched) ||
        pt->epoch_seen != atomic_load_explicit(&w->gen, memory_order_relaxed) ||
        !pkt_is_plain(offset) || !len || len > SMALL_OP ||
        pt->room - pt->used < sizeof(struct pkt_plain) + pkt_align(len))
        return false;
    pt->used += (uint32_t)record_plain(pt->buf + pt->used, from, (uint32_t)offset, len, 0);
    pkt_add_records(pt, 1);
    pt->written++;
    count_phase(pt, len);
    return true;
}

bool issue_plain(struct win *w, struct rma_target *t, const void *from, int64_t offset, size_t len)
{
    rma_enter(w->rma);
    const bool done = append_plain(w, t->pkt, from, offset, len);
    rma_leave(w->rma);
    return done;
}

bool issue_plain_request(struct win *w, struct rma_target *t, const void *from, int64_t offset,
                         size_t len)
{
    rma_enter(w->rma);
    struct pkt_target *pt = t->pkt;
    const bool stays = pt != NULL && !nothing_in_flight(pt, PKT_OP_PUT) && may_stay(pt);
    const bool done = stays && append_plain(w, pt, from, offset, len);
    if (done)
        unsent_await(w->rma, &pt->unsent);
    rma_leave(w->rma);
    return done;
}

/* MRMA_AGAIN: nothing was done, since the operation would wait for its target. */
static int issue_now(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                     const struct rma_op *op, int64_t offset, size_t len)
{
    const bool plain = kind == PKT_OP_PUT && op->otype->contig && op->ttype->contig && !op->notify;
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    struct pkt_target *pt = t->pkt;
    const bool alone = op->req && pt && nothing_in_flight(pt, kind);
    if (!plain || !append_plain(w, pt, op->oaddr, offset, len)) {
        pt = pkt_target_get(w, t);
        err = pt ? issue(pt, kind, op, len) : MRMA_ERR_NO_MEM;
    } else if (op->req) {
        err = end_request_call(pt, op->req, MRMA_SUCCESS, alone);
    }
    rma_leave(w->rma);
    return err;
}

int issue_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len)
{
    int err;
    do
        err = issue_now(w, t, kind, op, offset, len);
    while (unlikely(err == MRMA_AGAIN) && !w->rma->defer(w, t, kind, op, offset, len, &err) &&
           !err);
    return err;
}

bool issue_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, size_t len, int *err)
{
    struct pkt_target *pt = t->pkt;
    if (atomics_used(w) && kind != PKT_OP_PUT && kind != PKT_OP_GET) /* must not meet packets' */
        return false;
    if (!pt || !len || op->req || op->notify || !pkt_make_ready_now(pt) ||
        (pkt_fetches(kind) && !origin_request_room(pt)))
        return false;
    pt = pkt_target_get(w, t);
    pt->hurries = true;
    *err = issue(pt, kind, op, len);
    pt->hurries = false;
    return true;
}
