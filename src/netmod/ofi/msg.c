/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * msg.c - sending: packets in transmit buffers, and the few messages of the
 * netmod's own.
 *
 * A message that the provider does not take (because it is connecting, or its queue is full) waits
 * in its link, in order. While a message waits no other overtakes it, since reserve gives no room.
 *
 * Invariants: tokens, numbers and credits are put into a message only here; a link is in
 * nm->stalled while something of it waits for the provider, or it asks for a connection. Locks: as
 * nmofi.h says. Neighbours: buf.c, the buffers; ofi_vc.c, which has reserved room.
 */
#include <string.h>

#include "base/clock.h"
#include "base/memcheck.h"
#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"

#define ASK_AGAIN UINT64_C(1000000) /* time to the second CONNECT; later ones are rarer */

static void stall(struct nmofi_link *link)
{
    if (list_node_queued(&link->stalled))
        return;
    link->nm->stats.provider_stalls++;
    link->stalled_since = clock_monotonic_ns();
    link->retry_at = link->stalled_since;
    list_push_back(&link->nm->stalled, &link->stalled);
    ch3_channel_unsent(&link->nm->channel, 1);
}

void nm_unstall(struct nmofi_link *link)
{
    if (!list_node_queued(&link->stalled))
        return;
    list_remove(&link->stalled);
    ch3_channel_unsent(&link->nm->channel, -1);
}

