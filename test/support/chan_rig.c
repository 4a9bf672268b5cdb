/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chan_rig.c - see chan_rig.h.
 */
#include "chan_rig.h"

#include <sched.h>

#include "base/clock.h"
#include "base/err.h"
#include "netmod/ofi/nmofi.h"
#include "provider.h"
#include "shm/shm_channel.h"

enum { HEAD = 16 };

uint64_t rig_now(const struct rig *rig)
{
    return rig->kind->now ? rig->kind->now(rig) : clock_monotonic_ns();
}

void rig_rest(const struct rig *rig)
{
    if (!rig->kind->now)
        sched_yield();
}

static unsigned char pattern(uint32_t number, size_t i)
{
    return (unsigned char)(number * 29 + i * 5 + (i >> 7));
}

static void fill(unsigned char *at, const uint32_t head[4])
{
    memcpy(at, head, HEAD);
    for (size_t i = HEAD; i < head[3]; i++)
        at[i] = pattern(head[2], i);
}

static void rig_deliver(struct ch3_vc *from, const void *packet, size_t len)
{
    struct rig_end *end = from->owner;
    const int who = (int)(from - end->vc);
    const unsigned char *bytes = packet;
    uint32_t head[4];
    bool good = len >= HEAD && (uintptr_t)packet % 8 == 0;
    if (good) {
        memcpy(head, packet, HEAD);
        good = head[0] == (uint32_t)who && head[1] == (uint32_t)end->me &&
               head[2] == end->got[who] && head[3] == len;
    }
    if (end->on_packet)
        end->on_packet(end, who, packet, len);
    for (size_t i = HEAD; good && i < len; i++)
        good = bytes[i] == pattern(head[2], i);
    end->got[who]++;
    end->rig->bad += !good;
}

struct rig *rig_open(const struct chan_kind *kind, int n)
{
    struct rig *rig = calloc(1, sizeof *rig);
    rig->kind = kind;
    rig->n = n;
    log_to_pipe(&rig->lp, LOG_LEVEL_WARN);
    for (int i = 0; i < n; i++) {
        rig->end[i].rig = rig;
        rig->end[i].me = i;
        ch3_init(&rig->end[i].ch3, &rig->lp.log, NULL, &rig->end[i]);
    }
    if (!kind->open(rig)) {
        log_pipe_close(&rig->lp);
        free(rig);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        struct rig_end *end = &rig->end[i];
        assert_int_equal(end->ch->caps, kind->caps);
        ch3_add_channel(&end->ch3, end->ch);
        end->ch->deliver = rig_deliver;
        for (int k = 0; k < n; k++)
            if (k != i)
                assert_true(ch3_vc_event(&end->vc[k], CH3_VC_CONNECT));
    }
    return rig;
}

void rig_close(struct rig *rig)
{
    for (int i = 0; i < rig->n; i++)
        for (int k = 0; k < rig->n && !rig->end[i].gone; k++)
            if (k != i)
                ch3_vc_event(&rig->end[i].vc[k], CH3_VC_CLOSE);
    rig->kind->close(rig);
    assert_int_equal(rig->bad, 0);
    log_pipe_close(&rig->lp);
    free(rig);
}

bool rig_send(struct rig *rig, int from, int to, size_t len)
{
    struct rig_end *end = &rig->end[from];
    void *room = end->ch->ops->reserve(end->ch, &end->vc[to], len);
    const uint32_t head[4] = {(uint32_t)from, (uint32_t)to, end->sent[to], (uint32_t)len};
    if (!room)
        return false;
    assert_int_equal((uintptr_t)room % 8, 0);
    fill(room, head);
    end->ch->ops->commit(end->ch, &end->vc[to], len);
    end->sent[to]++;
    return true;
}

unsigned rig_poll(struct rig *rig)
{
    unsigned n = 0;
    for (int i = 0; i < rig->n; i++)
        if (!rig->end[i].gone)
            n += rig->end[i].ch->ops->poll(rig->end[i].ch);
    return n;
}

static bool settled(const struct rig *rig)
{
    for (int i = 0; i < rig->n; i++)
        for (int k = 0; k < rig->n; k++)
            if (rig->end[i].sent[k] != rig->end[k].got[i])
                return false;
    return true;
}

void rig_settle(struct rig *rig)
{
    const uint64_t start = rig_now(rig);
    while (!settled(rig)) {
        if (!rig_poll(rig))
            rig_rest(rig);
        if (rig_now(rig) - start > UINT64_C(20000000000))
            fail_msg("%s: what was sent does not arrive", rig->kind->name);
    }
    assert_int_equal(rig->bad, 0);
}

void rig_send_surely(struct rig *rig, int from, int to, size_t len)
{
    const uint64_t start = rig_now(rig);
    while (!rig_send(rig, from, to, len)) {
        if (!rig_poll(rig))
            rig_rest(rig);
        if (rig_now(rig) - start > UINT64_C(20000000000))
            fail_msg("%s: there is never room", rig->kind->name);
    }
}

void rig_greet(struct rig *rig)
{
    rig_send_surely(rig, 0, 1, 64);
    rig_send_surely(rig, 1, 0, 64);
    rig_settle(rig);
}

/* ---- shm rings ---- */

struct shm_end {
    struct procseg *seg;
    struct shm_channel *ch;
    struct shm_peer peer[RIG_MAX];
    struct ring *ring[RIG_MAX];
};

static void *zeroed(size_t size)
{
    void *at = aligned_alloc(MRMA_CACHE_LINE,
                             (size + MRMA_CACHE_LINE - 1) & ~(size_t)(MRMA_CACHE_LINE - 1));
    return at ? memset(at, 0, size) : NULL;
}

