/*
 * op_record.c - see record.h. No state, no locks.
 *
 * Limits: what a target answers to one get_accumulate record must fit into one
 * reply packet, so such a record names at most REPLY_MAX bytes even where no
 * data travels (MPI_NO_OP). A get record may name any amount: its reply is cut
 * by the target.
 */
#include "rma/origin/op_record.h"

#include <string.h>

#include "base/copy.h"

enum { REPLY_MAX = PKT_MAX - sizeof(struct pkt_hdr), PAD = 7 };

void record_source_init(struct record_source *s, enum pkt_op_kind kind, const struct rma_op *op,
                        int64_t offset, uint32_t request)
{
    const bool elements = kind != PKT_OP_PUT && kind != PKT_OP_GET;
    const enum dtype_view view = elements ? DTYPE_ELEMENTS : DTYPE_BYTES;
    *s = (struct record_source){
        .kind = kind, .op = op->op, .base = offset, .request = request, .unit = 1};
    s->data = kind != PKT_OP_GET && op->op != ACC_NO_OP;
    s->left = op->tcount * op->ttype->size;
    if (elements) {
        s->type = op->ttype->basic;
        s->unit = acc_extent(s->type);
        s->left = op->tcount * op->ttype->elems * s->unit;
    }
    s->limit = kind == PKT_OP_GET ? SIZE_MAX : REPLY_MAX / s->unit * s->unit;
    s->plain = kind == PKT_OP_PUT && op->otype->contig && op->ttype->contig &&
               s->left <= UINT32_MAX && pkt_is_plain(offset) &&
               pkt_is_plain(offset + (int64_t)s->left);
    s->flat = op->otype && op->otype->contig &&
              (!elements || op->otype->size == op->otype->elems * s->unit);
    s->origin = op->oaddr;
    s->ttype = op->ttype;
    s->count = op->tcount;
    dtype_cursor_init(&s->target_cur, op->ttype, op->tcount, view);
    if (s->data && !s->flat)
        dtype_cursor_init(&s->origin_cur, op->otype, op->ocount, view);
}

size_t record_min(const struct record_source *s)
{
    const size_t where = s->typed ? sizeof(struct pkt_typed) : sizeof(struct pkt_seg);
    if (s->plain)
        return sizeof(struct pkt_plain) + pkt_align(1);
    return sizeof(struct pkt_op) + where + (s->data ? pkt_align(s->unit) : 0);
}

size_t record_segments(const struct record_source *s, size_t limit)
{
    const struct dtype_cursor *cur = &s->target_cur;
    size_t n = 0;
    if (cur->nruns == 1 && cur->runs->n == 1 && (ptrdiff_t)cur->runs->len == s->ttype->extent)
        return 1 < limit ? 1 : limit;
    for (size_t i = 0; i < cur->nruns && n < limit; i++)
        n += cur->runs[i].n < limit ? cur->runs[i].n : limit;
    return n && s->count >= limit / n ? limit : n * s->count;
}

/* Name target pieces in segs until the room, the answer's or the operation is
 * used up. Returns how many; *total bytes named. */
static uint32_t gather(struct record_source *s, struct pkt_seg *segs, size_t room, size_t *total)
{
    uint32_t n = 0;
    *total = 0;
    while (s->left > *total && *total < s->limit && room >= sizeof(struct pkt_seg)) {
        size_t max = s->limit - *total;
        if (s->data && max > room - sizeof(struct pkt_seg))
            max = (room - sizeof(struct pkt_seg)) / s->unit * s->unit;
        ptrdiff_t disp = 0;
        size_t len = max ? dtype_cursor_next(&s->target_cur, max, &disp) : 0;
        if (!len)
            break;
        memcpy(&segs[n++], &(struct pkt_seg){.disp = s->base + disp, .len = len}, sizeof *segs);
        *total += len;
        room -= sizeof(struct pkt_seg) + (s->data ? len : 0);
    }
    return n;
}

/* The same by the datatype: how many bytes are named. */
static size_t name_typed(const struct record_source *s, struct pkt_typed *typed, size_t room)
{
    size_t total = s->left < s->limit ? s->left : s->limit;
    if (s->data && total > room - sizeof *typed)
        total = (room - sizeof *typed) / s->unit * s->unit;
    *typed = (struct pkt_typed){.disp = s->base, .count = s->count, .len = total};
    return total;
}

/* The next len bytes of the origin's data. */
static void fill(struct record_source *s, char *room, size_t len)
{
    if (s->flat)
        memcpy(room, (const char *)s->origin + s->pos, len);
    else
        dtype_pack(&s->origin_cur, s->origin, room, len);
}

