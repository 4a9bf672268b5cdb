/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_record.c - see op_record.h. No state, no locks.
 *
 * Limits: what a target answers to one get_accumulate record must fit into one
 * reply packet, so such a record names at most PKT_REPLY_MAX bytes even where no
 * data travels (MPI_NO_OP). A get record may name any amount: its reply is cut
 * by the target.
 */
#include "rma/origin/op_record.h"

#include "dtype/dtype_compact.h"
#include "rma/types/type_table.h"

enum { PAD = 7 };

void origin_record_init(struct origin_record *s, enum pkt_op_kind kind, const struct rma_op *op,
                        int64_t offset, uint32_t request)
{
    const bool elements = kind != PKT_OP_PUT && kind != PKT_OP_GET;
    const enum dtype_view view = elements ? DTYPE_ELEMENTS : DTYPE_BYTES;
    const struct dtype *ttype = op->ttype, *otype = op->otype;
    /* The fields are set one by one, since most operations do not use the cursors, which are
     * large. */
    s->kind = kind;
    s->op = kind == PKT_OP_CAS ? ACC_OP_NONE : (uint8_t)op->op;
    s->type = elements ? ttype->basic : 0;
    s->unit = elements ? acc_extent(s->type) : 1;
    s->left = elements ? op->tcount * ttype->elems * s->unit : op->tcount * ttype->size;
    s->pos = 0;
    s->limit = kind == PKT_OP_GET ? SIZE_MAX : PKT_REPLY_MAX / s->unit * s->unit;
    s->data = kind != PKT_OP_GET && s->op != ACC_NO_OP;
    s->contig = ttype->contig && s->left == op->tcount * ttype->size;
    s->notify = (uint8_t)op->notify;
    s->plain = kind == PKT_OP_PUT && otype->contig && s->contig && s->left <= UINT32_MAX &&
               pkt_is_plain(offset) && pkt_is_plain(offset + (int64_t)s->left);
    s->flat = s->data && (kind == PKT_OP_CAS ||
                          (otype->contig && (!elements || otype->size == otype->elems * s->unit)));
    s->typed = s->define = false;
    s->id = 0;
    s->request = request;
    s->base = offset;
    s->ttype = ttype;
    s->count = op->tcount;
    s->origin = op->oaddr;
    s->compare = op->caddr;
    if (!s->contig)
        dtype_cursor_init(&s->target_cur, ttype, op->tcount, view);
    if (s->data && !s->flat)
        dtype_cursor_init(&s->origin_cur, otype, op->ocount, view);
}

/* data_of returns how many bytes of data travel for so many target bytes. */
static inline size_t data_of(const struct origin_record *s, size_t bytes)
{
    if (!s->data)
        return 0;
    return s->kind == PKT_OP_CAS ? 2 * bytes : bytes;
}

size_t origin_record_min(const struct origin_record *s)
{
    const size_t where = s->typed ? sizeof(struct pkt_typed) : sizeof(struct pkt_seg);
    if (s->plain)
        return sizeof(struct pkt_plain) + pkt_align(1);
    return (s->define ? type_table_size(s->ttype) : 0) + sizeof(struct pkt_op) + where +
           pkt_align(data_of(s, s->unit));
}

size_t origin_record_segments(const struct origin_record *s, size_t limit)
{
    const struct dtype_cursor *cur = &s->target_cur;
    size_t n = 0;
    if (s->contig ||
        (cur->nruns == 1 && cur->runs->n == 1 && (ptrdiff_t)cur->runs->len == s->ttype->extent))
        return 1 < limit ? 1 : limit;
    if (cur->root)
        n = cur->root->pieces < limit ? cur->root->pieces : limit;
    for (size_t i = 0; i < cur->nruns && n < limit; i++)
        n += cur->runs[i].n < limit ? cur->runs[i].n : limit;
    return n && s->count >= limit / n ? limit : n * s->count;
}

/* most_named returns how many bytes a record names at most, in one piece or by the datatype, so
 * that their data fit into the room. */
