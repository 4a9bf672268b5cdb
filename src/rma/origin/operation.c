/*
 * operation.c - operations into packets (origin's side).
 *
 * A short operation becomes records in the open packet; a long one a stream that
 * reads the user's buffer packet by packet, or goes without packets (rdma.c). Where a target
 * datatype is in many pieces it is sent once, in front of the operation, and named from then on.
 * Locks: the engine's, taken here.
 */
#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/epoch_open.h"
#include "rma/origin/issue.h"
#include "rma/origin/op_record.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/rdma.h"
#include "rma/origin/replies.h"
#include "rma/origin/stream.h"
#include "rma/packet/type_table.h"
#include "rma/win/win.h"

/* TAIL_MAX: copying costs less than another packet */
enum { SMALL_OP = PKT_MAX / 2, TAIL_MAX = PKT_MAX / 4 };

/* Shall src name its target bytes by a datatype? Not where segments are shorter. The target takes
 * no pieces that overlap (range), nor types whose elements are not their bytes. */
static bool by_type(struct pkt_target *pt, const struct record_source *src)
{
    const struct dtype *type = src->ttype;
    const size_t known = sizeof(struct pkt_typed) / sizeof(struct pkt_seg);
    int64_t lo, hi;
    if (src->contig || record_segments(src, known + 1) <= known || type->nruns > PKT_TYPE_RUNS ||
        src->target_cur.runs != type->runs ||
        !type_table_range(type, src->count, src->base, &lo, &hi))
        return false;
    if (!pt->types)
        pt->types = calloc(1, sizeof *pt->types);
    return pt->types; /* without memory: by segments */
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

/* Both sides count what belongs to the fence phase only: what follows the closing
 * fence's marker (a lock epoch) may be applied before the marker takes effect. Only
 * what is sure to leave is counted, or the target would wait for the rest. */
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
        const size_t due = type_due(pt, src), need = record_min(src) + due;
        const size_t wish = need + record_most(src);
        const int err = pt->room - pt->used < wish ? pkt_make_room(pt, need, wish) : MRMA_SUCCESS;
        if (err)
            return err;
        if (type_due(pt, src) > due) /* the table was dropped while this thread waited */
            continue;
        if (src->typed)
            append_type(pt, src);
        size_t len = record_build(src, pt->buf + pt->used, pt->room - pt->used);
        pt->used += (uint32_t)len;
        pt->count++;
    }
    count_phase(pt, src->pos - before);
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

/* Packets that src takes at most, SIZE_MAX: in many pieces; but for its *tail, which would be a
 * short packet of its own and goes into the open packet. */
static size_t stream_packets(const struct record_source *src, size_t *tail)
{
    const size_t heads = sizeof(struct pkt_op) + sizeof(struct pkt_seg) + src->unit;
    const size_t per = src->plain ? RECORD_PLAIN_MAX : PKT_MAX - sizeof(struct pkt_hdr) - heads;
    const size_t rest = src->left % per;
    *tail = src->plain && src->left > per && rest <= TAIL_MAX ? rest : 0;
    return src->contig ? (src->left - *tail + per - 1) / per : SIZE_MAX;
}

/* A long operation: packet by packet from the user's buffer, behind what is open, which only a put
 * may overtake. */
static int stream_records(struct pkt_target *pt, struct record_source *src, const struct rma_op *op)
{
    size_t tail;
    int err = pkt_await_stream(pt, stream_packets(src, &tail), src->plain);
    while (!err && !origin_stream_room(pt))
        err = pkt_wait(pt, stream_room, "large operations to leave");
    /* The stream overtakes what another thread has put into the open packet meanwhile, and a
     * definition may be in there. */
    src->typed = src->typed && !pt->count;
    if (!err && src->typed) { /* nothing overtakes the stream: its packets may name the number */
        src->define = type_due(pt, src) != 0;
        src->id = src->define ? type_table_add(pt->types, src->ttype)
                              : type_table_find(pt->types, src->ttype);
    }
    const size_t bytes = src->left -= tail;
    if (!err)
        err = origin_stream(pt, src, op);
    if (err)
        return err;
    count_phase(pt, bytes);
    src->pos += bytes;
    src->left = tail;
    return append_records(pt, src);
}

static int issue_locked(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op)
{
    const bool fetch = pkt_fetches(kind);
    struct record_source src;
    uint32_t request = 0;
    int err = MRMA_SUCCESS;
    pkt_target_touch(pt);
    if (fetch)
        err = make_request_room(pt);
    if (fetch && !err)
        err = origin_request(pt, kind, op, &request);
    if (err)
        return err;
    record_source_init(&src, kind, op, op->disp * (int64_t)pt->target->disp_unit, request);
    src.typed = by_type(pt, &src);
    if (src.typed && src.limit > PKT_TYPED_DYNAMIC && pt->win->dynamic)
        src.limit = PKT_TYPED_DYNAMIC;
    const bool stream = src.data && src.left > SMALL_OP;
    err = stream ? stream_records(pt, &src, op) : append_records(pt, &src);
    pt->answered |= fetch && !stream && !err;
    if (err && request)
        origin_request_cancel(pt->win, request, err);
    return err;
}

/* A request's operation leaves at once: nobody may ever synchronize. */
int issue_op(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op)
{
    struct rma *r = w->rma;
    rma_enter(r);
    struct pkt_target *pt = pkt_target_get(w, t);
    int err = !pt                                              ? MRMA_ERR_NO_MEM
              : t->net_key.usable && rdma_serves(pt, kind, op) ? rdma_issue(pt, kind, op)
                                                               : MRMA_AGAIN;
    const bool packets = err == MRMA_AGAIN;
    if (packets)
        err = issue_locked(pt, kind, op);
    if (packets &&
        !pkt_fetches(kind)) /* only now: while it waited, another thread may have flushed */
        pt->written++;
    if (!err && packets && op->req && pt->count)
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
    if (t->ctl || !target_ready(w, t) || len - 1 >= ISSUE_QUICK_MAX || w->dynamic)
        return false;
    const int64_t offset = quick_offset(t, disp, len);
    const size_t need = sizeof(struct pkt_plain) + pkt_align(len);
    bool done = false;
    rma_enter(w->rma);
    struct pkt_target *pt = t->pkt;
    if (likely(pt && offset >= 0 && pkt_is_plain(offset) && pt->room - pt->used >= need &&
               list_node_queued(&pt->touched) &&
               pt->epoch_seen == atomic_load_explicit(&w->gen, memory_order_relaxed))) {
        pt->used += (uint32_t)record_plain(pt->buf + pt->used, data, (uint32_t)offset, len);
        pt->count++;
        count_phase(pt, len);
        pt->written++;
        win_count(w, PATH_PACKETS, len);
        done = true;
    }
    rma_leave(w->rma);
    return done;
}
