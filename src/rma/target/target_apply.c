/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_apply.c - applies the records of a packet to this process's window memory.
 *
 * op_check.c cuts out and checks a record; target_reply.c answers it, if it fetches. A record that
 * fails is refused: the origin gets a PKT_ERROR and reports it at its next synchronization; the
 * records behind it are still applied.
 *
 * A packet's records are cut out, one after the other, into the engine's scratch memory, and their
 * replies are collected there, since a thread may have little stack. The holder of the engine's
 * lock may use that memory for one packet: nothing that is done for a record applies another
 * packet.
 *
 * Locks: the engine's. Accumulates take stripes, one at a time, inside the engine's lock. A stripe
 * is kept as long as the pieces of successive accumulates need the same one, at most for the
 * records of one packet; it is given back before anything else is done, and before anything is
 * sent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "rma/notify/notify.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/copy_local.h"
#include "rma/strict/strict.h"
#include "rma/target/op_check.h"
#include "rma/target/target.h"
#include "rma/target/target_reply.h"
#include "rma/types/type_table.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

static void apply_put(struct win *w, struct target_record *rec)
{
    const char *data = rec->data;
    if (rec->typed)
        dtype_unpack(&rec->cur, rec->base, data, rec->total);
    for (uint32_t i = 0; i < rec->nseg; i++) {
        memcpy(target_seg_addr(w, &rec->segs[i]), data, rec->segs[i].len);
        data += rec->segs[i].len;
    }
}

static struct acc_at own_at(const struct win *w, char *here)
{
    return (struct acc_at){w->rma->env->stripes, (uint64_t)(uintptr_t)here, here};
}

/* apply_acc applies ACC, GET_ACC and CAS, under the stripe locks, like every other accumulate. */
static int apply_acc(struct replies *r, struct target_record *rec, struct stripe_hold *hold)
{
    const struct pkt_op *op = &rec->op;
    const bool fetch = op->kind != PKT_OP_ACC;
    const struct acc_what what = {op->op, op->type};
    const char *data = rec->data;
    struct win *w = r->win;
    int err = acc_lock_mode(w, w->ctl, true); /* this was done before where a stripe is held */
    if (err)
        return err;
    if (fetch) /* making room may send */
        stripe_hold_drop(hold);
    char *old = fetch ? target_reply_room(r, rec) : NULL;
    if (rec->typed) /* not CAS: target_record_check */
        direct_acc_walk_held(hold, own_at(w, rec->base), &rec->cur, what, data, old, rec->total);
    for (uint32_t i = 0; i < rec->nseg; i++) {
        char *at = target_seg_addr(w, &rec->segs[i]);
        const size_t len = rec->segs[i].len;
        if (op->kind == PKT_OP_CAS)
            direct_cas(own_at(w, at), data, data + len, old, len);
        else
            direct_acc_held(hold, own_at(w, at), what, data, old, len);
        data += op->data_len ? len : 0;
        old += fetch ? len : 0;
    }
    if (fetch)
        stripe_hold_drop(hold);
    return MRMA_SUCCESS;
}

/* refuse_record refuses one record. disp is where its target bytes begin and bytes how many it
 * names; 0 where that is not known. */
static void refuse_record(struct win *w, struct rma_target *t, const struct pkt_op *op,
                          struct pkt_refusal why, int64_t disp, uint64_t bytes)
{
    const uint64_t most = UINT32_MAX / PKT_ERROR_BYTES;
    const uint32_t told = (uint32_t)(bytes < most ? bytes : most);
    why.kind = op->kind;
    (void)win_send_header(w, t, PKT_ERROR, told * PKT_ERROR_BYTES,
                          target_op_fetches(op) ? op->request : 0, pkt_refusal_word(why),
                          (uint64_t)disp);
}

/* keep_type keeps a datatype for later records. */
static int keep_type(struct pkt_origin *po, const struct target_record *rec)
{
    if (!po->types)
        po->types = type_table_new(po->win->first_number);
    return po->types ? type_table_got(po->types, &rec->op, rec->data) : MRMA_ERR_NO_MEM;
}

/* The engine's scratch memory: what all records of a packet need, and the present record. Most of
 * it is not written. */
struct applying {
    const struct pkt_hdr *hdr;
    struct stripe_hold hold;
    struct target_record rec;
    struct replies replies;
};

/* refuse_whole refuses a record that was cut out. */
static void refuse_whole(const struct applying *a, const struct target_record *rec, int err)
{
    const int64_t disp = rec->typed ? rec->typed_copy.disp : rec->nseg ? rec->segs[0].disp : 0;
    refuse_record(a->replies.win, a->replies.to, &rec->op,
                  (struct pkt_refusal){.err = (uint8_t)err, .epoch = a->hdr->epoch}, disp,
                  target_record_bytes(rec));
}

static int apply_operation(struct applying *a, struct target_record *rec, bool last)
{
    struct replies *r = &a->replies;
    struct win *w = r->win;
    int err = target_record_check(w, r->to->from, rec);
    if (unlikely(w->strict) && !err)
        err = strict_arrival(w, rec->op.kind, rec->op.op, a->hdr->epoch);
    if (err)
        return err;
    if (unlikely(rec->op.notify))
        err = notify_expect(w, r->to);
    if (err)
        return err;
    if (rec->op.kind == PKT_OP_GET)
        return target_reply_get(r, rec, last);
    if (rec->op.kind != PKT_OP_PUT)
        err = apply_acc(r, rec, &a->hold);
    else
        apply_put(w, rec);
    if (unlikely(rec->op.notify) && !err)
        notify_arrived(w, r->to, rec->op.notify);
    return err;
}

