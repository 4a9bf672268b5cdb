/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_net.c - the simulated channel: ch3/channel.h with messages as list entries.
 *
 * A link is one direction of a pair and lives in the sender's struct sim_peer. Its
 * messages arrive one after the other, each after a time of its own; what has arrived
 * stands in the receiver's inbox until it polls. What a link holds is bounded, counted
 * until the receiver has taken it in. A process of the same node whose window may get
 * ring puts (kernel-assisted paths) sees a message as soon as it is sent, as in a ring.
 *
 * A delivered packet is overwritten when the handler returns, the room of reserve
 * before it is given: who keeps or forgets something is found out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sim_core.h"

enum { ROOM = 128 * 1024, BURST = 64, GARBAGE = 0xdb, STALL_NS = 5000000, LOST_NS = 1000000000 };

struct message {
    struct list_node link;
    struct sim_peer *from; /* the sender's view of the receiver */
    uint64_t sent;
    size_t len;
    alignas(8) unsigned char bytes[];
};

static struct sim_proc *self(struct ch3_channel *ch)
{
    return LIST_ENTRY(ch, struct sim_proc, channel);
}

/* A few microseconds, now and then as long as a busy network takes. */
static uint64_t latency(struct sim *s)
{
    if (s->opts.latency_ns)
        return s->opts.latency_ns;
    const uint64_t kind = sim_below(s, 256);
    return 1000 + sim_below(s, kind == 0 ? 20000000 : kind < 16 ? 200000 : 4000);
}

static void *sim_reserve(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct sim_proc *p = self(ch);
    struct sim *s = p->sim;
    struct sim_peer *link = ch3_vc_channel_data(vc);
    const size_t room = s->opts.room ? s->opts.room : ROOM;
    SIM_CHECK(len <= CH3_PACKET_MAX);
    if (link->vc->state == CH3_VC_FAILED)
        return NULL;
    if (sim_hits(s, s->opts.refuse_percent) || s->now < link->stalled_until)
        return NULL;
    if (link->held && link->held + len > room)
        return NULL;
    if (!p->staging) {
        p->staging = malloc(CH3_PACKET_MAX);
        s->staging_bytes += CH3_PACKET_MAX;
    }
    SIM_CHECK(p->staging);
    memset(p->staging, GARBAGE, len);
    return p->staging;
}

static bool at_once(const struct sim_peer *link)
{
    return link->owner->node == link->other->node &&
           link->owner->sim->opts.path != CONF_PATH_SHM_PACKETS;
}

static void drop(struct message *m)
{
    struct sim *s = m->from->owner->sim;
    m->from->held -= m->len;
    s->message_bytes -= sizeof *m + m->len;
    s->flying--;
    memset(m->bytes, GARBAGE, m->len);
    free(m);
}

static void put_in_inbox(struct message *m)
{
    list_push_back(&m->from->other->inbox, &m->link);
    sim_doorbell(m->from->other);
}

/* Its death is known to the channel: the next poll says so. */
static void news_of(struct sim_peer *peer)
{
    peer->lost = true;
    if (!list_node_queued(&peer->lost_link))
        list_push_back(&peer->owner->lost, &peer->lost_link);
}

static void sim_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct sim_proc *p = self(ch);
    struct sim *s = p->sim;
    struct sim_peer *link = ch3_vc_channel_data(vc);
    if (!len)
        return;
    if (link->other->dead) {
        news_of(link);
        return;
    }
    struct message *m = malloc(sizeof *m + len);
    SIM_CHECK(m);
    *m = (struct message){.from = link, .sent = s->now, .len = len};
    list_node_init(&m->link);
    memcpy(m->bytes, p->staging, len);
    link->held += len;
    s->message_bytes += sizeof *m + len;
    s->flying++;
    if (at_once(link)) {
        put_in_inbox(m);
        return;
    }
    if (s->opts.stall_permille && sim_below(s, 1000) < s->opts.stall_permille)
        link->stalled_until = s->now + sim_below(s, STALL_NS);
    uint64_t due = s->now + latency(s);
    if (due <= link->last_due)
        due = link->last_due + 1;
    link->last_due = due;
    list_push_back(&link->flying, &m->link);
    sim_schedule(s, due - s->now, SIM_EV_ARRIVE, link, 0);
}

/* The link's first message is there. Of a dead sender it may be gone. */
void sim_arrive(struct sim_peer *link)
{
    struct list_node *node = list_pop_front(&link->flying);
    if (!node)
        return;
    struct message *m = LIST_ENTRY(node, struct message, link);
    if (link->other->dead)
        drop(m);
    else
        put_in_inbox(m);
}

