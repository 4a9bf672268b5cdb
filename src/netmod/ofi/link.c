/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link.c - the life of a peer that is in use: made by the first packet to it, or by
 * its hello; ended by disconnect, or by a broken connection.
 *
 *   none    --reserve, or find knows who said hello-->  open
 *   open    --disconnect-->                             closing  --all has left-->  none
 *   open    --break-->                                  lost     --disconnect-->    none
 *
 * Who connects. A provider over sockets that is connecting to a peer while that peer connects to it
 * must choose one of the two connections, and libfabric 1.17's "net" may then close the one on
 * which the peer's messages have left already; neither side learns of it. So only the process with
 * the higher uid opens the connection between the two endpoints. The other one asks for the
 * connection: it sends CONNECT, again and again, from a second endpoint to which nobody connects,
 * until the HELLO of the first process has come, and sends nothing else before. A CONNECT of a
 * process that nmofi_opts.find does not know (yet) is dropped; the next one comes soon.
 *
 * A break is noted at once (broken.c) and reported by poll.
 *
 * Locks: as nmofi.h says. Neighbours: msg.c, which sends the messages that this file asks for;
 * recv.c, the receiving side of a peer; broken.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/siphash.h"
#include "ch3/channel.h"
#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"
#include "netmod/ofi/ofi_rma.h"
#include "netmod/ofi/sender.h"

/* nm_token computes what every message from sender to receiver begins with. */
uint64_t nm_token(const unsigned char *secret, uint64_t sender, uint64_t receiver)
{
    const uint64_t both[2] = {sender, receiver};
    return siphash(secret, both, sizeof both);
}

static struct nmofi_link *link_new(struct nmofi_peer *peer)
{
    struct nmofi *nm = peer->nm;
    struct nmofi_link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->nm = nm;
    link->peer = peer;
    link->uid = peer->uid;
    link->token = peer->token;
    link->addr = peer->addr;
    link->credits = NM_WINDOW;
    list_init(&link->waiting);
    list_init(&link->rdma_ops);
    list_push_back(&nm->links, &link->node);
    nm->stats.links++;
    nm->stats.link_bytes += sizeof *link;
    return link;
}

/* insert_address puts the address into the vector, where it stays: providers differ in what becomes
 * of messages under way when an address is taken out. */
static bool insert_address(struct nmofi_peer *peer)
{
    fi_addr_t addr = FI_ADDR_UNSPEC;
    if (peer->inserted)
        return true;
    if (fi_av_insert(peer->nm->av, peer->name.bytes, 1, &addr, 0, NULL) != 1)
        return false;
    peer->addr = addr;
    peer->inserted = true;
    return true;
}

static bool make_link(struct nmofi_peer *peer, struct ch3_vc *vc)
{
    if (!nm_rx_grow(peer->nm, peer->nm->stats.links + 1) || !insert_address(peer) ||
        !(peer->link = link_new(peer)))
        return false; /* there is no memory now, so there is no room */
    peer->link->vc = vc;
    ch3_vc_closed(vc, false);
    if (peer->nm->gave_up)
        nm_life_break(peer->link);
    return true;
}

struct nmofi_link *nm_link_own(struct nmofi *nm)
{
    struct nmofi_peer self = {.nm = nm, .uid = nm->opts.uid, .name = nm->name};
    if (nm->own || !insert_address(&self))
        return nm->own;
    nm->own = link_new(&self);
    if (!nm->own)
        return NULL;
    nm->own->peer = NULL;
    nm->own->greeted = true;
    return nm->own;
}

/* waits_for_peer returns whether the other side opens the connection. */
static bool waits_for_peer(const struct nmofi_link *link)
{
    return link->nm->ask_ep && link->nm->opts.uid < link->uid;
}

struct nmofi_link *nm_link_get(struct nmofi_peer *peer, struct ch3_vc *vc, bool heard)
{
    if (!peer->link && !make_link(peer, vc))
        return NULL;
    struct nmofi_link *link = peer->link;
    if (link->greeted || link->greeting || link->lost)
        return link;
    if (!heard && waits_for_peer(link)) {
        nm_ask_connect(link);
        return link;
    }
    return nm_send_first(link) ? link : NULL;
}

