/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_check.c - see op_check.h.
 *
 * Everything in a record is checked before anything is touched: kind, operation and type, that
 * segments and data lie in the packet, that segments lie in the window (or in attached memory), and
 * that lengths agree. If a record names a datatype, the datatype must be known, and all its
 * instances must lie in the window; in attached memory at least the bytes that the record names
 * must lie there.
 */
#include "rma/target/op_check.h"

#include "acc/acc.h"
#include "base/copy.h"
#include "base/err.h"
#include "rma/notify/notify.h"
#include "rma/target/target.h"
#include "rma/types/type_table.h"
#include "rma/win/region.h"

/* The flags that may be piggybacked on the packets of an epoch. */
static const uint8_t may_piggyback[PKT_EPOCH_LAST] = {
    [PKT_EPOCH_FENCE] = PKT_F_WANT_OPEN | PKT_F_FENCE,
    [PKT_EPOCH_PSCW] = PKT_F_WANT_OPEN | PKT_F_COMPLETE,
    [PKT_EPOCH_LOCK] = PKT_F_LOCK_SHARED | PKT_F_LOCK_EXCLUSIVE | PKT_F_LOCK_ALL | PKT_F_WANT_OPEN |
                       PKT_F_FLUSH | PKT_F_UNLOCK,
    [PKT_EPOCH_NOCHECK] = PKT_F_WANT_OPEN | PKT_F_FLUSH,
};

bool target_header_sound(const struct pkt_hdr *hdr)
{
    return hdr->epoch != PKT_EPOCH_NONE && hdr->epoch < PKT_EPOCH_LAST &&
           !(hdr->flags & ~may_piggyback[hdr->epoch]);
}

/* any_addr returns the address of a displacement to which displacements in a datatype are added;
 * the address itself need not be in the window. */
static char *any_addr(const struct win *w, int64_t disp)
{
    return (char *)((w->dynamic ? 0 : (uintptr_t)w->base) + (uintptr_t)disp);
}

/* seg_inside returns whether the segment lies in the window, or in attached memory. */
static bool seg_inside(struct win *w, const struct pkt_seg *seg)
{
    if (w->dynamic)
        return region_covers(w->regions, (uint64_t)seg->disp, seg->len);
    return seg->disp >= 0 && (uint64_t)seg->disp <= w->size &&
           seg->len <= w->size - (uint64_t)seg->disp;
}

static int check_segments(struct win *w, struct target_record *rec)
{
    const uint8_t type = rec->op.type;
    const size_t unit = type ? acc_extent(type) : 1, pad = acc_pad(type);
    rec->total = 0;
    for (uint32_t i = 0; i < rec->nseg; i++) {
        const struct pkt_seg *seg = &rec->segs[i];
        const struct pkt_seg data = {.disp = seg->disp,
                                     .len = seg->len > pad ? seg->len - pad : seg->len};
        if (!seg_inside(w, &data))
            return MRMA_ERR_RMA_RANGE;
        if (!seg->len || (type && seg->len % unit) || seg->len > SIZE_MAX / 2 - rec->total)
            return MRMA_ERR_COUNT;
        rec->total += seg->len;
    }
    return MRMA_SUCCESS;
}

/* pieces_inside looks at each piece, since attached memory may have gaps where the datatype has
 * gaps. */
