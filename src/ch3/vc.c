/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vc.c - virtual connections: the state table and the end of a lost one.
 *
 *             CONNECT        LOST            CLOSE
 *   IDLE      OPEN           FAILED          IDLE
 *   OPEN      -              FAILED (*)      IDLE
 *   FAILED    -              FAILED          IDLE
 *
 * (*) every queued stream is ended with MRMA_ERR_PROC_FAILED. Where the channel can, the peer hears
 * of a connection that is lost here (abandon). "-" is a bug of the caller: refused and logged.
 * doc/protocol.md shows the same table.
 *
 * Locks: the engine's, held by the caller. Neighbours: sendq.c, whose queues end here; the
 * channels, which report lost connections.
 */
#include "base/err.h"
#include "ch3/ch3.h"

enum { REFUSED = CH3_VC_STATES };

static const uint8_t transition[CH3_VC_STATES][CH3_VC_EVENTS] = {
    [CH3_VC_IDLE] = {[CH3_VC_CONNECT] = CH3_VC_OPEN,
                     [CH3_VC_LOST] = CH3_VC_FAILED,
                     [CH3_VC_CLOSE] = CH3_VC_IDLE},
    [CH3_VC_OPEN] =
        {[CH3_VC_CONNECT] = REFUSED, [CH3_VC_LOST] = CH3_VC_FAILED, [CH3_VC_CLOSE] = CH3_VC_IDLE},
    [CH3_VC_FAILED] =
        {[CH3_VC_CONNECT] = REFUSED, [CH3_VC_LOST] = CH3_VC_FAILED, [CH3_VC_CLOSE] = CH3_VC_IDLE},
};

void ch3_vc_init(struct ch3_vc *vc, struct ch3 *c, struct ch3_channel *ch, void *channel_data,
                 void *owner)
{
    *vc = (struct ch3_vc){.channel_side = {.data = channel_data},
                          .ch3 = c,
                          .channel = ch,
                          .owner = owner,
                          .state = CH3_VC_IDLE};
    list_init(&vc->sendq);
    list_node_init(&vc->pending_link);
}

void ch3_vc_idle(struct ch3_vc *vc)
{
    if (!list_node_queued(&vc->pending_link))
        return;
    list_remove(&vc->pending_link);
    atomic_fetch_sub_explicit(&vc->ch3->unsent, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&vc->channel->queues, 1, memory_order_relaxed);
}

void ch3_stream_end(struct ch3_stream *st, int err)
{
    list_remove(&st->link);
    if (st->owner)
        --*st->owner;
    st->done(st, err);
}

static void fail_queue(struct ch3_vc *vc)
{
    struct list_node *link;
    while ((link = list_first(&vc->sendq)) != NULL)
        ch3_stream_end(LIST_ENTRY(link, struct ch3_stream, link), MRMA_ERR_PROC_FAILED);
    ch3_vc_idle(vc);
}

/* The walk begins again after each stream, since the stream's done may have sent or ended
 * others. */
void ch3_vc_drop(struct ch3_vc *vc, const uint32_t *owner)
{
    struct list_node *link = list_first(&vc->sendq);
    while (link) {
        struct ch3_stream *st = LIST_ENTRY(link, struct ch3_stream, link);
        link = list_next(&vc->sendq, link);
        if (st->owner == owner) {
            ch3_stream_end(st, MRMA_ERR_PROC_FAILED);
            link = list_first(&vc->sendq);
        }
    }
    if (list_empty(&vc->sendq))
        ch3_vc_idle(vc);
}

bool ch3_vc_event(struct ch3_vc *vc, enum ch3_vc_event event)
{
    const bool open = vc->state == CH3_VC_OPEN, lost = vc->state == CH3_VC_FAILED;
    uint8_t to = transition[vc->state][event];
    if (to == REFUSED) {
        log_msg(vc->ch3->log, LOG_LEVEL_ERROR, "virtual connection: event %d refused in state %d",
                event, vc->state);
        return false;
    }
    vc->state = to;
    if (event == CH3_VC_LOST && !lost && vc->channel && vc->channel->caps & CH3_CAP_ABANDON)
        vc->channel->ops->abandon(vc->channel, vc);
    if (event == CH3_VC_LOST)
        fail_queue(vc);
    if (event == CH3_VC_LOST && open && vc->ch3->lost)
        vc->ch3->lost(vc->ch3->handler_ctx, vc);
    if (event == CH3_VC_CLOSE && vc->channel)
        vc->channel->ops->disconnect(vc->channel, vc);
    return true;
}

const struct ch3_rdma_limits *ch3_rdma_limits(const struct ch3_vc *vc)
{
    const struct ch3_channel *ch = vc->channel;
    return ch && ch->caps & CH3_CAP_RDMA ? &ch->rdma : NULL;
}

bool ch3_rdma_is_ordered(const struct ch3_vc *vc)
{
    return vc->channel->caps & CH3_CAP_RDMA_ORDERED;
}

bool ch3_rdma_needs_read(const struct ch3_vc *vc)
{
    return vc->channel->caps & CH3_CAP_RDMA_READ_BEHIND;
}

bool ch3_rdma_takes_word(const struct ch3_vc *vc)
{
    return vc->channel->caps & CH3_CAP_RDMA_WORD;
}

int ch3_rdma_start(struct ch3_vc *vc, struct ch3_rdma *op)
{
    if (vc->state != CH3_VC_OPEN)
        return MRMA_ERR_PROC_FAILED;
    return vc->channel->ops->rdma(vc->channel, vc, op);
}

int ch3_rdma_start_own(struct ch3_channel *ch, struct ch3_rdma *op)
{
    return ch->ops->rdma(ch, NULL, op);
}

const struct ch3_atomics *ch3_atomics(const struct ch3_channel *ch)
{
    return ch->caps & CH3_CAP_RDMA ? &ch->atomics : NULL;
}

int ch3_mem_register(struct ch3_channel *ch, void *base, size_t len, struct ch3_mem_key *key,
                     struct ch3_mem **mem)
{
    return ch->ops->mem_register(ch, base, len, key, mem);
}

void ch3_mem_release(struct ch3_channel *ch, struct ch3_mem *mem)
{
    ch->ops->mem_release(ch, mem);
}

bool ch3_vc_is_lost(const struct ch3_vc *vc)
{
    return vc->state == CH3_VC_FAILED;
}

void ch3_vc_closed(struct ch3_vc *vc, bool closed)
{
    vc->closed = closed;
}

void ch3_vc_lost(struct ch3_vc *vc)
{
    (void)ch3_vc_event(vc, CH3_VC_LOST);
}