static inline size_t most_named(const struct origin_record *s, size_t room)
{
    const size_t most = s->left < s->limit ? s->left : s->limit;
    if (data_of(s, most) <= room)
        return most;
    return room / s->unit * s->unit;
}

/* name_segments names target pieces in segs until the room, the room of the answer, or the
 * operation is used up. Returns how many pieces it has named; *total is their bytes. */
static uint32_t name_segments(struct origin_record *s, struct pkt_seg *segs, size_t room,
                              size_t *total)
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

/* name_target names the record's target bytes in the room behind the record's head. Returns how
 * many bytes it has named; *len is the room that their names take. */
static size_t name_target(struct origin_record *s, struct pkt_op *rec, size_t room, size_t *len)
{
    void *where = rec + 1;
    size_t total;
    if (s->typed) {
        total = most_named(s, room - sizeof(struct pkt_typed));
        *(struct pkt_typed *)where =
            (struct pkt_typed){.disp = s->base, .count = s->count, .len = total};
        *len = sizeof(struct pkt_typed);
        rec->nseg = s->id;
        return total;
    }
    if (likely(s->contig)) {
        total = most_named(s, room - sizeof(struct pkt_seg));
        *(struct pkt_seg *)where =
            (struct pkt_seg){.disp = s->base + (int64_t)s->pos, .len = total};
        rec->nseg = 1;
    } else {
        rec->nseg = name_segments(s, where, room, &total);
    }
    *len = rec->nseg * sizeof(struct pkt_seg);
    return total;
}

/* fill copies the data that belong to the next len target bytes, padded. */
static void fill(struct origin_record *s, char *room, size_t len, size_t data_len)
{
    const char *from = (const char *)s->origin + s->pos;
    if (s->kind == PKT_OP_CAS) {
        memcpy(room, s->compare, len);
        memcpy(room + len, from, len);
    } else if (s->flat && len == sizeof(uint64_t)) {
        memcpy(room, from, sizeof(uint64_t));
    } else if (s->flat) {
        memcpy(room, from, len);
    } else {
        dtype_pack(&s->origin_cur, s->origin, room, len);
    }
    if (data_len % sizeof(uint64_t))
        memset(room + data_len, 0, pkt_align(data_len) - data_len);
}

static size_t build_plain(struct origin_record *s, void *room, size_t cap)
{
    const size_t most = cap - sizeof(struct pkt_plain), len = s->left < most ? s->left : most;
    const size_t size = origin_record_plain(room, (const char *)s->origin + s->pos,
                                            (uint32_t)((uint64_t)s->base + s->pos), len,
                                            len == s->left ? s->notify : 0);
    s->left -= len;
    s->pos += len;
    return size;
}

size_t origin_record_build(struct origin_record *s, void *room, size_t cap)
{
    if (!s->left || cap < origin_record_min(s))
        return 0;
    cap &= ~(size_t)PAD;
    if (s->plain)
        return build_plain(s, room, cap);
    const size_t due = s->define ? type_table_size(s->ttype) : 0;
    if (s->define)
        type_table_define(room, s->id, s->ttype);
    s->define = false;
    struct pkt_op *rec = (void *)((char *)room + due);
    cap -= due;
    size_t where;
    *rec = (struct pkt_op){.kind = (uint8_t)s->kind,
                           .op = s->op,
                           .type = s->type,
                           .form = s->typed ? PKT_FORM_TYPED : PKT_FORM_SEGS,
                           .request = s->request,
                           .offset = s->pos};
    const size_t total = name_target(s, rec, cap - sizeof *rec, &where);
    const size_t data_len = data_of(s, total);
    rec->data_len = (uint16_t)data_len;
    if (data_len)
        fill(s, (char *)(rec + 1) + where, total, data_len);
    s->left -= total;
    s->pos += total;
    rec->notify = s->left ? 0 : s->notify;
    return due + sizeof *rec + where + pkt_align(data_len);
}
