/*
 * target_apply.c - the records of a packet onto this process's window memory.
 *
 * Everything in a record is checked before anything is touched: kind, operation
 * and type, that segments and data lie in the packet, that segments lie in the
 * window (or in attached memory), that lengths agree; and of a record that names a
 * datatype, that it is there and that all its instances lie in the window, or in
 * attached memory at least what the record names. A record that fails is refused:
 * the origin gets a PKT_ERROR and reports it at its next synchronization; the
 * records behind it are still applied.
 *
 * Locks: the engine's. Accumulates take stripes, one at a time, inside it: as long as the
 * pieces of accumulates that follow each other need the same one it is kept, at most
 * for what a packet names; whatever is not an accumulate, or sends, gives it back first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/acc_atomic.h"
#include "rma/direct.h"
#include "rma/fence_counts.h"
#include "rma/lock_queue.h"
#include "rma/region.h"
#include "rma/strict.h"
#include "rma/target.h"
#include "rma/type_table.h"
#include "rma/win.h"

enum { GET_AT_ONCE = 1024 };

struct record {
    const struct pkt_op *op;
    const struct pkt_seg *segs;
    uint32_t nseg;
    const struct pkt_typed *typed; /* in place of segments, or NULL */
    const struct dtype *type;      /* typed: checked, as is all below */
    struct dtype_cursor cur;       /* on its first byte */
    char *base;                    /* address of displacement 0 */
    const char *data;
    uint64_t total; /* bytes named */
    /* What a struct pkt_plain says, as op and segs. */
    struct pkt_op plain_op;
    struct pkt_seg plain_seg;
    /* Of a packet's last record: what rides on the packet and the number to acknowledge. */
    uint8_t *flags; /* NULL: not the last one */
    uint32_t ack;
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

/* Of displacements in a datatype that lies there: need not be in the window itself. */
static char *any_addr(const struct win *w, int64_t disp)
{
    return (char *)((w->dynamic ? 0 : (uintptr_t)w->base) + (uintptr_t)disp);
}

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
    for (uint32_t i = 0; i < rec->nseg; i++) {
        const struct pkt_seg *seg = &rec->segs[i];
        if (!seg_inside(w, seg))
            return MRMA_ERR_RMA_RANGE;
        if (!seg->len || seg->len % unit || seg->len > SIZE_MAX / 2 - rec->total)
            return MRMA_ERR_COUNT;
        rec->total += seg->len;
    }
    return MRMA_SUCCESS;
}

/* Attached memory may have gaps where the datatype has some: look at each piece. */
static bool pieces_inside(struct win *w, const struct record *rec)
{
    struct dtype_cursor cur = rec->cur;
    ptrdiff_t disp;
    for (size_t left = rec->total, len; left; left -= len) {
        len = dtype_cursor_next(&cur, left, &disp);
        if (!region_covers_own(w, (uint64_t)(rec->typed->disp + disp), len))
            return false;
    }
    return true;
}

static bool whole_units(const struct dtype *type, size_t unit)
{
    for (size_t i = 0; i < type->nruns; i++)
        if (type->runs[i].len % unit)
            return false;
    return true;
}

