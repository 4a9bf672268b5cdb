/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_dispatch.c - a libFuzzer target: packets from hostile or broken peers, at any
 * moment of any epoch (script.h says how an input is read, engine.h what runs).
 *
 * No input may crash, touch memory outside the windows, leak, or loop; and at its end
 * the windows can be freed, in order where no epoch is open.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "engine.h"
#include "dtype/dtype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct script {
    const uint8_t *at, *end;
    struct fuzz_engine *engine;
    uint32_t len; /* of packet */
    alignas(8) unsigned char packet[PKT_MAX + 64];
};

/* ---- reading; what is not there is 0 ---- */

static uint64_t take(struct script *s, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes && s->at < s->end; i++)
        v |= (uint64_t)*s->at++ << (8 * i);
    return v;
}

static void append(struct script *s, const void *data, size_t len)
{
    if (len > sizeof s->packet - s->len)
        len = sizeof s->packet - s->len;
    memcpy(s->packet + s->len, data, len);
    s->len += (uint32_t)len;
}

/* The data of a record: any bytes, the same every time. */
static void fill(struct script *s, size_t len)
{
    const size_t left = sizeof s->packet - s->len, n = len < left ? len : left;
    memset(s->packet + s->len, 0x37, n);
    s->len += (uint32_t)n;
}

static void append_script(struct script *s, size_t len)
{
    if (len > (size_t)(s->end - s->at))
        len = (size_t)(s->end - s->at);
    append(s, s->at, len);
    s->at += len;
}

/* ---- packets ---- */

static struct pkt_hdr *header(struct script *s)
{
    return (struct pkt_hdr *)(void *)s->packet;
}

static const struct win *begin(struct script *s, unsigned at)
{
    const struct win *w = s->engine->win[at >> 1 & 1];
    s->len = sizeof(struct pkt_hdr);
    *header(s) = (struct pkt_hdr){
        .version = PKT_VERSION, .win = w->index, .win_gen = w->index_gen, .rank = 1 + (at & 1)};
    return w;
}

/* A byte names one of the first requests: the sum of its halves. */
static uint32_t request_of(unsigned byte)
{
    return (byte >> 4) + (byte & 15);
}

static void framed(struct script *s, unsigned at)
{
    (void)begin(s, at);
    struct pkt_hdr *hdr = header(s);
    hdr->type = (uint8_t)take(s, 1);
    hdr->epoch = (uint8_t)take(s, 1);
    hdr->flags = (uint8_t)take(s, 1);
    hdr->seq = (uint32_t)(int32_t)(int8_t)take(s, 1);
    const unsigned count = (unsigned)take(s, 1);
    hdr->count = hdr->type == PKT_ERROR ? request_of(count) : count;
    hdr->total = (uint32_t)take(s, 4);
    hdr->offset = take(s, 8);
    const size_t len = take(s, 2);
    if (hdr->type == PKT_REPLY && hdr->total) { /* so many parts are among the bytes */
        hdr->count = hdr->total;
    } else if (hdr->type == PKT_REPLY) { /* one part, of these bytes */
        const struct pkt_part part = {request_of(count), (uint32_t)len, hdr->offset};
        hdr->count = 1;
        append(s, &part, sizeof part);
    }
    append_script(s, len);
    hdr->len = s->len;
}

/* Of a datatype: how holds the number of runs. */
static void definition(struct script *s, struct pkt_op *op, unsigned how)
{
    struct pkt_run runs[4];
    const unsigned n = how & 3;
    op->offset = (uint64_t)(int16_t)take(s, 2);
    for (unsigned i = 0; i < n; i++) {
        runs[i].disp = (int16_t)take(s, 2);
        runs[i].len = (uint64_t)(int16_t)take(s, 2);
        runs[i].stride = (int16_t)take(s, 2);
        runs[i].n = take(s, 1);
    }
    if (!(how & 4))
        op->data_len = (uint16_t)(n * sizeof *runs);
    append(s, op, sizeof *op);
    append(s, runs, n * sizeof *runs);
}

static void typed_record(struct script *s, struct pkt_op *op, unsigned how, bool dynamic)
{
    struct pkt_typed where;
    op->form = PKT_FORM_TYPED;
    op->nseg = (uint32_t)take(s, 1);
    op->offset = take(s, 2);
    where.disp = (int16_t)take(s, 2);
    where.count = take(s, 1);
    where.len = take(s, 2);
    if (dynamic)
        where.disp += (int64_t)(uintptr_t)s->engine->regions;
    const size_t room = op->kind == PKT_OP_GET || op->op == ACC_NO_OP ? 0 : where.len;
    if (!(how & 4))
        op->data_len = (uint16_t)room;
    append(s, op, sizeof *op);
    append(s, &where, sizeof where);
    fill(s, pkt_align(room));
}

