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
#include "rma/notify/notify.h"
#include "rma/origin/atomics.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/op_record.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/pair_ops.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/types/type_table.h"
#include "rma/win/win.h"

/* TAIL_MAX: copying costs less than another packet */
enum { SMALL_OP = PKT_MAX / 2, TAIL_MAX = PKT_MAX / 4 };

/* wants_type returns whether src should name its target bytes by a datatype, which it does unless
 * segments are shorter. The target accepts neither pieces that overlap (range) nor types whose
 * elements are not simply their bytes. */
static bool wants_type(const struct origin_record *src)
{
    const struct dtype *type = src->ttype;
    const size_t known = sizeof(struct pkt_typed) / sizeof(struct pkt_seg);
    int64_t lo, hi;
    return !src->contig && origin_record_segments(src, known + 1) > known && !type->list &&
           type->nruns <= PKT_TYPE_RUNS && src->target_cur.runs == type->runs &&
           type_table_range(type, src->count, src->base, &lo, &hi);
}

/* make_types returns the pair's table of datatypes, and makes it on first use; NULL: no memory. */
static struct type_table *make_types(struct origin_pair *pair)
{
    if (!pair->types)
        pair->types = type_table_new(pair->win->first_number);
    return pair->types;
}

/* type_due returns whether the definition of src's datatype must go to the target in front of the
 * next record. */
static bool type_due(const struct origin_pair *pair, const struct origin_record *src)
{
    return src->typed && !type_table_find(pair->types, src->ttype);
}

/* name_type sets the number of src's datatype, and enters the datatype into the table if its
 * definition goes in front. */
static void name_type(struct origin_pair *pair, struct origin_record *src)
{
    if (src->typed)
        src->id = src->define ? type_table_add(pair->types, src->ttype)
                              : type_table_find(pair->types, src->ttype);
}

/* record_most returns how many bytes behind origin_record_min all of src would take, if that is
 * less than a packet. */
static size_t record_most(const struct origin_record *src)
{
    const size_t segments =
        src->typed ? 0 : origin_record_segments(src, PKT_MAX / sizeof(struct pkt_seg));
    const size_t data = src->data && src->left < PKT_MAX ? src->left : src->data ? PKT_MAX : 0;
    return segments * sizeof(struct pkt_seg) + pkt_align(data);
}

/* count_phase counts bytes of the fence phase. Both sides count only what belongs to the phase,
 * since operations that follow the marker of the closing fence (in a lock epoch) may be applied
 * before the marker takes effect. Only bytes that are sure to leave are counted; otherwise the
 * target would wait for the rest. */
static void count_phase(struct origin_pair *pair, size_t bytes)
{
    const struct win *w = pair->win;
    const enum epoch_state now = epoch_now(&w->epoch);
    if (now == EPOCH_FENCE_USED || now == EPOCH_FENCE ||
        w->origin_side.fence_closing) /* as origin_epoch_kind */
        pair->phase_bytes += bytes;
}

static int append_records(struct origin_pair *pair, struct origin_record *src)
{
    const size_t before = src->pos;
    while (src->left) {
        const bool define = src->define = type_due(pair, src);
        const size_t need = origin_record_min(src), wish = need + record_most(src);
        const int err =
            pair->room - pair->used < wish ? origin_make_room(pair, need, wish) : MRMA_SUCCESS;
        if (err)
            return err;
        src->define = type_due(pair, src);
        if (src->define && !define) /* the table was emptied while this thread waited */
            continue;
        name_type(pair, src);
        origin_add_records(pair, src->define ? 2 : 1);
        pair->used +=
            (uint32_t)origin_record_build(src, pair->buf + pair->used, pair->room - pair->used);
    }
    count_phase(pair, src->pos - before);
    return MRMA_SUCCESS;
}

/* ---- long operations ---- */

struct origin_stream {
    struct ch3_stream stream;
    struct origin_pair *pair;
    struct origin_record src;
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
    *len = sizeof *hdr + origin_record_build(&os->src, hdr + 1, cap - sizeof *hdr);
    hdr->len = (uint32_t)*len;
    return os->src.left == 0;
}

static void stream_done(struct ch3_stream *st, int err)
{
    struct origin_stream *os = LIST_ENTRY(st, struct origin_stream, stream);
    os->pair->streams--;
    os->pair->win->origin_side.streams--;
    if (err && !os->pair->win->origin_side.err)
        os->pair->win->origin_side.err = err;
    origin_discharge(os->req, err);
    dtype_unref(os->otype);
    dtype_unref(os->ttype);
    free(os);
}

