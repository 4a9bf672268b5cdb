/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recv.c - receives messages: it finds out whose a message is, whether its turn has come, and what
 * it is.
 *
 * Nothing of a message is read before its token is known, or, of a HELLO, computed from a secret
 * and the uids. A message that fails is counted, reported (the first few) and dropped; the
 * connection below stays, since the sender is not known (but see gap.c). A message that has the
 * token of a peer in use and breaks the rules of wire.h ends the connection to that peer: either
 * the peer does not keep the rules, or the provider has spoilt the message.
 *
 * A peer may send HELLO before nmofi_opts.find knows it (if it has left the bootstrap's exchange
 * earlier than this process). Its messages then wait in nm_from.early, like those that arrive
 * before their turn. Its credits bound both, because no credit is given back before its message is
 * delivered.
 *
 * Invariant: messages of a peer are accepted in the order of their numbers, without a gap. Locks:
 * as nmofi.h says. Neighbours: cq.c, which brings them; link.c, the peer that they belong to.
 */
#include <stdlib.h>
#include <string.h>

#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"
#include "netmod/ofi/sender.h"

static void refuse(struct nmofi *nm, const char *what, size_t len)
{
    nm_gap_stray(nm);
    if (nm->stats.dropped++ < NM_REPORTED)
        log_msg(nm->opts.log, LOG_LEVEL_WARN, "network: a message of %zu bytes is dropped: %s", len,
                what);
}

/* distrust is called for a message that has the peer's token and that the peer cannot have sent. */
static void distrust(struct nmofi *nm, struct nm_from *from, const char *what, size_t len)
{
    struct nmofi_link *link = from->link;
    if (!link) {
        refuse(nm, what, len);
        return;
    }
    nm->stats.dropped++;
    (void)nm_send_bare(link, NM_RESET);
    nm_link_break(link, "a message of it, of %zu bytes, is not as it was sent: %s", len, what);
}

static void take_credits(struct nmofi_link *link, uint16_t credits)
{
    if (credits > NM_WINDOW - link->credits) {
        nm_link_break(link, "it returns more credits than it was given");
        return;
    }
    link->credits += credits;
}

static void deliver(struct nmofi_link *link, const struct nm_hdr *hdr)
{
    struct nmofi *nm = link->nm;
    link->due += nm_cost(hdr->len);
    if (link->due > NM_WINDOW) { /* the credits that are due had been given to it */
        nm_link_break(link, "it sends more than its credits allow");
        return;
    }
    if (link->due >= NM_WINDOW / 2 && !list_node_queued(&link->owing))
        list_push_back(&nm->owing, &link->owing);
    nm->events++;
    nm->channel.deliver(link->vc, hdr + 1, hdr->len);
}

/* accept takes a message whose turn it is, from a peer that is known. */
static void accept(struct nm_from *from, const struct nm_hdr *hdr)
{
    struct nmofi_link *link = from->link;
    from->seq++;
    nm_reach_heard(link);
    if (link->lost)
        return;
    take_credits(link, hdr->credits);
    switch (hdr->kind) {
    case NM_DATA:
        deliver(link, hdr);
        break;
    case NM_BYE:
        from->bye = true;
        if (link->peer)
            ch3_vc_closed(link->vc, true);
        break;
    case NM_RESET:
        nm_link_break(link, "it has given the connection up");
        break;
    case NM_HELLO:
        nm_reach_greeted(link);
        break;
    default: /* CREDIT, PROBE: the header says all */
        break;
    }
}

static void accept_early(struct nm_from *from)
{
    struct list_node *node;
    while ((node = list_first(&from->early)) != NULL) {
        struct nm_early *early = LIST_ENTRY(node, struct nm_early, node);
        const struct nm_hdr *hdr = (const void *)early->bytes;
        if (early->seq != from->seq)
            return;
        list_remove(node);
        from->early_units -= nm_cost(hdr->len);
        accept(from, hdr);
        free(early);
    }
}

static void handle(struct nmofi *nm, struct nm_from *from, const struct nm_hdr *hdr, size_t len)
{
    from->heard = nm->stats.received;
    if (from->link && hdr->seq == from->seq) {
        accept(from, hdr);
        accept_early(from);
        return;
    }
    const uint16_t ahead = (uint16_t)(hdr->seq - from->seq);
    if (ahead < 4 * NM_WINDOW && nm_from_keep(from, hdr, len))
        return;
    distrust(nm, from, "its number is wrong", len);
}

