/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_netmod.c - a libFuzzer target: messages from peers of the job that are hostile or
 * broken, to the netmod that ships, over a provider that leads nowhere (fake_fabric.h).
 *
 * The process under test is uid 9: as the highest it opens all connections. Its peers 2 and 3 are
 * known; 4 is a stranger until the script says otherwise. An input is steps: a byte, then the
 * fields of the step, little endian; what is missing at the end is 0.
 *
 * No input may crash, touch memory outside a message, leak, or loop. What is delivered is
 * of the peer whose token it had, after its hello, in order, aligned and whole; no link
 * ever has more credits than its window, keeps or owes more than that; everything that
 * was sent has a header that is right.
 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/siphash.h"
#include "ch3/ch3.h"
#include "fail.h"
#include "fake_fabric.h"
#include "netmod/ofi/ofi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum step {
    STEP_MESSAGE, /* peer (bits 0, 1; bit 7: another token), kind, how, seq (1, signed), credits
                     (2), len (2) */
    STEP_HELLO,   /* peer; bit 7: the token does not fit */
    STEP_DATA,    /* peer, len (2): the next of its packets */
    STEP_RAW,     /* len (1), bytes */
    STEP_POLL,
    STEP_SEND,     /* peer, len (2) */
    STEP_PROVIDER, /* bit 0: busy, bit 1: failing, the others: sends that end */
    STEP_KNOWN,    /* the stranger is known from here on, or is not */
    STEP_CLOSE,    /* peer: and opened anew */
    STEP_LOST,     /* peer: given up, closed, and opened anew */
    STEP_PROBE,    /* peer */
    STEPS
};

/* Of how in STEP_MESSAGE. */
enum { HOW_VERSION = 1, HOW_LENGTH = 2, HOW_UNPADDED = 4 };

enum { PEERS = 3, SELF = 9, FIRST = 2 };

struct peer {
    struct ch3_vc vc;
    struct nmofi_peer peer;
    uint64_t token; /* of what it sends */
    uint16_t seq;   /* of its next message */
    bool greeted;   /* it has said hello at least once */
};

static struct {
    const uint8_t *at, *end;
    struct log log;
    struct ch3 ch3;
    struct nmofi *nm;
    struct ch3_channel *channel;
    struct peer peers[PEERS];
    bool known;
} h;

static const unsigned char secret[NMOFI_SECRET_BYTES] = "of this one job";

static uint64_t take(unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes && h.at < h.end; i++)
        v |= (uint64_t)*h.at++ << (8 * i);
    return v;
}

static struct peer *some_peer(unsigned who)
{
    return &h.peers[who % PEERS];
}

/* ---- what the netmod calls ---- */

static struct ch3_vc *find(void *ctx, uint64_t uid)
{
    (void)ctx;
    if (uid < FIRST || uid >= FIRST + PEERS || (uid == FIRST + PEERS - 1 && !h.known))
        return NULL;
    return &h.peers[uid - FIRST].vc;
}

/* Packets say in every byte whose they are. */
static void deliver(struct ch3_vc *from, const void *packet, size_t len)
{
    const struct peer *p = LIST_ENTRY(from, struct peer, vc);
    const unsigned char *bytes = packet;
    FUZZ_CHECK(p->greeted && (uintptr_t)packet % 8 == 0 && len > 0 && len <= CH3_PACKET_MAX);
    for (size_t i = 0; i < len; i++)
        FUZZ_CHECK(bytes[i] == (unsigned char)(p - h.peers));
}

static void look(const void *bytes, size_t len)
{
    struct nm_hdr hdr;
    FUZZ_CHECK(len >= sizeof hdr);
    memcpy(&hdr, bytes, sizeof hdr);
    FUZZ_CHECK(hdr.version == NM_VERSION && hdr.kind > 0 && hdr.kind < NM_KINDS &&
               hdr.credits <= NM_WINDOW && len == sizeof hdr + nm_pad(hdr.len));
}

/* ---- steps ---- */

static void arrive(const void *bytes, size_t len)
{
    if (!fake_fabric_arrive(bytes, len))
        (void)h.channel->ops->poll(h.channel);
}

static void message(void)
{
    static alignas(8) unsigned char bytes[NM_MSG_MAX];
    const unsigned who = (unsigned)take(1);
    struct peer *p = some_peer(who);
    struct nm_hdr hdr = {
        .token = p->token ^ (who & 128), .kind = (uint8_t)take(1), .version = NM_VERSION};
    const unsigned how = (unsigned)take(1);
    hdr.version ^= how & HOW_VERSION;
    hdr.seq = (uint16_t)(p->seq + (int8_t)take(1));
    hdr.credits = (uint16_t)take(2);
    size_t len = take(2);
    hdr.len = (uint16_t)len;
    len = nm_pad(len) < CH3_PACKET_MAX ? nm_pad(len) : CH3_PACKET_MAX;
    len -= how & HOW_UNPADDED && len ? 3 : 0;
    hdr.len ^= how & HOW_LENGTH ? 8 : 0;
    memcpy(bytes, &hdr, sizeof hdr);
    memset(bytes + sizeof hdr, (int)(p - h.peers), len);
    p->seq += hdr.seq == p->seq;
    arrive(bytes, sizeof hdr + len);
}