/* send_surely is fi_send, but its completion says that the message has arrived. */
static ssize_t send_surely(struct nmofi *nm, struct nm_tx *tx, fi_addr_t to)
{
    const struct iovec iov = {tx->bytes, tx->len};
    const struct fi_msg msg = {
        .msg_iov = &iov, .desc = &tx->desc, .iov_count = 1, .addr = to, .context = &tx->op};
    return fi_sendmsg(nm->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

/* transmit hands a message to the provider. False: the provider does not take it now. */
static bool transmit(struct nmofi_link *link, struct nm_tx *tx)
{
    struct nmofi *nm = link->nm;
    const bool inject = tx->len <= nm->inject_max && !tx->told;
    const bool surely = tx->kind == NM_HELLO && nm->unordered;
    memcheck_pause();
    ssize_t ret = inject   ? fi_inject(nm->ep, tx->bytes, tx->len, link->addr)
                  : surely ? send_surely(nm, tx, link->addr)
                           : fi_send(nm->ep, tx->bytes, tx->len, tx->desc, link->addr, &tx->op);
    memcheck_resume();
    if (ret == -FI_EAGAIN)
        return false;
    nm->stats.sent++;
    nm->stats.injected += inject;
    if (!ret && !inject) {
        link->under_way++;
        return true;
    }
    nm_tx_put(nm, tx);
    if (ret && !nm_has_closed(link))
        nm_link_break(link, "cannot send: %s", fi_strerror((int)-ret));
    return true;
}

/* next_header makes the header of the next message, which carries the credits that are due. */
static struct nm_hdr next_header(struct nmofi_link *link, enum nm_kind kind, size_t len)
{
    const struct nm_hdr hdr = {.token = link->token,
                               .kind = (uint8_t)kind,
                               .version = NM_VERSION,
                               .seq = link->seq++,
                               .credits = (uint16_t)link->due,
                               .len = (uint16_t)len};
    link->due = 0;
    return hdr;
}

/* send_buffer sends the message in tx, which has len bytes behind the place of its header. */
static void send_buffer(struct nmofi_link *link, struct nm_tx *tx, enum nm_kind kind, size_t len)
{
    const struct nm_hdr hdr = next_header(link, kind, len);
    memcpy(tx->bytes, &hdr, sizeof hdr);
    memset(tx->bytes + sizeof hdr + len, 0, nm_pad(len) - len);
    tx->len = (uint32_t)(sizeof hdr + nm_pad(len));
    tx->link = link;
    tx->kind = (uint8_t)kind;
    tx->told = kind == NM_BYE || (kind == NM_HELLO && link->nm->unordered) ||
               (kind == NM_PROBE && !link->nm->over_tcp);
    link->probing |= kind == NM_PROBE && tx->told;
    if (!list_empty(&link->waiting) || !transmit(link, tx)) {
        list_push_back(&link->waiting, &tx->node);
        stall(link);
    }
}

void nm_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct nmofi *nm = nm_of(ch);
    struct nmofi_link *link = ((struct nmofi_peer *)ch3_vc_channel_data(vc))->link;
    struct nm_tx *tx = nm->reserved;
    nm->reserved = NULL;
    if (!len) {
        nm_tx_put(nm, tx);
        return;
    }
    link->credits -= nm_cost(len);
    send_buffer(link, tx, NM_DATA, len);
}

bool nm_send_bare(struct nmofi_link *link, enum nm_kind kind)
{
    struct nm_tx *tx = NULL;
    if (link->lost || !link->greeted || !list_empty(&link->waiting) ||
        !(tx = nm_tx_get(link->nm, sizeof(struct nm_hdr))))
        return false;
    send_buffer(link, tx, kind, 0);
    return true;
}

bool nm_send_first(struct nmofi_link *link)
{
    struct nm_tx *tx = nm_tx_get(link->nm, sizeof(struct nm_hello));
    if (!tx)
        return false;
    memcpy(tx->bytes + sizeof(struct nm_hdr), &link->nm->opts.uid, sizeof link->nm->opts.uid);
    nm_unstall(link); /* the link does not ask for a connection any more */
    link->greeting = link->nm->unordered;
    link->greeted = !link->nm->unordered;
    send_buffer(link, tx, NM_HELLO, sizeof link->nm->opts.uid);
    return true;
}

void nm_greeted(struct nmofi_link *link)
{
    link->greeting = false;
    link->greeted = true;
    link->nm->events++; /* there is room now */
}

/* nm_ask_connect begins to ask for a connection, or asks once more. */
void nm_ask_connect(struct nmofi_link *link)
{
    struct nmofi *nm = link->nm;
    const struct nm_hello request = {.hdr = {.token = link->token,
                                             .kind = NM_CONNECT,
                                             .version = NM_VERSION,
                                             .len = sizeof request.uid},
                                     .uid = nm->opts.uid};
    stall(link);
    const uint64_t now = clock_monotonic_ns();
    if (now < link->retry_at)
        return;
    const ssize_t ret = fi_inject(nm->ask_ep, &request, sizeof request, link->addr);
    link->retry_at = now + (now - link->stalled_since) / 8 + (ret ? 0 : ASK_AGAIN);
    if (ret && ret != -FI_EAGAIN)
        nm_link_break(link, "cannot ask it to connect: %s", fi_strerror((int)-ret));
}

/* BYE is not injected: its completion tells that everything before it has left. */
bool nm_send_last(struct nmofi_link *link)
{
    struct nm_tx *tx = nm_tx_get(link->nm, sizeof(struct nm_hdr));
    if (!tx)
        return false;
    link->closing = true;
    send_buffer(link, tx, NM_BYE, 0);
    return true;
}

bool nm_push(struct nmofi_link *link)
{
    bool moved = false;
    struct list_node *node;
    while (!link->lost && (node = list_first(&link->waiting)) != NULL) {
        struct nm_tx *tx = LIST_ENTRY(node, struct nm_tx, node);
        list_remove(node);
        if (!transmit(link, tx)) {
            list_push_front(&link->waiting, node);
            return moved;
        }
        moved = true;
    }
    nm_unstall(link);
    return moved;
}

void nm_give_credits(struct nmofi *nm)
{
    LIST_EACH_SAFE (it, &nm->owing) {
        struct nmofi_link *link = LIST_ENTRY(it, struct nmofi_link, owing);
        if (link->due >= NM_WINDOW / 2 && !link->lost && !nm_has_closed(link)) {
            if (!nm_send_bare(link, NM_CREDIT))
                continue;
            nm->stats.credit_messages++;
        }
        list_remove(it);
    }
}