/* start_stream returns the errors of ch3_send_stream, or MRMA_ERR_NO_MEM. The operation's rma_req
 * is charged with the stream until its last packet has left. */
static int start_stream(struct origin_pair *pair, const struct origin_record *src,
                        const struct rma_op *op)
{
    struct origin_stream *os = malloc(sizeof *os);
    if (!os)
        return log_fail(pair->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a large operation");
    *os = (struct origin_stream){
        .stream = {.next = stream_next, .done = stream_done, .owner = &pair->win->queued},
        .pair = pair,
        .src = *src,
        .otype = dtype_ref(op->otype),
        .ttype = dtype_ref(op->ttype),
        .req = op->req,
        .hdr = origin_ops_header(pair)};
    origin_carry_lock(pair, &os->hdr);
    pair->unconfirmed = true;
    pair->streams++;
    pair->win->origin_side.streams++;
    origin_charge(op->req);
    int err = ch3_send_stream(&pair->target->peer->vc, &os->stream);
    if (err)
        stream_done(&os->stream, err);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pair->win, pair->target) : err;
}

/* stream_packets returns how many packets src takes at most, or SIZE_MAX if it is in many pieces.
 * They do not include *tail, the last bytes, which would be a short packet and go into the open
 * packet instead. */
static size_t stream_packets(const struct origin_record *src, size_t *tail)
{
    const size_t heads = sizeof(struct pkt_op) + sizeof(struct pkt_seg) + src->unit;
    const size_t per =
        src->plain ? ORIGIN_RECORD_PLAIN_MAX : PKT_MAX - sizeof(struct pkt_hdr) - heads;
    const size_t rest = src->left % per;
    *tail = src->plain && src->left > per && rest <= TAIL_MAX ? rest : 0;
    return src->contig ? (src->left - *tail + per - 1) / per : SIZE_MAX;
}

/* stream_records sends a long operation in packets from the user's buffer, behind the open packet;
 * a put may overtake that. */
static int stream_records(struct origin_pair *pair, struct origin_record *src,
                          const struct rma_op *op)
{
    size_t tail;
    int err = origin_await_stream(pair, stream_packets(src, &tail), src->plain);
    if (!err)
        err = origin_make_stream_room(pair);
    if (err)
        return err;
    /* The stream overtakes what another thread has meanwhile put into the open packet, and the
     * definition of the datatype may be in there. */
    src->typed = src->typed && !pair->count;
    /* nothing overtakes the stream, so its packets may name the datatype */
    src->define = type_due(pair, src);
    name_type(pair, src);
    const size_t bytes = src->left -= tail;
    const uint8_t notify = src->notify;
    src->notify = tail ? 0 : notify; /* behind the last byte */
    err = start_stream(pair, src, op);
    if (err)
        return err;
    count_phase(pair, bytes);
    src->pos += bytes;
    src->left = tail;
    src->notify = notify;
    return append_records(pair, src);
}

/* ---- any operation ---- */

static bool request_room(void *arg)
{
    const struct origin_pair *pair = arg;
    return origin_request_room(pair);
}

/* make_request_room makes progress until there is room for a request, since their number is
 * bounded. Requests for which somebody waits must have left. */
static int make_request_room(struct origin_pair *pair)
{
    int err = MRMA_SUCCESS;
    /* again, since another thread may use up the room while this one waits */
    while (!err && !origin_request_room(pair)) {
        if (pair->count)
            err = origin_send_open(pair, 0, true);
        if (!err)
            err = origin_pair_wait(pair, request_room, "replies, for room for another request");
    }
    return err;
}

/* packets_due returns how many packets must leave before src is issued; SIZE_MAX: unknown. */
static size_t packets_due(const struct origin_pair *pair, const struct origin_record *src,
                          bool stream)
{
    const size_t define = type_due(pair, src) ? type_table_size(src->ttype) : 0;
    const size_t more = src->left / src->limit * (sizeof(struct pkt_op) + sizeof(struct pkt_typed));
    const size_t wish = origin_record_min(src) + record_most(src) + define + more;
    size_t tail;
    if (stream) {
        const size_t packets = stream_packets(src, &tail);
        return packets == SIZE_MAX ? SIZE_MAX : packets + (pair->count || tail);
    }
    if (wish <= PKT_MAX - pair->used)
        return 0;
    return wish <= PKT_MAX - sizeof(struct pkt_hdr) ? 1 : SIZE_MAX;
}

