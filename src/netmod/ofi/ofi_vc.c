/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_vc.c - what CH3 asks of a connection: room for a packet, and whether the peer is still there.
 *
 * Both make the link of a peer that was not in use. The packet itself is sent by msg.c. Locks: the
 * engine's, held by the caller.
 */
#include "base/atomic.h"
#include "base/clock.h"
#include "ch3/channel.h"
#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"
#include "trace/record.h"

#define DOUBT_AGAIN UINT64_C(200000000)

/* short_of_memory tells the channel whether memory is short: while it is, somebody must look again
 * soon although nothing arrives. */
static void short_of_memory(struct nmofi *nm, bool is)
{
    if (nm->short_of_memory == is)
        return;
    nm->short_of_memory = is;
    ch3_channel_unsent(&nm->channel, is ? 1 : -1);
}

static void record_credit(const struct nmofi_link *link, bool enough)
{
    struct trace *tr = link->nm->opts.trace;
    trace_add(tr, &(struct trace_record){.time = trace_now(tr),
                                         .kind = enough ? TRACE_CREDIT : TRACE_NO_CREDIT,
                                         .peer = -1,
                                         .id = (uintptr_t)link});
}

static bool has_credits(const struct nmofi_link *link, size_t len)
{
    return nm_cost(len) <= link->credits;
}

/* note_credits counts stalls, not attempts: a thread that waits for something else polls on and
 * tries again. */
static void note_credits(struct nmofi_link *link, bool enough)
{
    link->nm->stats.credit_stalls += !enough && !link->starved;
    if (unlikely(link->starved == enough && link->nm->opts.trace))
        record_credit(link, enough);
    link->starved = !enough;
}

void *nm_reserve(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct nmofi *nm = nm_of(ch);
    struct nmofi_peer *peer = ch3_vc_channel_data(vc);
    struct nmofi_link *link = nm_link_get(peer, vc, false);
    if (!link)
        short_of_memory(nm, true);
    if (!link || link->lost || !link->greeted || !list_empty(&link->waiting))
        return NULL;
    if (nm_has_closed(link)) {
        nm_link_break(link, "it has closed the connection");
        return NULL;
    }
    const bool enough = has_credits(link, len);
    note_credits(link, enough);
    if (!enough)
        return NULL;
    struct nm_tx *tx = nm_tx_get(nm, sizeof(struct nm_hdr) + nm_pad(len));
    if (!tx) {
        nm->stats.buffer_stalls += !nm->short_of_memory;
        short_of_memory(nm, true);
        return NULL;
    }
    short_of_memory(nm, false);
    nm->reserved = tx;
    return tx->bytes + sizeof(struct nm_hdr);
}

/* probe asks whether the peer is there. Over sockets the peer's socket answers; there the PROBE
 * message is sent for its number, which shows the peer whether all messages before it have come
 * (gap.c). */
static void probe(struct nmofi_link *link, uint64_t now)
{
    if (link->lost || nm_has_closed(link))
        return;
    const bool asked = nm_reach_ask(link, now);
    const bool last = link->seq == link->probed; /* nothing has been sent behind the last PROBE */
    if (!link->probing && (!asked || !link->nm->software || !last) && nm_send_bare(link, NM_PROBE))
        link->probed = link->seq;
}

void nm_probe(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct nmofi_link *link = nm_link_get(ch3_vc_channel_data(vc), vc, false);
    (void)ch;
    if (link)
        probe(link, clock_monotonic_ns());
}

void nm_doubt(struct nmofi *nm)
{
    const uint64_t now = clock_monotonic_ns();
    if (now < nm->doubt_at)
        return;
    nm->doubt_at = now + DOUBT_AGAIN;
    LIST_EACH (it, &nm->links) {
        struct nmofi_link *link = LIST_ENTRY(it, struct nmofi_link, node);
        if (link->peer)
            probe(link, now);
    }
}