static bool pieces_inside(struct win *w, const struct target_record *rec)
{
    struct dtype_cursor cur = rec->cur;
    ptrdiff_t disp;
    for (size_t left = rec->total, len; left; left -= len) {
        len = dtype_cursor_next(&cur, left, &disp);
        if (!region_covers(w->regions, (uint64_t)(rec->typed->disp + disp), len))
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

/* check_typed also sets the cursor that walks over the record's bytes. */
static int check_typed(struct win *w, const struct pkt_origin *po, struct target_record *rec)
{
    const size_t unit = rec->op.type ? acc_extent(rec->op.type) : 1;
    const struct pkt_typed *typed = rec->typed;
    const uint64_t pos = rec->op.offset;
    int64_t lo, hi;
    rec->type = type_table_get(po->types, rec->op.nseg);
    if (!rec->type)
        return MRMA_ERR_TYPE;
    if (!type_table_range(rec->type, typed->count, typed->disp, &lo, &hi))
        return MRMA_ERR_RMA_RANGE;
    const size_t all = typed->count * rec->type->size;
    if (!typed->len || pos >= all || typed->len > all - pos || pos % unit || typed->len % unit ||
        rec->op.kind == PKT_OP_CAS || !whole_units(rec->type, unit) ||
        (w->dynamic && typed->len > PKT_TYPED_DYNAMIC))
        return MRMA_ERR_COUNT;
    rec->total = typed->len;
    rec->base = any_addr(w, typed->disp);
    dtype_cursor_init(&rec->cur, rec->type, typed->count, DTYPE_BYTES);
    dtype_cursor_seek(&rec->cur, pos);
    const struct pkt_seg range = {.disp = lo, .len = (uint64_t)hi - (uint64_t)lo};
    return seg_inside(w, &range) || (w->dynamic && pieces_inside(w, rec)) ? MRMA_SUCCESS
                                                                          : MRMA_ERR_RMA_RANGE;
}

/* check_kind returns an error if the record's data length does not fit its kind, or if the window
 * does not have the number of its notification. */
static int check_kind(const struct target_record *rec, uint32_t numbers)
{
    const struct pkt_op *op = &rec->op;
    const bool acc = op->kind == PKT_OP_ACC || op->kind == PKT_OP_GET_ACC;
    if (op->zero)
        return MRMA_ERR_INTERN;
    if (op->notify > numbers)
        return MRMA_ERR_ARG;
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
    if (op->kind == PKT_OP_GET_ACC && rec->total > PKT_REPLY_MAX)
        return MRMA_ERR_COUNT;
    return op->data_len == (op->op == ACC_NO_OP ? 0 : rec->total) ? MRMA_SUCCESS : MRMA_ERR_COUNT;
}

int target_record_check(struct win *w, const struct pkt_origin *po, struct target_record *rec)
{
    int err = rec->typed ? check_typed(w, po, rec) : check_segments(w, rec);
    return err ? err : check_kind(rec, notify_numbers(w));
}

/* cut_plain cuts out a struct pkt_plain, as a put of one segment. */
static bool cut_plain(const char **at, const char *end, struct pkt_op *op, struct pkt_seg *seg,
                      const char **data)
{
    struct pkt_plain plain;
    copy_once(&plain, *at, sizeof plain);
    if (!plain.len || pkt_align(plain.len) > (size_t)(end - *at) - sizeof plain)
        return false;
    *op = (struct pkt_op){
        .kind = PKT_OP_PUT, .nseg = 1, .data_len = plain.len, .notify = plain.notify};
    *seg = (struct pkt_seg){.disp = plain.disp, .len = plain.len};
    *data = *at + sizeof plain;
    *at = *data + pkt_align(plain.len);
    return true;
}

static bool is_plain(const char *at, const char *end)
{
    return (size_t)(end - at) >= sizeof(struct pkt_plain) && *at == PKT_OP_PLAIN;
}

static bool sound_head(const struct pkt_op *op)
{
    return op->kind != PKT_OP_NONE && op->kind < PKT_OP_PLAIN && op->op < ACC_OP_LAST &&
           op->type < ACC_TYPE_LAST && op->form < PKT_FORM_LAST;
}

/* copy_named copies the part of the record that names the target's bytes; it copies a single
 * segment without a call. */
static inline void copy_named(struct target_record *rec, const char *from, bool typed)
{
    rec->typed = typed ? &rec->typed_copy : NULL;
    if (typed)
        copy_once(&rec->typed_copy, from, sizeof rec->typed_copy);
    else if (likely(rec->nseg == 1))
        copy_once(rec->segs, from, sizeof rec->segs[0]);
    else
        copy_once(rec->segs, from, rec->nseg * sizeof rec->segs[0]);
}

/* cut cuts out any other record; *named is the place at which the record names the target's
 * bytes. */
static bool cut(const char **at, const char *end, struct pkt_op *op, const char **named,
                const char **data)
{
    const size_t room = (size_t)(end - *at);
    if (room < sizeof *op)
        return false;
    copy_once(op, *at, sizeof *op);
    const size_t left = room - sizeof *op;
    const bool typed = op->form == PKT_FORM_TYPED;
    if (!sound_head(op) ||
        (typed ? left < sizeof(struct pkt_typed) : op->nseg > left / sizeof(struct pkt_seg)))
        return false;
    const size_t where = typed ? sizeof(struct pkt_typed) : op->nseg * sizeof(struct pkt_seg),
                 data_room = left - where;
    if (op->data_len > data_room || pkt_align(op->data_len) > data_room)
        return false;
    *named = *at + sizeof *op;
    *data = *named + where;
    *at = *data + pkt_align(op->data_len);
    return true;
}

bool target_record_parse(const char **at, const char *end, struct target_record *rec)
{
    const char *named;
    if (is_plain(*at, end)) {
        rec->nseg = 1;
        rec->typed = NULL;
        return cut_plain(at, end, &rec->op, rec->segs, &rec->data);
    }
    if (!cut(at, end, &rec->op, &named, &rec->data))
        return false;
    const bool typed = rec->op.form == PKT_FORM_TYPED;
    rec->nseg = typed ? 0 : rec->op.nseg;
    copy_named(rec, named, typed);
    return true;
}

bool target_record_skip(const char **at, const char *end, struct pkt_op *op)
{
    struct pkt_seg seg;
    const char *named, *data;
    return is_plain(*at, end) ? cut_plain(at, end, op, &seg, &data)
                              : cut(at, end, op, &named, &data);
}

uint64_t target_record_bytes(const struct target_record *rec)
{
    uint64_t sum = rec->typed ? rec->typed->len : 0;
    for (uint32_t i = 0; i < rec->nseg; i++)
        sum += rec->segs[i].len;
    return sum || !rec->op.notify ? sum : PKT_NOTIFY_BYTES;
}