/* is_early returns whether src would wait because its target has not begun its part of the
 * epoch. */
static bool is_early(const struct origin_pair *pair, const struct origin_record *src,
                     const struct rma_req *req, bool stream)
{
    if (origin_epoch_is_open(pair) || !origin_may_defer(pair, req))
        return false;
    if (pkt_fetches(src->kind) && !origin_request_room(pair))
        return true;
    const size_t packets = packets_due(pair, src, stream);
    return packets && !origin_may_send_early(pair, packets);
}

/* begin_source sets up src for op. Returns whether the operation becomes a stream. */
static bool begin_source(struct origin_pair *pair, enum pkt_op_kind kind, const struct rma_op *op,
                         int64_t offset, struct origin_record *src)
{
    origin_record_init(src, kind, op, offset, 0);
    src->typed = wants_type(src) && make_types(pair); /* without memory: by segments */
    if (src->typed && src->limit > PKT_TYPED_DYNAMIC && pair->win->dynamic)
        src->limit = PKT_TYPED_DYNAMIC;
    return src->data && src->left > SMALL_OP;
}

static int append_or_stream(struct origin_pair *pair, enum pkt_op_kind kind,
                            const struct rma_op *op, int64_t offset)
{
    const bool fetch = pkt_fetches(kind);
    struct origin_record src;
    const bool stream = begin_source(pair, kind, op, offset, &src);
    int err = MRMA_SUCCESS;
    if (is_early(pair, &src, op->req, stream))
        err = origin_await_open_briefly(pair);
    if (fetch && !err)
        err = make_request_room(pair);
    if (fetch && !err)
        err = origin_request_new(pair, kind, op, &src.request);
    if (err)
        return err;
    err = stream ? stream_records(pair, &src, op) : append_records(pair, &src);
    pair->asks += fetch && !err && pair->count;
    if (err && src.request)
        origin_request_cancel(pair->win, src.request, err);
    return err;
}

/* append_notification adds a put of no bytes, which only notifies. */
static int append_notification(struct origin_pair *pair, const struct rma_op *op)
{
    const size_t need = sizeof(struct pkt_op);
    const int err =
        pair->room - pair->used < need ? origin_make_room(pair, need, need) : MRMA_SUCCESS;
    if (err)
        return err;
    pair->used += (uint32_t)origin_record_notify(pair->buf + pair->used, (uint8_t)op->notify);
    origin_add_records(pair, 1);
    count_phase(pair, PKT_NOTIFY_BYTES);
    return MRMA_SUCCESS;
}

/* send_notification sends a notification at once, since the target waits for it and this process
 * may synchronize late. Only in an active target epoch that the target has not begun, and if no
 * further packet may be early, the notification leaves with the end of the epoch. */
static int send_notification(struct origin_pair *pair)
{
    struct win *w = pair->win;
    win_count_notified(w);
    origin_early_note(pair);
    if (!pair->count || (!epoch_is_passive(&w->epoch) && !origin_epoch_is_open(pair) &&
                         !origin_may_send_early(pair, 1)))
        return MRMA_SUCCESS;
    return origin_send_open(pair, 0, true);
}

/* nothing_in_flight returns whether, as far as answers tell, nothing is on its way to the target,
 * and nothing in the open packet has waited for such an answer. For an operation that fetches the
 * reply tells that it has arrived; for any other nothing tells that before a flush. */
static bool nothing_in_flight(const struct origin_pair *pair, enum pkt_op_kind kind)
{
    return !pair->unsent.awaited && pair->replies == pair->asks &&
           pair->acks_seen == pair->acks_due && (pkt_fetches(kind) || !origin_is_unflushed(pair));
}

/* may_stay returns whether an operation with a request may wait in the open packet for others.
 * Without an agent nobody would send the packet later. */
static bool may_stay(const struct origin_pair *pair)
{
    return rma_has_agent(pair->win->rma) || origin_epoch_is_open(pair);
}

/* leave_request sends an operation with a request at once if nothing is in flight to its target.
 * Operations behind it share packets, which leave when the program asks for any request, or when
 * the answers to the operations before have come (origin_answer_came), since the program may never
 * synchronize. */