static void plain_record(struct script *s, unsigned how, uint32_t given)
{
    struct pkt_plain plain = {
        .kind = PKT_OP_PLAIN, .notify = how & 32 ? 1 : 0, .len = (uint16_t)take(s, 2)};
    plain.disp = (uint32_t)(int16_t)take(s, 2);
    append(s, &plain, sizeof plain);
    fill(s, pkt_align(how & 4 ? given : plain.len));
}

static void record(struct script *s, bool dynamic)
{
    struct pkt_op op = {
        .kind = (uint8_t)take(s, 1), .op = (uint8_t)take(s, 1), .type = (uint8_t)take(s, 1)};
    struct pkt_seg segs[4];
    const unsigned how = (unsigned)take(s, 1);
    uint64_t total = 0;
    op.nseg = how & 3;
    op.notify = (uint8_t)(how >> 6);
    op.request = (uint32_t)take(s, 1);
    const uint32_t given = how & 4 ? (uint32_t)take(s, 2) : 0;
    if (how & 16) {
        plain_record(s, how, given);
        return;
    }
    if (how & 8 || op.kind == PKT_OP_TYPE) {
        op.nseg = 0;
        op.data_len = given;
        if (how & 8)
            typed_record(s, &op, how, dynamic);
        else
            definition(s, &op, how);
        return;
    }
    for (unsigned i = 0; i < op.nseg; i++) {
        segs[i].disp = (int16_t)take(s, 2);
        segs[i].len = take(s, 2);
        total += segs[i].len;
        if (dynamic)
            segs[i].disp += (int64_t)(uintptr_t)s->engine->regions;
    }
    op.data_len = op.kind == PKT_OP_GET || op.op == ACC_NO_OP ? 0 : (uint16_t)total;
    if (op.kind == PKT_OP_CAS)
        op.data_len *= 2;
    const size_t room = op.data_len;
    if (how & 4)
        op.data_len = given;
    append(s, &op, sizeof op);
    append(s, segs, op.nseg * sizeof *segs);
    fill(s, pkt_align(room));
}

static void records(struct script *s, unsigned at)
{
    const struct win *w = begin(s, at);
    struct pkt_hdr *hdr = header(s);
    hdr->type = PKT_OPS;
    hdr->epoch = (uint8_t)take(s, 1);
    hdr->flags = (uint8_t)take(s, 1);
    hdr->seq = (uint32_t)(int32_t)(int8_t)take(s, 1);
    hdr->total = (uint32_t)take(s, 4);
    hdr->offset = take(s, 1);
    hdr->count = (uint32_t)take(s, 1);
    for (unsigned i = 0; i < hdr->count && i < 16 && s->len < PKT_MAX; i++)
        record(s, w->dynamic);
    if (s->len > PKT_MAX)
        s->len = PKT_MAX;
    hdr->len = s->len;
}

/* The packet that the script has next, if it is one. */
static const void *next_packet(void *arg, unsigned *from, size_t *len)
{
    struct script *s = arg;
    if (s->at == s->end || *s->at % FUZZ_STEPS > FUZZ_RECORDS)
        return NULL;
    const unsigned step = (unsigned)take(s, 1) % FUZZ_STEPS, at = (unsigned)take(s, 1);
    *from = 1 + (at & 1);
    s->len = 0;
    if (step == FUZZ_RAW)
        append_script(s, take(s, 2));
    else if (step == FUZZ_FRAMED)
        framed(s, at);
    else
        records(s, at);
    *len = s->len;
    return s->packet;
}

/* ---- calls of the process under test ---- */

static void operation(struct script *s, struct win *w, enum fuzz_call call, int target,
                      unsigned how, size_t n)
{
    static char buffer[3][FUZZ_WINDOW]; /* replies that come late write into it; never read */
    static struct dtype byte, i64;
    struct fuzz_engine *e = s->engine;
    const bool bytes = call == FUZZ_CALL_PUT || call == FUZZ_CALL_GET;
    if (!byte.size) { /* once: requests hold references */
        byte = dtype_basic(ACC_U8);
        i64 = dtype_basic(ACC_I64);
    }
    const struct dtype *type = bytes ? &byte : &i64;
    const size_t count = call == FUZZ_CALL_CAS ? 1 : n % (FUZZ_WINDOW / (bytes ? 1 : 8));
    struct rma_op op = {.oaddr = buffer[0],
                        .ocount = count,
                        .otype = type,
                        .raddr = buffer[1],
                        .rcount = count,
                        .rtype = type,
                        .caddr = buffer[2],
                        .target = target,
                        .disp = w->dynamic ? (int64_t)(uintptr_t)e->regions : (how & 3) * 8,
                        .tcount = count,
                        .ttype = type,
                        .op = call == FUZZ_CALL_CAS ? ACC_OP_NONE
                              : how & 4             ? ACC_NO_OP
                                                    : ACC_SUM,
                        .req = how & 8 && bytes ? &e->req : NULL};
    switch (call) {
    case FUZZ_CALL_PUT:
        (void)rma_put(w, &op);
        break;
    case FUZZ_CALL_GET:
        (void)rma_get(w, &op);
        break;
    case FUZZ_CALL_ACC:
        op.op = how & 4 ? ACC_REPLACE : ACC_SUM;
        (void)rma_accumulate(w, &op);
        break;
    case FUZZ_CALL_GET_ACC:
        (void)rma_get_accumulate(w, &op);
        break;
    default:
        (void)rma_compare_and_swap(w, &op);
        break;
    }
}