/* A peer that has heard HELLO already must hear it again if it has closed its side since. */
void nm_link_asked(struct nmofi *nm, uint64_t uid)
{
    struct ch3_vc *vc = nm->opts.find(nm->opts.ctx, uid);
    struct nmofi_peer *peer = vc ? ch3_vc_channel_data(vc) : NULL;
    struct nmofi_link *link = peer ? nm_link_get(peer, vc, true) : NULL;
    if (!link || link->lost)
        return;
    if (nm_has_closed(link)) {
        struct nm_from *from = link->from;
        nm_link_restart(link);
        nm_from_free(nm, from);
    }
}

void nm_abandon(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct nmofi_link *link = ((struct nmofi_peer *)ch3_vc_channel_data(vc))->link;
    (void)ch;
    if (!link || link->lost)
        return;
    if (!nm_has_closed(link))
        (void)nm_send_bare(link, NM_RESET);
    nm_link_break(link, nm_has_closed(link) ? "it has ended before it did what is awaited of it"
                                            : "it is given up here");
}

static void drop_waiting(struct nmofi_link *link)
{
    struct list_node *node;
    while ((node = list_pop_front(&link->waiting)) != NULL)
        nm_tx_put(link->nm, LIST_ENTRY(node, struct nm_tx, node));
    nm_unstall(link);
}

void nm_link_report_broken(struct nmofi *nm)
{
    struct list_node *node;
    while ((node = list_pop_front(&nm->broken)) != NULL) {
        struct nmofi_link *link = LIST_ENTRY(node, struct nmofi_link, broken);
        ch3_channel_unsent(&nm->channel, -1);
        drop_waiting(link);
        nm_reach_end(link);
        nm_rma_abandon(link, MRMA_ERR_PROC_FAILED);
        if (link->peer)
            ch3_vc_lost(link->vc);
    }
}

void nm_link_free(struct nmofi_link *link)
{
    struct nmofi *nm = link->nm;
    drop_waiting(link);
    nm_reach_end(link);
    if (list_node_queued(&link->owing))
        list_remove(&link->owing);
    if (list_node_queued(&link->broken)) {
        list_remove(&link->broken);
        ch3_channel_unsent(&nm->channel, -1);
    }
    if (link->from)
        nm_from_free(nm, link->from);
    if (link->peer)
        link->peer->link = NULL;
    list_remove(&link->node);
    nm->stats.links--;
    nm->stats.link_bytes -= sizeof *link;
    free(link);
}

void nm_link_reap(struct nmofi *nm)
{
    LIST_EACH_SAFE (it, &nm->links) {
        struct nmofi_link *link = LIST_ENTRY(it, struct nmofi_link, node);
        if (!link->peer && link != nm->own && !link->under_way && list_empty(&link->rdma_ops) &&
            list_empty(&link->waiting) && !list_node_queued(&link->broken)) {
            nm_link_free(link);
            nm->closing--;
        }
    }
}

/* The peer had closed its side and comes again, so this side starts anew, too. */
void nm_link_restart(struct nmofi_link *link)
{
    if (link->peer)
        ch3_vc_closed(link->vc, false);
    link->from = NULL;
    link->seq = 0;
    link->due = 0;
    link->credits = NM_WINDOW;
    if (!link->lost && !nm_send_first(link))
        nm_link_break(link, "no memory to greet it again");
}

void nm_link_disconnect(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct nmofi *nm = nm_of(ch);
    struct nmofi_peer *peer = ch3_vc_channel_data(vc);
    struct nmofi_link *link = peer->link;
    if (!link)
        return;
    /* the peer has ended, or has forgotten this process: nobody there hears a BYE */
    if (nm_has_closed(link))
        link->lost = true;
    if (link->from) { /* messages that come from now on have no known sender, and are dropped */
        nm_from_free(nm, link->from);
        link->from = NULL;
    }
    peer->link = NULL;
    link->peer = NULL;
    link->vc = NULL;
    nm->closing++;
    if (!link->lost && link->greeted)
        (void)nm_send_last(link);
    else
        drop_waiting(link);
}