static void tell_lost(struct sim_proc *p)
{
    struct list_node *node;
    while ((node = list_pop_front(&p->lost)) != NULL) {
        struct sim_peer *peer = LIST_ENTRY(node, struct sim_peer, lost_link);
        if (peer->vc->state == CH3_VC_FAILED)
            continue;
        log_msg(p->channel.ch3->log, LOG_LEVEL_ERROR, "the connection to process %d is lost",
                peer->other->rank);
        ch3_vc_lost(peer->vc);
    }
}

static unsigned sim_poll(struct ch3_channel *ch)
{
    struct sim_proc *p = self(ch);
    struct list_node *node;
    unsigned n = 0;
    tell_lost(p);
    if (list_empty(&p->inbox) || sim_hits(p->sim, p->sim->opts.delay_percent))
        return 0;
    while (n < BURST && (node = list_pop_front(&p->inbox)) != NULL) {
        struct message *m = LIST_ENTRY(node, struct message, link);
        struct sim_peer *from = sim_peer_of(p, m->from->owner->rank);
        p->received++;
        if (p->sim->opts.delivered)
            p->sim->opts.delivered(p->sim->opts.delivered_arg, from->other->rank, p->rank, m->sent);
        if (!from->closed)
            ch->deliver(from->vc, m->bytes, m->len);
        drop(m);
        n++;
    }
    p->sim->last_step = p->sim->now;
    return n;
}

static bool sim_pending(struct ch3_channel *ch)
{
    struct sim_proc *p = self(ch);
    return !list_empty(&p->inbox) || !list_empty(&p->lost);
}

static void sim_disconnect(struct ch3_channel *ch, struct ch3_vc *vc)
{
    (void)ch;
    ((struct sim_peer *)ch3_vc_channel_data(vc))->closed = true;
}

static void sim_probe(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct sim_peer *peer = ch3_vc_channel_data(vc);
    (void)ch;
    if (peer->other->dead)
        news_of(peer);
}

const struct ch3_channel_ops sim_channel_ops = {.name = "simulated",
                                                .reserve = sim_reserve,
                                                .commit = sim_commit,
                                                .poll = sim_poll,
                                                .pending = sim_pending,
                                                .disconnect = sim_disconnect,
                                                .probe = sim_probe};

/* ---- death ---- */

void sim_peer_lost(struct sim_peer *peer)
{
    peer->lost = true;
    if (peer->owner->dead)
        return;
    if (sim_below(peer->owner->sim, 2)) /* else only who sends or asks learns it */
        news_of(peer);
    sim_doorbell(peer->owner);
}

/* The later part of what is on its way on a link. */
static void cut(struct sim_peer *link)
{
    struct sim *s = link->owner->sim;
    LIST_EACH_SAFE (node, &link->flying)
        if (link->cut || !sim_below(s, 4)) {
            link->cut = true;
            list_remove(node);
            drop(LIST_ENTRY(node, struct message, link));
        }
}

static void drop_inbox(struct sim_proc *p)
{
    struct list_node *node;
    while ((node = list_pop_front(&p->inbox)) != NULL)
        drop(LIST_ENTRY(node, struct message, link));
}

void sim_net_kill(struct sim_proc *p)
{
    struct sim *s = p->sim;
    for (int i = 0; i < s->opts.nproc; i++) {
        struct sim_peer *mine = map_get(&p->peers, (uint64_t)i + 1);
        struct sim_peer *theirs = map_get(&s->procs[i].peers, (uint64_t)p->rank + 1);
        if (mine)
            cut(mine);
        if (theirs && i != p->rank)
            sim_schedule(s, sim_below(s, LOST_NS), SIM_EV_LOST, theirs, 0);
    }
    drop_inbox(p);
}

void sim_net_connected(struct sim_peer *peer)
{
    struct sim *s = peer->owner->sim;
    if (peer->other->dead)
        sim_schedule(s, sim_below(s, LOST_NS), SIM_EV_LOST, peer, 0);
}

void sim_net_free(struct sim_proc *p)
{
    size_t cursor = 0;
    void *value;
    uint64_t key;
    drop_inbox(p);
    while (map_next(&p->peers, &cursor, &key, &value)) {
        struct sim_peer *link = value;
        link->cut = true;
        cut(link);
    }
    free(p->staging);
}
