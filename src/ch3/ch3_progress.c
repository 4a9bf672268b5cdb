/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ch3_progress.c - one round of progress: poll what arrives, push what is queued.
 *
 * Neighbours: sendq.c pushes, the channels poll and deliver. Locks: the
 * engine's, held by the caller (not for ch3_pending, ch3_pending_silent, ch3_wait_fds).
 */
#include "ch3/ch3.h"

void ch3_init(struct ch3 *c, const struct log *log, const ch3_handler *handlers, void *ctx)
{
    *c = (struct ch3){.log = log, .handlers = handlers, .handler_ctx = ctx};
    list_init(&c->pending_vcs);
}

void ch3_add_channel(struct ch3 *c, struct ch3_channel *ch)
{
    ch->deliver = ch3_deliver;
    ch->word = ch3_deliver_word;
    ch->ch3 = c;
    const unsigned n = atomic_load_explicit(&c->nchannels, memory_order_relaxed);
    c->channels[n] = ch;
    if (ch->caps & CH3_CAP_POLLED)
        atomic_store_explicit(&c->polled, true, memory_order_relaxed);
    if (ch->caps & (CH3_CAP_POLLED | CH3_CAP_WAIT))
        atomic_store_explicit(&c->by_calls, true, memory_order_relaxed);
    atomic_store_explicit(&c->nchannels, n + 1, memory_order_release); /* pairs with channels_of */
}

void ch3_channel_unsent(struct ch3_channel *ch, int change)
{
    struct ch3 *c = ch->ch3;
    atomic_fetch_add_explicit(&c->unsent, (uint32_t)change, memory_order_relaxed);
    atomic_fetch_add_explicit(&ch->unsent, (uint32_t)change, memory_order_relaxed);
    if (change > 0 && c->queued)
        c->queued(c->handler_ctx);
}

/* channels_of returns how many channels there are; all of these are complete. */
static unsigned channels_of(const struct ch3 *c)
{
    return atomic_load_explicit(&c->nchannels, memory_order_acquire);
}

/* ch3_poll pushes behind the channels' polls, not before them: a poll may make room, by credits
 * that arrive or by the end of a send, and nobody is told of that room again. So when ch3_poll
 * returns, what is still queued has no room, and a thread that sleeps next, or enters the host,
 * will be woken when there is room. */
bool ch3_poll(struct ch3 *c)
{
    bool moved = false;
    for (unsigned i = 0, n = channels_of(c); i < n; i++)
        moved |= c->channels[i]->ops->poll(c->channels[i]) != 0;
    LIST_EACH_SAFE (it, &c->pending_vcs)
        moved |= ch3_sendq_push(LIST_ENTRY(it, struct ch3_vc, pending_link));
    return moved;
}

bool ch3_pending(const struct ch3 *c)
{
    for (unsigned i = 0, n = channels_of(c); i < n; i++)
        if (c->channels[i]->ops->pending(c->channels[i]))
            return true;
    return false;
}

bool ch3_pending_silent(const struct ch3 *c)
{
    for (unsigned i = 0, n = channels_of(c); i < n; i++)
        if (!(c->channels[i]->caps & CH3_CAP_WAIT) && c->channels[i]->ops->pending(c->channels[i]))
            return true;
    return false;
}

unsigned ch3_wait_fds(const struct ch3 *c, int *fds)
{
    unsigned found = 0;
    for (unsigned i = 0, n = channels_of(c); i < n; i++)
        if (c->channels[i]->caps & CH3_CAP_WAIT)
            fds[found++] = c->channels[i]->ops->wait_fd(c->channels[i]);
    return found;
}

bool ch3_wait_begin(struct ch3 *c)
{
    for (unsigned i = 0, n = channels_of(c); i < n; i++)
        if (c->channels[i]->caps & CH3_CAP_WAIT && !c->channels[i]->ops->wait_begin(c->channels[i]))
            return false;
    return true;
}

bool ch3_unsent_must_poll(const struct ch3 *c)
{
    if (!ch3_unsent(c))
        return false;
    for (unsigned i = 0, n = channels_of(c); i < n; i++) {
        const struct ch3_channel *ch = c->channels[i];
        if (atomic_load_explicit(&ch->unsent, memory_order_relaxed))
            return true;
        if (!(ch->caps & CH3_CAP_ROOM) && atomic_load_explicit(&ch->queues, memory_order_relaxed))
            return true;
    }
    return false;
}