/* Sets what walks over the record's bytes. */
static int check_typed(struct win *w, const struct pkt_origin *po, struct record *rec)
{
    const size_t unit = rec->op->type ? acc_extent(rec->op->type) : 1;
    const struct pkt_typed *typed = rec->typed;
    const uint64_t pos = rec->op->offset;
    int64_t lo, hi;
    rec->type = type_table_get(po->types, rec->op->nseg);
    if (!rec->type)
        return MRMA_ERR_TYPE;
    if (!type_table_range(rec->type, typed->count, typed->disp, &lo, &hi))
        return MRMA_ERR_RMA_RANGE;
    const size_t all = typed->count * rec->type->size;
    if (!typed->len || pos >= all || typed->len > all - pos || pos % unit || typed->len % unit ||
        rec->op->kind == PKT_OP_CAS || !whole_units(rec->type, unit) ||
        (w->dynamic && typed->len > PKT_TYPED_DYNAMIC))
        return MRMA_ERR_COUNT;
    rec->total = typed->len;
    rec->base = any_addr(w, typed->disp);
    dtype_cursor_init(&rec->cur, rec->type, typed->count, DTYPE_BYTES);
    dtype_cursor_seek(&rec->cur, pos);
    const struct pkt_seg range = {.disp = lo, .len = (uint64_t)hi - (uint64_t)lo};
    return seg_inside(w, &range) || (w->dynamic && pieces_inside(w, rec)) ? MRMA_SUCCESS : MRMA_ERR_RMA_RANGE;
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
        return op->type && rec->nseg == 1 && rec->total == acc_extent(op->type) &&
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

static bool parse_plain(const char **at, const char *end, struct record *rec)
{
    const struct pkt_plain *plain = (const struct pkt_plain *)(const void *)*at;
    if (plain->zero || !plain->len || pkt_align(plain->len) > (size_t)(end - *at) - sizeof *plain)
        return false;
    rec->plain_op = (struct pkt_op){.kind = PKT_OP_PUT, .nseg = 1, .data_len = plain->len};
    rec->plain_seg = (struct pkt_seg){.disp = plain->disp, .len = plain->len};
    rec->op = &rec->plain_op;
    rec->nseg = 1;
    rec->segs = &rec->plain_seg;
    rec->typed = NULL;
    rec->data = (const char *)(plain + 1);
    *at = rec->data + pkt_align(plain->len);
    return true;
}

/* Cut the next record out of the packet. False: malformed, the rest is lost. */
static bool parse(const char **at, const char *end, struct record *rec)
{
    const size_t room = (size_t)(end - *at);
    if (room >= sizeof(struct pkt_plain) && **at == PKT_OP_PLAIN)
        return parse_plain(at, end, rec);
    rec->op = (const struct pkt_op *)(const void *)*at;
    if (room < sizeof *rec->op)
        return false;
    const size_t left = room - sizeof *rec->op;
    if (rec->op->kind == PKT_OP_NONE || rec->op->kind >= PKT_OP_PLAIN || rec->op->op >= ACC_OP_LAST ||
        rec->op->type >= ACC_TYPE_LAST || rec->op->form >= PKT_FORM_LAST)
        return false;
    const bool typed = rec->op->form == PKT_FORM_TYPED;
    if (typed ? left < sizeof *rec->typed : rec->op->nseg > left / sizeof *rec->segs)
        return false;
    rec->nseg = typed ? 0 : rec->op->nseg;
    const size_t where = typed ? sizeof *rec->typed : rec->nseg * sizeof *rec->segs, data_room = left - where;
    if (rec->op->data_len > data_room || pkt_align(rec->op->data_len) > data_room)
        return false;
    rec->segs = (const struct pkt_seg *)(rec->op + 1);
    rec->typed = typed ? (const struct pkt_typed *)(rec->op + 1) : NULL;
    rec->data = (const char *)(rec->op + 1) + where;
    *at = rec->data + pkt_align(rec->op->data_len);
    return true;
}

static void apply_put(struct win *w, struct record *rec)
{
    const char *data = rec->data;
    if (rec->typed)
        dtype_unpack(&rec->cur, rec->base, data, rec->total);
    for (uint32_t i = 0; i < rec->nseg; i++) {
        memcpy(window_addr(w, &rec->segs[i]), data, rec->segs[i].len);
        data += rec->segs[i].len;
    }
}

/* The reply to a packet's last record acknowledges, if that is asked for: it is the last thing to
 * come of the packet, and says more than an acknowledgement behind it. */
static uint8_t riding(const struct record *rec)
{
    return rec->flags ? *rec->flags & (PKT_F_FLUSH | PKT_F_UNLOCK) : 0;
}

static void rides_no_more(const struct record *rec)
{
    if (rec->flags)
        *rec->flags &= (uint8_t)~(PKT_F_FLUSH | PKT_F_UNLOCK);
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
    *hdr = (struct pkt_hdr){.version = PKT_VERSION, .type = PKT_REPLY, .win = rp->to->remote_win,
                            .win_gen = rp->to->remote_gen, .rank = (uint32_t)rp->win->rank,
                            .count = rp->request, .offset = rp->pos};
    if (rp->type)
        to += reply_typed(rp, to, space);
    while (!rp->type && space && rp->left) {
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

/* What it fetched, and with it what rides on its packet; but not ahead of other replies (target.c). */
static int reply_fetched(struct win *w, struct rma_target *t, const struct record *rec, struct pkt_hdr *out)
{
    const uint8_t flags = ch3_vc_busy(&t->peer->vc) ? 0 : riding(rec);
    *out = (struct pkt_hdr){.version = PKT_VERSION, .type = PKT_REPLY, .win = t->remote_win,
                            .win_gen = t->remote_gen, .rank = (uint32_t)w->rank, .count = rec->op->request,
                            .len = (uint32_t)(sizeof *out + rec->total), .offset = rec->op->offset};
    acknowledge(out, flags, rec->ack);
    int err = ch3_send_owned(&t->peer->vc, out, out->len, &w->queued);
    if (err || !flags)
        return err;
    rides_no_more(rec);
    if (flags & PKT_F_UNLOCK)
        lock_queue_release(t->from);
    return MRMA_SUCCESS;
}

/* A short one at once: making a stream of it takes 0.1 us of a round trip of 1.3. */
static int get_at_once(struct win *w, struct rma_target *t, const struct record *rec)
{
    struct {
        struct pkt_hdr hdr;
        char data[GET_AT_ONCE];
    } out;
    memcpy(out.data, window_addr(w, rec->segs), rec->total);
    return reply_fetched(w, t, rec, &out.hdr);
}

static int apply_get(struct win *w, struct rma_target *t, const struct record *rec)
{
    if (!rec->total)
        return MRMA_SUCCESS;
    if (rec->nseg == 1 && rec->total <= GET_AT_ONCE && !ch3_vc_busy(&t->peer->vc))
        return get_at_once(w, t, rec);
    struct reply *rp = malloc(sizeof *rp + rec->nseg * sizeof *rec->segs);
    if (!rp)
        return MRMA_ERR_NO_MEM;
    *rp = (struct reply){.stream = {.next = reply_next, .done = reply_done, .owner = &w->queued}, .win = w, .to = t,
                         .request = rec->op->request, .pos = rec->op->offset, .left = rec->total,
                         .flags = riding(rec), .ack = rec->ack, .type = rec->typed ? dtype_ref(rec->type) : NULL};
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

/* ACC, GET_ACC and CAS: under the stripe locks, as every other accumulate. */
static int apply_acc(struct win *w, struct rma_target *t, struct record *rec, struct stripe_hold *hold)
{
    const struct pkt_op *op = rec->op;
    const bool fetch = op->kind != PKT_OP_ACC;
    struct {
        struct pkt_hdr hdr;
        char data[PKT_MAX - sizeof(struct pkt_hdr)];
    } out;
    const char *data = rec->data;
    char *old = out.data;
    int err = acc_lock_mode(w, w->ctl); /* has been done where a stripe is held */
    if (err)
        return err;
    if (rec->typed) /* not CAS: check_typed */
        direct_acc_walk_held(hold, w->rma->env->stripes, (uint64_t)(uintptr_t)rec->base, rec->base, &rec->cur,
                             op->op, op->type, data, fetch ? old : NULL, rec->total);
    for (uint32_t i = 0; i < rec->nseg; i++) {
        char *at = window_addr(w, &rec->segs[i]);
        const size_t len = rec->segs[i].len;
        if (op->kind == PKT_OP_CAS)
            direct_cas(w->rma->env->stripes, (uint64_t)(uintptr_t)at, at, data, data + len, old, len);
        else
            direct_acc_held(hold, w->rma->env->stripes, (uint64_t)(uintptr_t)at, at, op->op, op->type, data,
                            fetch ? old : NULL, len);
        data += op->data_len ? len : 0;
        old += len;
    }
    if (!fetch)
        return MRMA_SUCCESS;
    stripe_hold_drop(hold);
    return reply_fetched(w, t, rec, &out.hdr);
}

static bool is_fetch(const struct record *rec)
{
    return rec->op->kind == PKT_OP_GET || rec->op->kind == PKT_OP_GET_ACC || rec->op->kind == PKT_OP_CAS;
}

static void refuse_record(struct win *w, struct rma_target *t, const struct record *rec, int err)
{
    (void)target_send_simple(w, t, PKT_ERROR, 0, is_fetch(rec) ? rec->op->request : 0, (uint32_t)err, 0);
}

/* A datatype for the records behind it. */
static int keep_type(struct pkt_origin *po, const struct record *rec)
{
    if (!po->types)
        po->types = calloc(1, sizeof *po->types);
    return po->types ? type_table_got(po->types, rec->op, rec->data) : MRMA_ERR_NO_MEM;
}

static int apply_operation(struct win *w, struct rma_target *t, struct record *rec, unsigned epoch,
                           struct stripe_hold *hold)
{
    int err = rec->typed ? check_typed(w, t->from, rec) : check_segments(w, rec);
    if (!err)
        err = check_kind(rec);
    if (unlikely(w->strict) && !err)
        err = strict_arrival(w, rec->op->kind, rec->op->op, epoch);
    if (err)
        return err;
    if (rec->op->kind == PKT_OP_GET)
        return apply_get(w, t, rec);
    if (rec->op->kind != PKT_OP_PUT)
        return apply_acc(w, t, rec, hold);
    apply_put(w, rec);
    return MRMA_SUCCESS;
}

static int apply_record(struct win *w, struct rma_target *t, struct record *rec, unsigned epoch,
                        struct stripe_hold *hold)
{
    if (rec->op->kind != PKT_OP_ACC && rec->op->kind != PKT_OP_GET_ACC)
        stripe_hold_drop(hold);
    int err = rec->op->kind == PKT_OP_TYPE ? keep_type(t->from, rec) : apply_operation(w, t, rec, epoch, hold);
    if (err) {
        stripe_hold_drop(hold);
        refuse_record(w, t, rec, err);
    }
    return err;
}

static uint64_t named_bytes(const struct record *rec)
{
    uint64_t sum = rec->typed ? rec->typed->len : 0;
    for (uint32_t i = 0; i < rec->nseg; i++)
        sum += rec->segs[i].len;
    return sum;
}

/* Where a record cannot be read the rest of the packet is lost, and with it the names of
 * the requests in there. */
static int tell_unreadable(struct win *w, struct rma_target *t)
{
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

static int lose_rest(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr)
{
    if (hdr->epoch == PKT_EPOCH_FENCE) {
        t->from->phase_broken = true;
        fence_counts_lost(w);
    }
    return tell_unreadable(w, t);
}

/* The commonest record, a struct pkt_plain, where all is right with it. Applied at once; false: anything
 * else, also what is wrong. */
static inline bool apply_plain_put(const struct win *w, const char **at, const char *end, uint64_t *bytes)
{
    const struct pkt_plain *plain = (const struct pkt_plain *)(const void *)*at;
    const char *data = (const char *)(plain + 1);
    if (end < data || plain->kind != PKT_OP_PLAIN || plain->zero)
        return false;
    const size_t len = plain->len, disp = plain->disp;
    if (!len || pkt_align(len) > (size_t)(end - data) || disp > w->size || len > w->size - disp)
        return false;
    char *to = (char *)w->base + disp;
    if (len == sizeof(uint64_t))
        memcpy(to, data, sizeof(uint64_t));
    else
        memcpy(to, data, len);
    *at = data + pkt_align(len);
    *bytes += len;
    return true;
}

/* As many of those as follow each other; how many. */
static uint32_t apply_plain_puts(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, uint32_t left,
                                 const char **at)
{
    const char *end = (const char *)hdr + hdr->len;
    uint64_t bytes = 0;
    uint32_t n = 0;
    if (w->dynamic || unlikely(w->strict))
        return 0;
    while (n < left && apply_plain_put(w, at, end, &bytes))
        n++;
    if (hdr->epoch == PKT_EPOCH_FENCE)
        count_arrived(w, t, bytes);
    return n;
}

int target_apply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, uint8_t *flags)
{
    const char *at = (const char *)(hdr + 1);
    struct stripe_hold hold = {NULL};
    int first = MRMA_SUCCESS;
    for (uint32_t i = 0;; i++) {
        struct record rec;
        i += apply_plain_puts(w, t, hdr, hdr->count - i, &at);
        if (i == hdr->count)
            break;
        if (!parse(&at, (const char *)hdr + hdr->len, &rec)) {
            stripe_hold_drop(&hold);
            return lose_rest(w, t, hdr);
        }
        if (hdr->epoch == PKT_EPOCH_FENCE)
            count_arrived(w, t, named_bytes(&rec));
        rec.flags = i + 1 == hdr->count ? flags : NULL;
        rec.ack = (uint32_t)hdr->offset;
        const int err = apply_record(w, t, &rec, hdr->epoch, &hold);
        if (!first)
            first = err;
    }
    stripe_hold_drop(&hold);
    return first;
}

void target_refuse_records(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, int err)
{
    const char *at = (const char *)(hdr + 1);
    bool told = false;
    for (uint32_t i = 0; i < hdr->count; i++) {
        struct record rec;
        if (!parse(&at, (const char *)hdr + hdr->len, &rec)) {
            (void)tell_unreadable(w, t);
            return;
        }
        if (!told || is_fetch(&rec))
            refuse_record(w, t, &rec, err);
        told = true;
    }
    if (!told)
        (void)target_send_simple(w, t, PKT_ERROR, 0, 0, (uint32_t)err, 0);
}