static void *shm_map(void *ctx, const struct heap_loc *where, size_t size, void **handle)
{
    (void)handle;
    (void)ctx;
    (void)size;
    return (void *)(uintptr_t)where->offset;
}

static struct ch3_vc *rig_find(void *ctx, uint64_t uid)
{
    struct rig_end *end = ctx;
    return uid && uid <= (uint64_t)end->rig->n ? &end->vc[uid - 1] : NULL;
}

/* The kind's arg, where it has one: the largest rings. */
static bool shm_open(struct rig *rig)
{
    const uint32_t bytes = rig->kind->arg ? RING_MOST : RING_LEAST;
    for (int i = 0; i < rig->n; i++) {
        struct shm_end *s = calloc(1, sizeof *s);
        s->seg = zeroed(sizeof *s->seg);
        s->ch = zeroed(sizeof *s->ch);
        rig->end[i].impl = s;
        const struct shm_channel_env env = {.ctx = &rig->end[i], .map = shm_map, .find = rig_find};
        shm_channel_init(s->ch, s->seg, &env, &rig->lp.log);
        rig->end[i].ch = &s->ch->channel;
    }
    for (int i = 0; i < rig->n; i++)
        for (int k = 0; k < rig->n; k++) {
            struct shm_end *s = rig->end[i].impl, *to = rig->end[k].impl;
            if (i == k)
                continue;
            s->peer[k].seg = to->seg;
            s->peer[k].pid = k;
            s->ring[k] = zeroed(ring_size(bytes));
            const struct heap_loc loc = {.offset = (uint64_t)(uintptr_t)s->ring[k]};
            ch3_vc_init(&rig->end[i].vc[k], &rig->end[i].ch3, rig->end[i].ch, &s->peer[k],
                        &rig->end[i]);
            assert_int_equal(
                shm_channel_connect(&s->peer[k], (uint64_t)i + 1, s->ring[k], bytes, &loc),
                MRMA_SUCCESS);
        }
    return true;
}

static void shm_close(struct rig *rig)
{
    for (int i = 0; i < rig->n; i++) {
        struct shm_end *s = rig->end[i].impl;
        for (int k = 0; k < rig->n; k++)
            free(s->ring[k]);
        free(s->seg);
        free(s->ch);
        free(s);
    }
}

const struct chan_kind rig_shm = {.name = "shm",
                                  .open = shm_open,
                                  .close = shm_close,
                                  .caps = CH3_CAP_ROOM | CH3_CAP_PROBE | CH3_CAP_ABANDON |
                                          CH3_CAP_QUIET};
const struct chan_kind rig_shm_most = {.name = "shm, largest rings",
                                       .open = shm_open,
                                       .close = shm_close,
                                       .arg = "most",
                                       .caps = CH3_CAP_ROOM | CH3_CAP_PROBE | CH3_CAP_ABANDON |
                                               CH3_CAP_QUIET};

/* ---- libfabric ---- */

struct ofi_end {
    struct nmofi *nm;
    struct nmofi_peer peer[RIG_MAX];
};

static const unsigned char secret[NMOFI_SECRET_BYTES] = "sixteen of them";

static bool ofi_open(struct rig *rig)
{
    const char *provider = rig->kind->arg ? rig->kind->arg : provider_of_datagrams();
    struct nmofi_name names[RIG_MAX];
    for (int i = 0; i < rig->n; i++) {
        struct ofi_end *o = calloc(1, sizeof *o);
        const struct nmofi_opts opts = {.provider = provider,
                                        .loopback = true,
                                        .uid = (uint64_t)i + 1,
                                        .log = &rig->lp.log,
                                        .ctx = &rig->end[i],
                                        .find = rig_find};
        rig->end[i].impl = o;
        assert_int_equal(nmofi_open(&opts, &o->nm), MRMA_SUCCESS);
        assert_int_equal(nmofi_add_secret(o->nm, secret), MRMA_SUCCESS);
        nmofi_get_name(o->nm, &names[i]);
        rig->end[i].ch = nmofi_channel(o->nm);
    }
    for (int i = 0; i < rig->n; i++)
        for (int k = 0; k < rig->n; k++) {
            struct ofi_end *o = rig->end[i].impl;
            if (i == k)
                continue;
            assert_int_equal(
                nmofi_peer_init(o->nm, &o->peer[k], (uint64_t)k + 1, &names[k], secret),
                MRMA_SUCCESS);
            ch3_vc_init(&rig->end[i].vc[k], &rig->end[i].ch3, rig->end[i].ch, &o->peer[k],
                        &rig->end[i]);
        }
    return true;
}

static void ofi_close(struct rig *rig)
{
    for (int i = 0; i < rig->n; i++) {
        struct ofi_end *o = rig->end[i].impl;
        if (!rig->end[i].gone)
            nmofi_close(o->nm);
        free(o);
    }
}

/* The endpoint is closed without a good-bye. */
static void ofi_vanish(struct rig *rig, int who)
{
    struct ofi_end *o = rig->end[who].impl;
    nmofi_close(o->nm);
    rig->end[who].gone = true;
}

#define OFI_CAPS                                                                         \
    (CH3_CAP_WAIT | CH3_CAP_PROBE | CH3_CAP_RDMA | CH3_CAP_RDMA_ORDERED | CH3_CAP_ROOM | \
     CH3_CAP_ABANDON | CH3_CAP_RDMA_WORD)

const struct chan_kind rig_net = {
    .name = "net", .open = ofi_open, .close = ofi_close, .vanish = ofi_vanish, .caps = OFI_CAPS};
const struct chan_kind rig_rxm = {.name = "tcp;ofi_rxm",
                                  .open = ofi_open,
                                  .close = ofi_close,
                                  .vanish = ofi_vanish,
                                  .caps = OFI_CAPS,
                                  .arg = "tcp;ofi_rxm"};