static int apply_record(struct applying *a, struct target_record *rec, bool last)
{
    struct replies *r = &a->replies;
    if (rec->op.kind != PKT_OP_ACC && rec->op.kind != PKT_OP_GET_ACC)
        stripe_hold_drop(&a->hold);
    int err =
        rec->op.kind == PKT_OP_TYPE ? keep_type(r->to->from, rec) : apply_operation(a, rec, last);
    if (err) {
        stripe_hold_drop(&a->hold);
        /* the error ends the record's request, so parts of that are sent before */
        target_replies_send(r, false);
        refuse_whole(a, rec, err);
    }
    return err;
}

/* report_unreadable is called where a record cannot be read, or there is no memory to read any: the
 * rest of the packet is lost, and with it the names of the requests in it. */
static int report_unreadable(struct win *w, struct rma_target *t, int err)
{
    (void)win_send_header(w, t, PKT_ERROR, PKT_ERROR_ALL, 0, (uint32_t)err, 0);
    return err;
}

/* count_arrived counts bytes for the fence that ends the phase. */
static void count_arrived(struct win *w, struct rma_target *t, uint64_t bytes)
{
    t->from->phase_bytes += (uint32_t)bytes;
    w->phase_arrived += bytes;
}

static int lose_rest(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, int err)
{
    if (hdr->epoch == PKT_EPOCH_FENCE) {
        t->from->phase_broken = true;
        w->fence_lost = true;
    }
    return report_unreadable(w, t, err);
}

/* apply_plain applies the short puts in front of the next record of another kind, at most `most` of
 * them. *at moves behind them, and *bytes is how many bytes they have put. Returns how many puts
 * there were. */
static uint32_t apply_plain(const struct win *w, const char **at, const char *end, uint32_t most,
                            uint64_t *bytes)
{
    /* a copy, so that it is not read again after each store */
    const struct window_memory mem = {w->base, w->size};
    const char *next = *at, *data;
    uint32_t n = 0;
    size_t len;
    char *to;
    *bytes = 0;
    for (; n < most && (to = target_plain_next(mem, &next, end, &data, &len)) != NULL; n++) {
        copy_whole(to, data, len);
        *bytes += len;
    }
    *at = next;
    return n;
}

/* scratch returns the scratch memory, which the first packet makes and which is freed with the
 * layer. NULL: there is no memory. */
static struct applying *scratch(struct rma *r)
{
    if (unlikely(!r->applying))
        r->applying = malloc(sizeof *r->applying);
    return r->applying;
}

int target_apply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body,
                 uint8_t *flags)
{
    const bool quick = !w->dynamic && likely(!w->strict);
    const char *at = body, *end = at + (hdr->len - sizeof *hdr);
    struct applying *a = scratch(w->rma);
    int first = MRMA_SUCCESS;
    *flags = hdr->flags;
    if (!a)
        return lose_rest(w, t, hdr, MRMA_ERR_NO_MEM);
    a->hdr = hdr;
    a->hold = (struct stripe_hold){NULL};
    target_replies_begin(&a->replies, w, t, hdr);
    for (uint32_t i = 0; i < hdr->count; i++) {
        uint64_t bytes = 0;
        if (quick)
            i += apply_plain(w, &at, end, hdr->count - i, &bytes);
        if (hdr->epoch == PKT_EPOCH_FENCE)
            count_arrived(w, t, bytes);
        if (i == hdr->count)
            break;
        if (!target_record_parse(&at, end, &a->rec)) {
            stripe_hold_drop(&a->hold);
            target_replies_send(&a->replies, false); /* the error ends all requests */
            first = lose_rest(w, t, hdr, MRMA_ERR_INTERN);
            break;
        }
        if (hdr->epoch == PKT_EPOCH_FENCE)
            count_arrived(w, t, target_record_bytes(&a->rec));
        const int err = apply_record(a, &a->rec, i + 1 == hdr->count);
        if (!first)
            first = err;
    }
    stripe_hold_drop(&a->hold);
    if (a->replies.parts)
        target_replies_send(&a->replies, true);
    *flags = a->replies.flags;
    return first;
}

void target_refuse_records(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr,
                           const void *body, int err)
{
    const char *at = body, *end = at + (hdr->len - sizeof *hdr);
    const struct pkt_refusal why = {.err = (uint8_t)err, .epoch = hdr->epoch};
    bool reported = false;
    for (uint32_t i = 0; i < hdr->count; i++) {
        struct pkt_op op;
        if (!target_record_skip(&at, end, &op)) {
            (void)report_unreadable(w, t, MRMA_ERR_INTERN);
            return;
        }
        if (!reported || target_op_fetches(&op))
            refuse_record(w, t, &op, why, 0, 0);
        reported = true;
    }
    if (!reported)
        (void)win_send_header(w, t, PKT_ERROR, 0, 0, (uint32_t)err, 0);
}
