/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.c - what arrives: messages into receive buffers, puts and gets, atomics, answers.
 *
 * A write may be answered before its data is in place (placed_us): that comes later, or when
 * anything but a write comes by the same connection. A write with a word is in place at once, and
 * the queue may tell the word behind later events. What is late is held until so many later
 * messages of the same connection have passed, or for a while. Messages go into receive buffers in
 * the order in which these were posted; a buffer for many messages ends when less room is left than
 * its user said. Whoever reaches memory needs its key, and stays within it, or is answered with an
 * error.
 *
 * Locks: the domain's. Neighbours: wire.c, which brings frames; memory.c, atomics.c.
 */
#include <stdlib.h>
#include <string.h>

#include "test/fabric/objects.h"

#define HELD_NS UINT64_C(400000)
#define FETCH_NS UINT64_C(50000) /* a tenth of the longest time that a message is fetched */

/* ---- messages ---- */

static struct op *first_buffer(struct endpoint *ep)
{
    LIST_EACH (it, &ep->ops) {
        struct op *op = LIST_ENTRY(it, struct op, node);
        if (op->kind == OP_RECV)
            return op;
    }
    return NULL;
}

/* Some say by an event of its own that a buffer is used up, and may name what is left of it. */
static void end_by_event(struct op *op)
{
    struct fi_cq_err_entry told = {.op_context = op->context, .flags = FI_MULTI_RECV};
    if (rules->leftover) {
        told.buf = (char *)op->iov[0].iov_base + op->used;
        told.len = op->iov[0].iov_len - op->used;
    }
    queue_add(op->ep->cq, NULL, &told, 0);
}

/* The message is in its place, which the user may have taken back since it was given. */
static void tell_message(struct endpoint *ep, struct chunk *c)
{
    const size_t len = c->frame.payload < c->room ? (size_t)c->frame.payload : c->room;
    const struct fi_cq_err_entry told = {.op_context = c->context,
                                         .flags = c->flags,
                                         .buf = c->place,
                                         .len = len,
                                         .err = len < c->frame.payload ? FI_ETRUNC : 0};
    memcpy(c->place, c->payload, len);
    queue_add(ep->cq, NULL, &told, 0);
    free(c);
}

/* It is complete a while later. */
static void fetch(struct endpoint *ep, struct chunk *c)
{
    c->wire = NULL;
    c->due = now_ns() + (1 + domain_random(ep->domain, 10)) * FETCH_NS;
    list_push_back(&ep->held, &c->node);
}

/* waited: the message was there before the buffer. */
static void fill(struct op *op, struct chunk *c, bool waited)
{
    struct endpoint *ep = op->ep;
    const size_t len = (size_t)c->frame.payload, room = op->iov[0].iov_len - op->used;
    const bool multi = op->flags & FI_MULTI_RECV, fetched = rules->fetched && len > rules->fetched;
    if (len > room)
        rules_broken("a message of %zu bytes arrives where a buffer has %zu left", len, room);
    c->place = (char *)op->iov[0].iov_base + op->used;
    c->context = op->context;
    c->flags = FI_RECV | FI_MSG;
    c->room = room;
    op->used += len < room ? len : room;
    const bool ends = !multi || op->iov[0].iov_len - op->used < ep->min_multi;
    const bool by_event = rules->leftover || (waited && fetched);
    if (multi && ends && !by_event)
        c->flags |= FI_MULTI_RECV;
    if (fetched)
        fetch(ep, c);
    else
        tell_message(ep, c);
    if (!ends)
        return;
    if (multi && by_event)
        end_by_event(op);
    op_free(op);
}

void target_match(struct endpoint *ep)
{
    struct list_node *node;
    struct op *op;
    while ((op = first_buffer(ep)) != NULL && (node = list_pop_front(&ep->unexpected)) != NULL)
        fill(op, LIST_ENTRY(node, struct chunk, node), true);
}

/* ---- memory ---- */

/* The word of a write whose data is in place. No context of the user's comes with it, and none that
 * can be looked at. */
static void tell_word(struct endpoint *ep, uint64_t word)
{
    const struct fi_cq_err_entry told = {.op_context = (void *)8,
                                         .flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
                                         .data = word};
    COUNT(words);
    queue_add(ep->cq, NULL, &told, rules->delay_us);
}

static int put(struct endpoint *ep, const struct chunk *c)
{
    const struct frame *f = &c->frame;
    void *to = memory_at(ep->domain, f->key, f->addr, f->payload, FI_REMOTE_WRITE);
    if (!to)
        return FI_EACCES;
    memcpy(to, c->payload, (size_t)f->payload);
    if (f->with_word)
        tell_word(ep, f->word);
    return 0;
}

static void get(struct domain *d, struct wire *w, const struct frame *f)
{
    const void *from = memory_at(d, f->key, f->addr, f->len, FI_REMOTE_READ);
    wire_answer(w, f, from ? 0 : FI_EACCES, from, from ? (size_t)f->len : 0);
}