static void attach(struct fuzz_engine *e, unsigned i, bool attach)
{
    char *at = e->regions + i * FUZZ_REGION_GAP;
    const int err = attach ? win_attach(e->win[1], at, FUZZ_REGION) : win_detach(e->win[1], at);
    FUZZ_CHECK((err == MRMA_SUCCESS) == (attach != e->attached[i]));
    e->attached[i] = attach;
}

static void active(struct win *w, enum fuzz_call call, const int *group, int n, unsigned how)
{
    const int asserts = (int)(how & 31);
    bool flag;
    switch (call) {
    case FUZZ_CALL_FENCE:
        (void)rma_fence(w, asserts);
        break;
    case FUZZ_CALL_START:
        (void)rma_start(w, group, n, asserts);
        break;
    case FUZZ_CALL_COMPLETE:
        (void)rma_complete(w);
        break;
    case FUZZ_CALL_POST:
        (void)rma_post(w, group, n, asserts);
        break;
    case FUZZ_CALL_TEST:
        (void)rma_test(w, &flag);
        break;
    default:
        (void)rma_wait(w);
        break;
    }
}

/* Unlocks and flushes only where the entry points would let them pass. */
static void passive(struct win *w, enum fuzz_call call, int target, unsigned how)
{
    switch (call) {
    case FUZZ_CALL_LOCK:
        (void)rma_lock(w, how & 1, target, how & 2 ? RMA_NOCHECK : 0);
        break;
    case FUZZ_CALL_UNLOCK:
        (void)rma_unlock(w, target);
        break;
    case FUZZ_CALL_LOCK_ALL:
        (void)rma_lock_all(w, how & 2 ? RMA_NOCHECK : 0);
        break;
    case FUZZ_CALL_UNLOCK_ALL:
        (void)rma_unlock_all(w);
        break;
    case FUZZ_CALL_FLUSH:
        (void)(how & 1 ? rma_flush_all(w, false) : rma_flush(w, target, false));
        break;
    default:
        (void)(how & 1 ? rma_flush_all(w, true) : rma_flush(w, target, true));
        break;
    }
}

static void call(struct script *s)
{
    const enum fuzz_call what = (enum fuzz_call)(take(s, 1) % FUZZ_CALLS);
    const unsigned rank = (unsigned)take(s, 1), how = (unsigned)take(s, 1);
    const size_t n = take(s, 2);
    const int target = (int)(rank % FUZZ_PROCS),
              group[2] = {1 + (int)(rank & 1), 2 - (int)(rank & 1)};
    struct win *w = s->engine->win[rank >> 7];
    if (what <= FUZZ_CALL_WAIT)
        active(w, what, group, 1 + (rank >> 1 & 1), how);
    else if (what <= FUZZ_CALL_FLUSH_LOCAL)
        passive(w, what, target, how);
    else if (what <= FUZZ_CALL_CAS)
        operation(s, w, what, target, how, n);
    else if (what == FUZZ_CALL_PROGRESS)
        rma_progress(&s->engine->rma);
    else
        attach(s->engine, rank % FUZZ_REGIONS, what == FUZZ_CALL_ATTACH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct script s;
    struct fuzz_engine *e = aligned_alloc(MRMA_CACHE_LINE, sizeof *e);
    FUZZ_CHECK(e);
    memset(e, 0, sizeof *e);
    s.at = data;
    s.end = data + size;
    s.engine = e;
    e->next_packet = next_packet;
    e->arg = &s;
    fuzz_engine_start(e, (unsigned)take(&s, 1));
    while (s.at < s.end) {
        unsigned from;
        size_t len;
        const void *packet = next_packet(&s, &from, &len);
        if (packet) {
            fuzz_engine_deliver(e, from, packet, len);
            continue;
        }
        if (take(&s, 1) % FUZZ_STEPS == FUZZ_CALL)
            call(&s);
        else
            e->stalled = !e->stalled;
    }
    fuzz_engine_end(e);
    free(e);
    return 0;
}
