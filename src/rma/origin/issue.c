/*
 * issue.c - operations into packets (origin's side).
 *
 * A short operation becomes records in the open packet; a long one a stream that
 * reads the user's buffer packet by packet, or goes without packets (rdma.c). Where a target
 * datatype is in many pieces it is sent once, in front of the operation, and named from then on.
 * Locks: the engine's, taken here.
 */
#include "rma/origin/issue.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/rdma.h"
#include "rma/origin/replies.h"
#include "rma/origin/stream.h"
#include "rma/progress/wait.h"
#include "rma/packet/type_table.h"
#include "rma/win/win.h"

/* TAIL_MAX: copying costs less than another packet */
enum { SMALL_OP = PKT_MAX / 2, TAIL_MAX = PKT_MAX / 4 };

/* Shall src name its target bytes by a datatype? Not where segments are shorter, and where they
 * are shorter than the datatype with its definition, not the first time. The target takes no
 * pieces that overlap (range), nor types whose elements are not their bytes. */
static bool by_type(struct pkt_target *pt, const struct record_source *src)
{
    const struct dtype *type = src->ttype;
    const size_t define = sizeof(struct pkt_typed) + type_table_size(type);
    const size_t known = sizeof(struct pkt_typed) / sizeof(struct pkt_seg),
                 most = define / sizeof(struct pkt_seg);
    const size_t segments = record_segments(src, most + 1);
    int64_t lo, hi;
    if (segments <= known || type->nruns > PKT_TYPE_RUNS || src->target_cur.runs != type->runs ||
        !type_table_range(type, src->count, src->base, &lo, &hi))
        return false;
    if (!pt->types)
        pt->types = calloc(1, sizeof *pt->types); /* without memory: by segments */
    return pt->types && (segments > most || type_table_find(pt->types, type) ||
                         type_table_seen(pt->types, type));
}

/* Bytes of the definition that must go in front of src's next record. */
static size_t type_due(const struct pkt_target *pt, const struct record_source *src)
{
    return src->typed && !type_table_find(pt->types, src->ttype) ? type_table_size(src->ttype) : 0;
}

static void append_type(struct pkt_target *pt, struct record_source *src)
{
    const size_t due = type_due(pt, src);
    src->id = due ? type_table_add(pt->types, src->ttype) : type_table_find(pt->types, src->ttype);
    if (!due)
        return;
    type_table_define(pt->buf + pt->used, src->id, src->ttype);
    pt->used += (uint32_t)due;
    pt->count++;
}

/* Bytes behind record_min that all of src would take, where that is less than a packet. */
static size_t record_most(const struct record_source *src)
{
    const size_t segments = src->typed ? 0 : record_segments(src, PKT_MAX / sizeof(struct pkt_seg));
    const size_t data = src->data && src->left < PKT_MAX ? src->left : src->data ? PKT_MAX : 0;
    return segments * sizeof(struct pkt_seg) + pkt_align(data);
}

static int append_records(struct pkt_target *pt, struct record_source *src)
{
    while (src->left) {
        const size_t need = record_min(src) + type_due(pt, src);
        int err = pkt_make_room(pt, need, need + record_most(src));
        if (err)
            return err;
        if (record_min(src) + type_due(pt, src) > need) /* dropped while this thread waited */
            continue;
        if (src->typed)
            append_type(pt, src);
        size_t len = record_build(src, pt->buf + pt->used, pt->room - pt->used);
        pt->used += (uint32_t)len;
        pt->count++;
    }
    return MRMA_SUCCESS;
}

static bool request_room(void *arg)
{
    const struct pkt_target *pt = arg;
    return origin_request_room(pt);
}

static bool stream_room(void *arg)
{
    const struct pkt_target *pt = arg;
    return origin_stream_room(pt);
}

/* Requests that nobody has synchronized are bounded: here the call makes progress until
 * there is room. Those that are awaited must have left. */