/* meet returns whether the layer above knows the sender by now. */
static bool meet(struct nmofi *nm, struct nm_from *from)
{
    struct ch3_vc *vc = nm->opts.find(nm->opts.ctx, from->uid);
    struct nmofi_peer *peer = vc ? ch3_vc_channel_data(vc) : NULL;
    struct nmofi_link *link = peer ? nm_link_get(peer, vc, true) : NULL;
    if (!link)
        return false;
    if (link->from) /* it had sent BYE, or has forgotten this process: it starts anew */
        nm_from_free(nm, link->from);
    link->from = from;
    link->vc = vc;
    ch3_vc_closed(vc, false);
    from->link = link;
    nm_from_known(nm, from);
    return true;
}

void nm_find_unknown(struct nmofi *nm)
{
    LIST_EACH_SAFE (it, &nm->unknown) {
        struct nm_from *from = LIST_ENTRY(it, struct nm_from, unknown);
        if (meet(nm, from))
            accept_early(from);
    }
}

static bool genuine(struct nmofi *nm, uint64_t token, uint64_t uid)
{
    LIST_EACH (it, &nm->secrets)
        if (nm_token(LIST_ENTRY(it, struct nm_secret, node)->key, uid, nm->opts.uid) == token)
            return true;
    return false;
}

static struct nm_from *greet(struct nmofi *nm, const struct nm_hello *hello)
{
    struct nm_from *from = map_get(&nm->from, hello->hdr.token);
    if (from && from->link && !from->bye) {
        nm_link_break(from->link, "it has started anew");
        return NULL;
    }
    if (from) {
        if (from->link)
            nm_link_restart(from->link);
        nm_from_free(nm, from);
    }
    from = nm_from_new(nm, hello);
    if (!from)
        return NULL;
    if (!meet(nm, from)) {
        list_push_back(&nm->unknown, &from->unknown);
        ch3_channel_unsent(&nm->channel, 1);
    }
    return from;
}

/* received_askew deals with a message whose length is not padded. Such a message shifts all
 * messages behind it in the same buffer, also those of other peers.
 */
static void received_askew(struct nmofi *nm, const unsigned char *bytes, size_t len)
{
    unsigned char *copy = len <= NM_MSG_MAX ? malloc(len) : NULL;
    if (!copy) {
        refuse(nm, "too long, or no memory to align it", len);
        return;
    }
    memcpy(copy, bytes, len);
    nm_received(nm, copy, len);
    free(copy);
}

/* is_malformed returns whether a message breaks the rules of wire.h. hello says that it has the
 * kind and the length of a HELLO or CONNECT. */
static bool is_malformed(const struct nm_hdr *hdr, size_t len, bool hello)
{
    const bool greets = hdr->kind == NM_HELLO || hdr->kind == NM_CONNECT;
    return hdr->version != NM_VERSION || !hdr->kind || hdr->kind >= NM_KINDS ||
           len != sizeof *hdr + nm_pad(hdr->len) || hdr->len > CH3_PACKET_MAX ||
           (hdr->kind == NM_DATA) != (hdr->len && !hello) || greets != hello;
}

void nm_received(struct nmofi *nm, const unsigned char *bytes, size_t len)
{
    if ((uintptr_t)bytes % _Alignof(struct nm_hdr)) {
        received_askew(nm, bytes, len);
        return;
    }
    const struct nm_hdr *hdr = (const void *)bytes;
    nm->stats.received++;
    /* nothing is sent any more, and the layers above cannot be asked who a newcomer is */
    if (nm->ending)
        return;
    if (len < sizeof *hdr) {
        refuse(nm, "too short", len);
        return;
    }
    struct nm_from *from = map_get(&nm->from, hdr->token);
    const bool greets = hdr->kind == NM_HELLO || hdr->kind == NM_CONNECT;
    const bool hello = greets && len == sizeof(struct nm_hello);
    if (!hello && !from) {
        refuse(nm, "its sender is not of this job", len);
    } else if (hello &&
               !genuine(nm, hdr->token, ((const struct nm_hello *)(const void *)bytes)->uid)) {
        refuse(nm, "its sender does not know the job's secret", len);
    } else if (is_malformed(hdr, len, hello)) {
        if (from)
            distrust(nm, from, "malformed", len);
        else
            refuse(nm, "malformed", len);
    } else if (hdr->kind == NM_CONNECT) {
        nm_link_asked(nm, ((const struct nm_hello *)(const void *)bytes)->uid);
    } else if ((from = hello ? greet(nm, (const void *)bytes) : from) != NULL) {
        handle(nm, from, hdr, len);
    }
}