static void data(struct peer *p, size_t len)
{
    static alignas(8) unsigned char bytes[NM_MSG_MAX];
    len = len ? (len < CH3_PACKET_MAX ? len : CH3_PACKET_MAX) : 1;
    const struct nm_hdr hdr = {.token = p->token,
                               .kind = NM_DATA,
                               .version = NM_VERSION,
                               .seq = p->seq++,
                               .len = (uint16_t)len};
    memcpy(bytes, &hdr, sizeof hdr);
    memset(bytes + sizeof hdr, (int)(p - h.peers), nm_pad(len));
    arrive(bytes, sizeof hdr + nm_pad(len));
}

static void hello(unsigned who)
{
    struct peer *p = some_peer(who);
    const struct nm_hello hello = {
        {.token = p->token ^ (who & 128), .kind = NM_HELLO, .version = NM_VERSION, .len = 8},
        FIRST + (uint64_t)(p - h.peers)};
    p->greeted |= !(who & 128);
    p->seq = 1;
    arrive(&hello, sizeof hello);
}

static void raw(void)
{
    unsigned char bytes[256] = {0};
    const size_t len = take(1);
    for (size_t i = 0; i < len && h.at < h.end; i++)
        bytes[i] = *h.at++;
    arrive(bytes, len);
}

static void send_packet(struct peer *p, size_t len)
{
    len = len ? (len < CH3_PACKET_MAX ? len : CH3_PACKET_MAX) : 8;
    void *room =
        p->vc.state == CH3_VC_OPEN ? h.channel->ops->reserve(h.channel, &p->vc, nm_pad(len)) : NULL;
    if (!room)
        return;
    memset(room, 0x55, len);
    h.channel->ops->commit(h.channel, &p->vc, len);
}

static void reopen(struct peer *p)
{
    FUZZ_CHECK(ch3_vc_event(&p->vc, CH3_VC_CLOSE));
    FUZZ_CHECK(ch3_vc_event(&p->vc, CH3_VC_CONNECT));
}

static void check_links(void)
{
    LIST_EACH (it, &h.nm->links) {
        const struct nmofi_link *link = LIST_ENTRY(it, struct nmofi_link, node);
        FUZZ_CHECK(link->credits <= NM_WINDOW);
        FUZZ_CHECK(link->lost || link->due <= NM_WINDOW);
        FUZZ_CHECK(!link->from || link->from->early_units <= 2 * NM_WINDOW);
    }
}

static void step(void)
{
    const unsigned what = (unsigned)take(1) % STEPS;
    struct peer *p;
    switch (what) {
    case STEP_MESSAGE:
        message();
        break;
    case STEP_HELLO:
        hello((unsigned)take(1));
        break;
    case STEP_DATA:
        p = some_peer((unsigned)take(1));
        data(p, take(2));
        break;
    case STEP_RAW:
        raw();
        break;
    case STEP_POLL:
        (void)h.channel->ops->poll(h.channel);
        break;
    case STEP_SEND:
        p = some_peer((unsigned)take(1));
        send_packet(p, take(2));
        break;
    case STEP_PROVIDER: {
        const unsigned how = (unsigned)take(1);
        fake_fabric.busy = how & 1;
        fake_fabric.failing = how & 2;
        fake_fabric_complete(how >> 2);
        break;
    }
    case STEP_KNOWN:
        h.known = !h.known;
        break;
    default:
        p = some_peer((unsigned)take(1));
        if (what == STEP_LOST)
            ch3_vc_lost(&p->vc);
        if (what == STEP_PROBE && p->vc.state == CH3_VC_OPEN)
            h.channel->ops->probe(h.channel, &p->vc);
        else if (what != STEP_PROBE)
            reopen(p);
    }
    check_links();
}

static void start(void)
{
    static const ch3_handler handlers[PKT_TYPE_LAST];
    struct nmofi_name name;
    const struct nmofi_opts opts = {.provider = "fake", .uid = SELF, .log = &h.log, .find = find};
    log_init(&h.log, LOG_LEVEL_TRACE, getenv("FUZZ_LOG") ? 2 : -1, "fuzz");
    fake_fabric = (struct fake_fabric){.look = look};
    FUZZ_CHECK(nmofi_open(&opts, &h.nm) == MRMA_SUCCESS);
    FUZZ_CHECK(nmofi_add_secret(h.nm, secret) == MRMA_SUCCESS);
    ch3_init(&h.ch3, &h.log, handlers, NULL);
    h.channel = nmofi_channel(h.nm);
    ch3_add_channel(&h.ch3, h.channel);
    h.channel->deliver = deliver;
    nmofi_get_name(h.nm, &name);
    for (unsigned i = 0; i < PEERS; i++) {
        struct peer *p = &h.peers[i];
        const uint64_t both[2] = {FIRST + i, SELF};
        *p = (struct peer){.token = siphash(secret, both, sizeof both)};
        FUZZ_CHECK(nmofi_peer_init(h.nm, &p->peer, FIRST + i, &name, secret) == MRMA_SUCCESS);
        ch3_vc_init(&p->vc, &h.ch3, h.channel, &p->peer, p);
        FUZZ_CHECK(ch3_vc_event(&p->vc, CH3_VC_CONNECT));
    }
    h.known = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    h.at = bytes;
    h.end = bytes + size;
    start();
    while (h.at < h.end)
        step();
    (void)h.channel->ops->poll(h.channel);
    fake_fabric.busy = fake_fabric.failing = false;
    fake_fabric.prompt = true;
    for (unsigned i = 0; i < PEERS; i++)
        FUZZ_CHECK(ch3_vc_event(&h.peers[i].vc, CH3_VC_CLOSE));
    nmofi_close(h.nm);
    FUZZ_CHECK(h.ch3.unsent == 0);
    return 0;
}