static int leave_request(struct origin_pair *pair, bool alone)
{
    if (!pair->count)
        return MRMA_SUCCESS;
    if (!may_stay(pair))
        return origin_send_open(pair, 0, true);
    unsent_await(pair->win->rma, &pair->unsent);
    return alone ? origin_send_or_ask(pair) : MRMA_SUCCESS;
}

/* end_request_call is the rest of a call with a request; err is the result of putting its operation
 * into a packet. */
static int end_request_call(struct origin_pair *pair, struct rma_req *req, int err, bool alone)
{
    if (!err)
        err = leave_request(pair, alone);
    return err ? origin_abandon(pair, req, err) : MRMA_SUCCESS;
}

static int issue(struct origin_pair *pair, enum pkt_op_kind kind, const struct rma_op *op,
                 size_t len)
{
    const int64_t offset = op->disp * (int64_t)pair->target->disp_unit;
    const bool alone = op->req && nothing_in_flight(pair, kind);
    origin_pair_touch(pair);
    int err = origin_pair_await_unlocked(pair);
    if (!err)
        err = len ? append_or_stream(pair, kind, op, offset) : append_notification(pair, op);
    if (err == MRMA_AGAIN) /* not of a request */
        return err;
    /* only now, since another thread may have flushed while this one waited */
    if (!pkt_fetches(kind))
        pair->written++;
    if (unlikely(op->notify))
        return err ? err : send_notification(pair);
    if (likely(!op->req))
        return err;
    return end_request_call(pair, op->req, err, alone);
}

/* ---- from the path ---- */

/* append_plain is for the commonest operation, a short put of contiguous bytes by a pair that has
 * sent in its epoch before: it writes the record without a origin_record, if there is room. pair is
 * NULL if there is no pair yet. */
static inline __attribute__((always_inline)) bool append_plain(const struct win *w,
                                                               struct origin_pair *pair,
                                                               const void *from, int64_t offset,
                                                               size_t len)
{
    if (!pair || !list_node_queued(&pair->touched) ||
        pair->epoch_seen != atomic_load_explicit(&w->gen, memory_order_relaxed) ||
        !pkt_is_plain(offset) || !len || len > SMALL_OP ||
        pair->room - pair->used < sizeof(struct pkt_plain) + pkt_align(len))
        return false;
    pair->used +=
        (uint32_t)origin_record_plain(pair->buf + pair->used, from, (uint32_t)offset, len, 0);
    origin_add_records(pair, 1);
    pair->written++;
    count_phase(pair, len);
    return true;
}

bool origin_put_plain(struct win *w, struct rma_target *t, const void *from, int64_t offset,
                      size_t len)
{
    rma_enter(w->rma);
    const bool done = append_plain(w, t->pair, from, offset, len);
    rma_leave(w->rma);
    return done;
}

bool origin_put_plain_request(struct win *w, struct rma_target *t, const void *from, int64_t offset,
                              size_t len)
{
    rma_enter(w->rma);
    struct origin_pair *pair = t->pair;
    const bool stays = pair != NULL && !nothing_in_flight(pair, PKT_OP_PUT) && may_stay(pair);
    const bool done = stays && append_plain(w, pair, from, offset, len);
    if (done)
        unsent_await(w->rma, &pair->unsent);
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
    struct origin_pair *pair = t->pair;
    const bool alone = op->req && pair && nothing_in_flight(pair, kind);
    if (!plain || !append_plain(w, pair, op->oaddr, offset, len)) {
        pair = origin_pair_get(w, t);
        err = pair ? issue(pair, kind, op, len) : MRMA_ERR_NO_MEM;
    } else if (op->req) {
        err = end_request_call(pair, op->req, MRMA_SUCCESS, alone);
    }
    rma_leave(w->rma);
    return err;
}

int origin_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                   const struct rma_op *op, int64_t offset, size_t len)
{
    return origin_issue_or_defer(issue_now, w, t, kind, op, offset, len);
}

bool origin_operate_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                             const struct rma_op *op, size_t len, int *err)
{
    struct origin_pair *pair = t->pair;
    if (origin_atomics_used(w) && kind != PKT_OP_PUT &&
        kind != PKT_OP_GET) /* must not meet packets' */
        return false;
    if (!pair || !len || op->req || op->notify || !origin_make_ready_now(pair) ||
        (pkt_fetches(kind) && !origin_request_room(pair)))
        return false;
    pair = origin_pair_get(w, t);
    pair->hurries = true;
    *err = issue(pair, kind, op, len);
    pair->hurries = false;
    return true;
}