static int make_request_room(struct pkt_target *pt)
{
    int err = MRMA_SUCCESS;
    while (!err && !origin_request_room(pt)) { /* while this thread waits, another may use it up */
        if (pt->count)
            err = pkt_send_open(pt, 0, true);
        if (!err)
            err = pkt_wait(pt, request_room, "replies, for room for another request");
    }
    return err;
}

/* Both sides count what belongs to the fence phase only: what follows the closing
 * fence's marker (a lock epoch) may be applied before the marker takes effect. Only
 * what is sure to leave is counted, or the target would wait for the rest. */
static void count_phase(struct pkt_target *pt, size_t bytes)
{
    const struct win *w = pt->win;
    const enum epoch_state now = epoch_now(&w->epoch);
    if (now == EPOCH_FENCE_USED || now == EPOCH_FENCE || w->fence_closing) /* as pkt_epoch_kind */
        pt->phase_bytes += bytes;
}

/* Of the record of a put of len contiguous bytes to there. */
static inline size_t put_bytes(int64_t offset, size_t len)
{
    const size_t head = pkt_is_plain(offset) ? sizeof(struct pkt_plain)
                                             : sizeof(struct pkt_op) + sizeof(struct pkt_seg);
    return head + pkt_align(len);
}

/* A put of contiguous bytes as one record. There must be room. */
static inline void put_record(struct pkt_target *pt, const void *data, int64_t offset, size_t len)
{
    char *at = (char *)pt->buf + pt->used;
    if (likely(pkt_is_plain(offset))) {
        const struct pkt_plain head = {
            .kind = PKT_OP_PLAIN, .len = (uint16_t)len, .disp = (uint32_t)offset};
        memcpy(at, &head, sizeof head);
        at += sizeof head;
    } else {
        const struct pkt_op op = {.kind = PKT_OP_PUT, .nseg = 1, .data_len = (uint16_t)len};
        const struct pkt_seg seg = {.disp = offset, .len = len};
        memcpy(at, &op, sizeof op);
        memcpy(at + sizeof op, &seg, sizeof seg);
        at += sizeof op + sizeof seg;
    }
    if (len == sizeof(uint64_t)) {
        memcpy(at, data, sizeof(uint64_t));
    } else {
        memcpy(at, data, len);
        memset(at + len, 0, pkt_align(len) - len);
    }
    pt->used += (uint32_t)put_bytes(offset, len);
    pt->count++;
}

/* Packets that src takes at most, but for the tail of a plain one, for which there is room in the
 * open packet. SIZE_MAX: in many pieces. */
static size_t stream_packets(const struct record_source *src, size_t *tail)
{
    const size_t heads =
        sizeof(struct pkt_op) + sizeof(struct pkt_seg) + acc_extent(src->type ? src->type : ACC_U8);
    const size_t per = src->plain ? RECORD_PLAIN_MAX : PKT_MAX - sizeof(struct pkt_hdr) - heads;
    const size_t rest = src->left % per;
    *tail = src->plain && src->left > per && rest <= TAIL_MAX ? rest : 0;
    return src->typed || record_segments(src, 2) != 1 ? SIZE_MAX
                                                      : (src->left - *tail + per - 1) / per;
}

/* The end of a large put, which would be a short packet of its own. */
static int append_tail(struct pkt_target *pt, const struct record_source *src, size_t tail)
{
    const int64_t offset = src->base + (int64_t)src->left;
    const size_t need = put_bytes(offset, tail);
    if (!tail)
        return MRMA_SUCCESS;
    int err = pkt_make_room(pt, need, need);
    if (err)
        return err;
    put_record(pt, (const char *)src->origin + src->left, offset, tail);
    count_phase(pt, tail);
    return MRMA_SUCCESS;
}

/* A long operation: packet by packet from the user's buffer, behind what is open, which only a put
 * may overtake. */
