/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sendq.c - sending in order: copied packets and streams.
 *
 * Invariant: a packet leaves directly only while the queue of its connection is
 * empty, so the order of ch3_send and ch3_send_stream is the order on the
 * wire. A connection is in ch3->pending_vcs exactly while its queue is not empty.
 * Locks: the engine's, held by the caller.
 *
 * Neighbours: ch3_progress.c pushes; vc.c ends what a lost connection has queued; the channels give
 * room.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "ch3/ch3.h"

struct copied_packet {
    struct ch3_stream stream;
    struct ch3_vc *vc;
    size_t len;
    unsigned char bytes[];
};

static void count_sent(struct ch3_vc *vc, const void *packet, size_t len)
{
    const struct pkt_hdr *hdr = packet;
    struct ch3_stats *s = &vc->ch3->stats;
    s->packets_sent++;
    s->bytes_sent += len;
    if (hdr->type < PKT_TYPE_LAST)
        s->by_type[hdr->type]++;
}

static bool copied_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    struct copied_packet *p = LIST_ENTRY(st, struct copied_packet, stream);
    (void)cap;
    memcpy(room, p->bytes, p->len);
    *len = p->len;
    return true;
}

static void copied_done(struct ch3_stream *st, int err)
{
    struct copied_packet *p = LIST_ENTRY(st, struct copied_packet, stream);
    (void)err;
    p->vc->queued -= p->len;
    free(p);
}

static inline void commit(struct ch3_vc *vc, size_t len, bool hurried)
{
    struct ch3_channel *ch = vc->channel;
    if (hurried || !(ch->caps & CH3_CAP_QUIET))
        ch->ops->commit(ch, vc, len);
    else
        ch->ops->commit_quietly(ch, vc, len);
}

/* push_stream sends what the stream at the head builds while there is room. True: the stream is
 * finished. */
static bool push_stream(struct ch3_vc *vc, struct ch3_stream *st)
{
    struct ch3_channel *ch = vc->channel;
    for (;;) {
        size_t cap = st->wants ? st->wants : PKT_MAX, len = 0;
        void *room = ch->ops->reserve(ch, vc, cap);
        if (!room)
            return false;
        bool last = st->next(st, room, cap, &len);
        if (len)
            count_sent(vc, room, len);
        commit(vc, len, !st->awaited);
        if (last)
            return true;
        if (!len)
            return false;
    }
}

bool ch3_sendq_push(struct ch3_vc *vc)
{
    bool moved = false;
    struct list_node *link;
    while ((link = list_first(&vc->sendq)) != NULL) {
        struct ch3_stream *st = LIST_ENTRY(link, struct ch3_stream, link);
        uint64_t before = vc->ch3->stats.packets_sent;
        bool finished = push_stream(vc, st);
        moved |= finished || vc->ch3->stats.packets_sent != before;
        if (!finished)
            return moved;
        ch3_stream_end(st, MRMA_SUCCESS);
    }
    ch3_vc_idle(vc);
    return moved;
}

static int check_open(struct ch3_vc *vc)
{
    return vc->state == CH3_VC_OPEN ? MRMA_SUCCESS : MRMA_ERR_PROC_FAILED;
}

static void enqueue(struct ch3_vc *vc, struct ch3_stream *st)
{
    struct ch3 *c = vc->ch3;
    list_push_back(&vc->sendq, &st->link);
    c->stats.queued++;
    if (st->owner)
        ++*st->owner;
    /* also true where a done call-back of this queue sends */
    if (list_node_queued(&vc->pending_link))
        return;
    list_push_back(&c->pending_vcs, &vc->pending_link);
    atomic_fetch_add_explicit(&c->unsent, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&vc->channel->queues, 1, memory_order_relaxed);
}

/* report_queued is called when a queue that was empty has kept something. The layer above must
 * know, and the receiver is woken, since its ring may be full of packets that were committed
 * quietly. No packet is committed quietly before the queue is empty again. */
static void report_queued(struct ch3_vc *vc, bool first)
{
    struct ch3 *c = vc->ch3;
    if (!first || list_empty(&vc->sendq))
        return;
    if (vc->channel->caps & CH3_CAP_QUIET)
        vc->channel->ops->wake(vc->channel, vc);
    if (c->queued)
        c->queued(c->handler_ctx);
}

static inline int send_now(struct ch3_vc *vc, const void *packet, size_t len, bool hurried)
{
    int err = check_open(vc);
    if (err)
        return err;
    struct ch3_channel *ch = vc->channel;
    void *room = list_empty(&vc->sendq) ? ch->ops->reserve(ch, vc, len) : NULL;
    if (!room)
        return MRMA_AGAIN;
    memcpy(room, packet, len);
    count_sent(vc, packet, len);
    commit(vc, len, hurried);
    return MRMA_SUCCESS;
}

int ch3_send(struct ch3_vc *vc, const void *packet, size_t len, uint32_t *owner, bool awaited)
{
    int err = send_now(vc, packet, len, !awaited);
    if (err != MRMA_AGAIN)
        return err;
    struct copied_packet *p = malloc(sizeof(*p) + len);
    if (!p)
        return log_fail(vc->ch3->log, MRMA_ERR_NO_MEM, "no memory to queue a packet of %zu bytes",
                        len);
    *p = (struct copied_packet){.stream = {.next = copied_next,
                                           .done = copied_done,
                                           .wants = len,
                                           .owner = owner,
                                           .awaited = awaited},
                                .vc = vc,
                                .len = len};
    memcpy(p->bytes, packet, len);
    vc->queued += len;
    const bool first = list_empty(&vc->sendq);
    enqueue(vc, &p->stream);
    report_queued(vc, first);
    return MRMA_SUCCESS;
}

int ch3_send_stream(struct ch3_vc *vc, struct ch3_stream *st)
{
    int err = check_open(vc);
    if (err)
        return err;
    bool first = list_empty(&vc->sendq);
    enqueue(vc, st);
    if (first)
        ch3_sendq_push(vc);
    report_queued(vc, first);
    return MRMA_SUCCESS;
}