static void change(struct domain *d, struct wire *w, const struct chunk *c)
{
    const struct frame *f = &c->frame;
    const size_t size = atomics_size((enum fi_datatype)f->datatype);
    unsigned char old[ATOMIC_BYTES];
    void *to = memory_at(d, f->key, f->addr, f->len, FI_REMOTE_WRITE | FI_REMOTE_READ);
    if (to && size && (uintptr_t)to % size)
        rules_broken("an atomic operation on an element that is not aligned");
    if (to && f->len <= sizeof old && rules->atomics_lie == f->op + 1) { /* it does nothing */
        memcpy(old, to, f->len);
        wire_answer(w, f, 0, old, f->kind == OP_ATOMIC ? 0 : (size_t)f->len);
        return;
    }
    const void *compare = f->kind == OP_SWAP ? c->payload + f->len : NULL;
    if (!to || !size || f->len > sizeof old ||
        !atomics_apply((enum fi_op)f->op, (enum fi_datatype)f->datatype, to, c->payload, compare,
                       old, (size_t)f->len / size))
        wire_answer(w, f, FI_EACCES, NULL, 0);
    else
        wire_answer(w, f, 0, old, f->kind == OP_ATOMIC ? 0 : (size_t)f->len);
}

/* ---- frames ---- */

static void receive(struct endpoint *ep, struct chunk *c)
{
    struct op *op = list_empty(&ep->unexpected) ? first_buffer(ep) : NULL;
    if (op)
        fill(op, c, false);
    else
        list_push_back(&ep->unexpected, &c->node);
}

/* w: NULL, if whoever sent it has gone. */
static void deal_with(struct endpoint *ep, struct wire *w, struct chunk *c)
{
    const struct frame *f = &c->frame;
    switch ((enum op_kind)f->kind) {
    case OP_SEND:
        wire_answer(w, f, 0, NULL, 0);
        receive(ep, c);
        return;
    case OP_WRITE:
        wire_answer(w, f, put(ep, c), NULL, 0);
        break;
    case OP_READ:
        get(ep->domain, w, f);
        break;
    case OP_ATOMIC:
    case OP_FETCH:
    case OP_SWAP:
        change(ep->domain, w, c);
        break;
    case OP_DONE:
        card_answered(ep, f->id, f->status, c->payload, (size_t)f->payload);
        break;
    case OP_RECV:
        rules_broken("a frame that no endpoint sends");
    }
    free(c);
}

static void release(struct endpoint *ep, struct chunk *c)
{
    list_remove(&c->node);
    if (c->place)
        tell_message(ep, c);
    else
        deal_with(ep, c->wire, c);
}

/* A message has come: what it has overtaken has one less to wait for. */
static void overtake(struct endpoint *ep, const struct wire *w)
{
    LIST_EACH_SAFE (it, &ep->held) {
        struct chunk *c = LIST_ENTRY(it, struct chunk, node);
        if (c->wire != w || c->place)
            continue;
        COUNT(held);
        if (--c->frame.late == 0)
            release(ep, c);
    }
}

/* The end of the write is told, and its data held. */
static void place_later(struct wire *w, struct chunk *c)
{
    const struct frame *f = &c->frame;
    const bool right = memory_at(w->ep->domain, f->key, f->addr, f->payload, FI_REMOTE_WRITE);
    wire_answer(w, f, right ? 0 : FI_EACCES, NULL, 0);
    c->frame.id = 0; /* it has been answered */
    c->wire = w;
    c->due = now_ns() + rules->placed_us * UINT64_C(1000);
    list_push_back(&w->ep->held, &c->node);
}

/* What has been written before is in place when something else is dealt with. */
static void place_now(struct wire *w)
{
    LIST_EACH_SAFE (it, &w->ep->held) {
        struct chunk *c = LIST_ENTRY(it, struct chunk, node);
        if (c->wire == w && c->frame.kind == OP_WRITE)
            release(w->ep, c);
    }
}

void target_frame(struct wire *w, struct chunk *c)
{
    struct endpoint *ep = w->ep;
    if (rules->placed_us && c->frame.kind == OP_WRITE && !c->frame.with_word) {
        place_later(w, c);
        return;
    }
    if (rules->placed_us && c->frame.kind != OP_DONE)
        place_now(w);
    const bool message = c->frame.kind == OP_SEND;
    if (c->frame.late) {
        c->wire = w;
        c->due = now_ns() + HELD_NS;
        list_push_back(&ep->held, &c->node);
        return;
    }
    deal_with(ep, w, c);
    if (message)
        overtake(ep, w);
}

void target_step(struct endpoint *ep)
{
    const uint64_t now = now_ns();
    LIST_EACH_SAFE (it, &ep->held) {
        struct chunk *c = LIST_ENTRY(it, struct chunk, node);
        if (c->due <= now || (!c->wire && !c->place))
            release(ep, c);
    }
}

void target_forget_wire(struct wire *w)
{
    LIST_EACH (it, &w->ep->held) {
        struct chunk *c = LIST_ENTRY(it, struct chunk, node);
        if (c->wire == w)
            c->wire = NULL;
    }
}