static int stream_records(struct pkt_target *pt, struct record_source *src, const struct rma_op *op)
{
    size_t tail;
    const size_t packets = stream_packets(src, &tail);
    int err = pkt_await_stream(pt, packets, src->plain);
    while (!err && !origin_stream_room(pt))
        err = pkt_wait(pt, stream_room, "large operations to leave");
    /* The stream overtakes what another thread has put into the open packet meanwhile, and a
     * definition may be in there. */
    src->typed = src->typed && !pt->count;
    if (!err &&
        src->typed) { /* nothing overtakes the stream: its packets may name the number to the end */
        src->define = type_due(pt, src) != 0;
        src->id = src->define ? type_table_add(pt->types, src->ttype)
                              : type_table_find(pt->types, src->ttype);
    }
    src->left -= tail;
    const size_t whole = src->left;
    if (!err)
        err = origin_stream(pt, src, op);
    if (!err)
        count_phase(pt, whole);
    return err ? err : append_tail(pt, src, tail);
}

/* The commonest operation without cursors (twice the instructions, doc/decisions.md):
 * small, contiguous on both sides, and there is room. False: not so. */
static bool append_plain_put(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op,
                             int64_t offset)
{
    if (kind != PKT_OP_PUT)
        return false;
    const size_t len = op->tcount * op->ttype->size, need = put_bytes(offset, len);
    if (!op->otype->contig || !op->ttype->contig || len > SMALL_OP || PKT_MAX - pt->used < need ||
        !pkt_grow(pt, need, need))
        return false;
    put_record(pt, op->oaddr, offset, len);
    count_phase(pt, len);
    return true;
}

/* The same for what else needs no walk. MRMA_AGAIN: it does. */
static int append_single(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op,
                         int64_t offset, uint32_t request)
{
    if (!record_is_single(kind, op))
        return MRMA_AGAIN;
    const size_t data =
        kind == PKT_OP_CAS ? RECORD_CAS_DATA : pkt_align(op->tcount * op->ttype->size);
    const size_t need = sizeof(struct pkt_op) + sizeof(struct pkt_seg) + data;
    const int err = pkt_make_room(pt, need, need);
    if (err)
        return err;
    pt->used += (uint32_t)record_build_single(pt->buf + pt->used, kind, op, offset, request);
    pt->count++;
    count_phase(pt,
                kind == PKT_OP_CAS ? acc_extent(op->ttype->basic) : op->tcount * op->ttype->size);
    return MRMA_SUCCESS;
}

static int issue_locked(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op)
{
    const int64_t offset = op->disp * (int64_t)pt->target->disp_unit;
    uint32_t request = 0;
    int err = MRMA_SUCCESS;
    const bool fetch = pkt_fetches(kind);
    pkt_target_touch(pt);
    if (append_plain_put(pt, kind, op, offset))
        return MRMA_SUCCESS;
    if (fetch)
        err = make_request_room(pt);
    if (fetch && !err)
        err = origin_request(pt, kind, op, &request);
    if (err)
        return err;
    err = append_single(pt, kind, op, offset, request);
    if (err != MRMA_AGAIN) {
        pt->answered |= fetch && !err;
        if (err && request)
            origin_request_cancel(pt->win, request, err);
        return err;
    }
    struct record_source src;
    record_source_init(&src, kind, op, offset, request);
    src.typed = by_type(pt, &src);
    if (src.typed && src.limit > PKT_TYPED_DYNAMIC && pt->win->dynamic)
        src.limit = PKT_TYPED_DYNAMIC;
    const bool stream = src.data && src.left > SMALL_OP;
    err = stream ? stream_records(pt, &src, op) : append_records(pt, &src);
    pt->answered |= fetch && !stream && !err;
    if (!stream)
        count_phase(pt, src.pos);
    if (err && request)
        origin_request_cancel(pt->win, request, err);
    return err;
}

/* To a target that polls, the first operation whose answer is awaited leaves at once, ahead of its
 * flush, while nothing else is under way: its answer proves that it is done, so nothing need ride
 * on its packet. */
static bool fetches_alone(const struct pkt_target *pt, enum pkt_op_kind kind)
{
    return pt->target->direct && pkt_fetches(kind) && pt->count == 1 && pt->replies == 1;
}