static size_t build_plain(struct record_source *s, char *room, size_t cap)
{
    const size_t most = cap - sizeof(struct pkt_plain), len = s->left < most ? s->left : most;
    const struct pkt_plain head = {
        .kind = PKT_OP_PLAIN, .len = (uint16_t)len, .disp = (uint32_t)((uint64_t)s->base + s->pos)};
    memcpy(room, &head, sizeof head);
    room += sizeof head;
    fill(s, room, len);
    memset(room + len, 0, pkt_align(len) - len);
    s->left -= len;
    s->pos += len;
    return sizeof head + pkt_align(len);
}

size_t record_build(struct record_source *s, void *room, size_t cap)
{
    if (!s->left || cap < record_min(s))
        return 0;
    if (s->plain)
        return build_plain(s, room, cap & ~(size_t)PAD);
    struct pkt_op *rec = room;
    void *where = rec + 1;
    size_t total, bytes = sizeof(struct pkt_typed);
    uint32_t n = s->id;
    cap = (cap & ~(size_t)PAD) - sizeof *rec;
    if (s->typed) {
        total = name_typed(s, where, cap);
    } else {
        n = gather(s, where, cap, &total);
        bytes = n * sizeof(struct pkt_seg);
    }
    *rec = (struct pkt_op){.kind = (uint8_t)s->kind,
                           .op = (uint8_t)s->op,
                           .type = s->type,
                           .nseg = n,
                           .form = s->typed ? PKT_FORM_TYPED : PKT_FORM_SEGS,
                           .request = s->request,
                           .data_len = s->data ? (uint16_t)total : 0,
                           .offset = s->pos};
    if (s->data)
        fill(s, (char *)where + bytes, total);
    s->left -= total;
    s->pos += total;
    return sizeof *rec + bytes + pkt_align(rec->data_len);
}

static bool sends(enum pkt_op_kind kind, const struct rma_op *op)
{
    return kind != PKT_OP_GET && op->op != ACC_NO_OP;
}

bool record_is_single(enum pkt_op_kind kind, const struct rma_op *op)
{
    const bool acc = kind == PKT_OP_ACC || kind == PKT_OP_GET_ACC;
    const size_t len = op->tcount * op->ttype->size;
    if (kind == PKT_OP_CAS)
        return true;
    return op->ttype->contig && len <= RECORD_SINGLE_DATA &&
           (!sends(kind, op) || op->otype->contig) &&
           (!acc || len == op->tcount * op->ttype->elems * acc_extent(op->ttype->basic));
}

size_t record_build_single(void *room, enum pkt_op_kind kind, const struct rma_op *op,
                           int64_t offset, uint32_t request)
{
    struct pkt_op *rec = room;
    struct pkt_seg *seg = (struct pkt_seg *)(rec + 1);
    if (kind == PKT_OP_CAS)
        return record_build_cas(room, op, offset, request);
    const size_t len = op->tcount * op->ttype->size, sent = sends(kind, op) ? len : 0;
    *rec =
        (struct pkt_op){.kind = (uint8_t)kind,
                        .op = (uint8_t)op->op,
                        .form = PKT_FORM_SEGS,
                        .nseg = 1,
                        .type = kind == PKT_OP_ACC || kind == PKT_OP_GET_ACC ? op->ttype->basic : 0,
                        .request = request,
                        .data_len = (uint16_t)sent};
    *seg = (struct pkt_seg){.disp = offset, .len = len};
    if (likely(sent == sizeof(uint64_t))) {
        memcpy(seg + 1, op->oaddr, sizeof(uint64_t));
    } else if (sent) {
        memcpy(seg + 1, op->oaddr, sent);
        memset((char *)(seg + 1) + sent, 0, pkt_align(sent) - sent);
    }
    return sizeof *rec + sizeof *seg + pkt_align(sent);
}

size_t record_build_cas(void *room, const struct rma_op *op, int64_t offset, uint32_t request)
{
    struct pkt_op *rec = room;
    struct pkt_seg *seg = (struct pkt_seg *)(rec + 1);
    char *data = (char *)(seg + 1);
    const size_t unit = acc_extent(op->ttype->basic);
    *rec = (struct pkt_op){.kind = PKT_OP_CAS,
                           .type = op->ttype->basic,
                           .nseg = 1,
                           .request = request,
                           .data_len = (uint16_t)(2 * unit)};
    *seg = (struct pkt_seg){.disp = offset, .len = unit};
    memcpy(data, op->caddr, unit);
    memcpy(data + unit, op->oaddr, unit);
    return sizeof *rec + sizeof *seg + pkt_align(2 * unit);
}