/* A request's operation leaves at once: nobody may ever synchronize. */
int issue_op(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op)
{
    struct rma *r = w->rma;
    rma_enter(r);
    struct pkt_target *pt = pkt_target_get(w, t);
    int err = !pt                         ? MRMA_ERR_NO_MEM
              : rdma_serves(pt, kind, op) ? rdma_issue(pt, kind, op)
                                          : MRMA_AGAIN;
    const bool packets = err == MRMA_AGAIN;
    if (packets)
        err = issue_locked(pt, kind, op);
    if (packets &&
        !pkt_fetches(
            kind)) /* only now: while it waited for room, another thread may have flushed */
        pt->written++;
    if (!err && packets && pt->count && (op->req || fetches_alone(pt, kind)))
        err = pkt_send_open(pt, 0, true);
    if (op->req && t->peer->attention) /* the wait for a request does not come by rma_wait_until */
        attention_insist(t->peer->attention);
    if (err && op->req && pt)
        err = origin_abandon(pt, op->req, err);
    rma_leave(r);
    return err;
}

/* Where in the target's window, -1: not inside. */
static int64_t quick_offset(const struct rma_target *t, int64_t disp, size_t len)
{
    int64_t offset;
    if (__builtin_mul_overflow(disp, (int64_t)t->disp_unit, &offset) || offset < 0 ||
        (uint64_t)offset > t->size || len > t->size - (uint64_t)offset)
        return -1;
    return offset;
}

/* Everything that issue_op does for such a put, when all that it may have to begin has begun. */
bool issue_quick_put(struct win *w, int target, const void *data, int64_t disp, size_t len)
{
    struct rma_target *t = win_peek(w, target);
    if (t->direct || !target_ready(w, t) || len - 1 >= ISSUE_QUICK_MAX || w->dynamic)
        return false;
    const int64_t offset = quick_offset(t, disp, len);
    const uint32_t need = (uint32_t)put_bytes(offset, len);
    bool done = false;
    rma_enter(w->rma);
    struct pkt_target *pt = t->pkt;
    if (likely(pt && offset >= 0 && pt->room - pt->used >= need && list_node_queued(&pt->touched) &&
               pt->epoch_seen == atomic_load_explicit(&w->gen, memory_order_relaxed))) {
        put_record(pt, data, offset, len);
        count_phase(pt, len);
        pt->written++;
        win_count(w, PATH_PACKETS, len);
        done = true;
    }
    rma_leave(w->rma);
    return done;
}

int issue_take_error(struct win *w)
{
    int err = w->packet_err;
    w->packet_err = MRMA_SUCCESS;
    return err;
}

bool issue_got_post(struct rma_target *t, uint32_t seq)
{
    if (t->direct || seq != atomic_load_explicit(&t->in->posts, memory_order_relaxed) + 1)
        return false;
    atomic_store_explicit(&t->in->posts, seq, memory_order_release); /* pairs with opened */
    return true;
}

void issue_got_open(struct rma_target *t, uint32_t seq, bool lock)
{
    struct pkt_target *pt = t->pkt;
    if (!lock)
        pt->open_seq = seq + 1;
    else if (pt->lock_seq == seq && pt->lock == PKT_LOCK_SENT)
        pt->lock = PKT_LOCK_HELD;
}

bool issue_got_ack(struct rma_target *t, uint32_t seq)
{
    struct pkt_target *pt = t->pkt;
    if (!pt || pt->acks_seen == pt->acks_due || seq != pt->acks_seen + 1)
        return false;
    pt->acks_seen = seq;
    if (seq == pt->acks_due && pt->unconfirmed) {
        pt->unconfirmed = false;
        pt->win->unconfirmed -= pt->win->unconfirmed != 0;
    }
    if (pt->lock == PKT_LOCK_SENT)
        pt->lock = PKT_LOCK_HELD;                /* acknowledged, so it was granted */
    if (pkt_epoch_kind(pt) == PKT_EPOCH_NOCHECK) /* and its fences are passed there */
        pt->open_seq = pt->win->phase + 1;
    pt->win->rma->stats.acks++;
    return true;
}
