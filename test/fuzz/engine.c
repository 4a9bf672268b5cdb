/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.c - see engine.h.
 *
 * The exchange at window creation is answered by the process itself: the peers'
 * records are its own with another process record in them, found by its content.
 * They are on other nodes, so nothing of the rest is looked at but sizes and indices.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "../sim/channel_stub.h"
#include "change.h"
#include "rma/create/win_exchange.h"
#include "rma/layer/layer.h"
#include "sys/procstart.h"

/* ---- the environment ---- */

static int mem_alloc(void *ctx, size_t size, size_t align, void **out)
{
    (void)ctx;
    FUZZ_CHECK(posix_memalign(out, align < MRMA_CACHE_LINE ? MRMA_CACHE_LINE : align,
                              size ? size : 1) == 0);
    return MRMA_SUCCESS;
}

static void mem_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

static uint64_t mem_untouched(void *ctx, const void *ptr, size_t len)
{
    (void)ctx, (void)ptr, (void)len;
    return 0;
}

static bool mem_pin(void *ctx, const void *ptr, size_t len)
{
    (void)ctx, (void)ptr, (void)len;
    return false;
}

static bool mem_find(void *ctx, const void *ptr, size_t len, struct rma_mem_loc *loc)
{
    (void)ctx, (void)len;
    *loc = (struct rma_mem_loc){{1, (uint64_t)(uintptr_t)ptr}};
    return true;
}

static uint64_t rank_of(const struct rma_proc_record *record)
{
    FUZZ_CHECK(record->uid - 1 < FUZZ_PROCS);
    return record->uid - 1;
}

static bool same_node(void *ctx, const struct rma_proc_record *record)
{
    (void)ctx;
    return rank_of(record) == 0;
}

static unsigned record_cpus(void *ctx, const struct rma_procs *procs)
{
    (void)ctx, (void)procs;
    return 1;
}

static int peer_get(void *ctx, const struct rma_proc_record *record, bool node,
                    struct rma_peer **out)
{
    struct fuzz_engine *e = ctx;
    (void)node;
    *out = &e->peers[rank_of(record)];
    (*out)->refs++;
    return MRMA_SUCCESS;
}

static int peer_connect(void *ctx, struct rma_peer *peer)
{
    (void)ctx;
    if (peer->vc.state == CH3_VC_IDLE)
        FUZZ_CHECK(ch3_vc_event(&peer->vc, CH3_VC_CONNECT));
    return MRMA_SUCCESS;
}

static void peer_put(void *ctx, struct rma_peer *peer)
{
    (void)ctx;
    FUZZ_CHECK(peer->refs-- > 0);
}

static bool peer_alive(void *ctx, struct rma_peer *peer)
{
    const struct fuzz_engine *e = ctx;
    return peer->self || !e->dead;
}

static uint64_t clock_of_seconds(void)
{
    static uint64_t now; /* only ever grows: the engines of all inputs may share it */
    return now += 1000000000;
}

static const unsigned char *find_bytes(const unsigned char *in, size_t len, const void *what,
                                       size_t n)
{
    for (size_t i = 0; i + n <= len; i += 8)
        if (memcmp(in + i, what, n) == 0)
            return in + i;
    return NULL;
}

/* All others say the same, but for who they are. */
static int allgather(struct boot *boot, const void *mine, void *all, size_t len)
{
    const struct fuzz_engine *e = boot->handle;
    const unsigned char *record = find_bytes(mine, len, &e->record, sizeof e->record);
    const size_t at = len == sizeof(struct win_summary) ? offsetof(struct win_summary, uid)
                      : record ? (size_t)(record - (const unsigned char *)mine)
                               : len;
    for (size_t i = 0; i < FUZZ_PROCS; i++) {
        unsigned char *to = (unsigned char *)all + i * len;
        memcpy(to, mine, len);
        if (at < len)
            memcpy(to + at, &(uint64_t){i + 1}, 8);
    }
    return MRMA_SUCCESS;
}

static int allmax(struct boot *boot, int mine, int *max)
{
    (void)boot;
    *max = mine;
    return MRMA_SUCCESS;
}

/* Nobody else runs, and nobody wakes anybody. */
static void idle(void *ctx, struct event *ev, uint32_t ticket, uint64_t ns)
{
    (void)ctx, (void)ev, (void)ticket, (void)ns;
}

/* ---- the channel: what is sent is looked at, then forgotten ---- */

static struct fuzz_engine *engine_of(struct ch3_channel *ch)
{
    return LIST_ENTRY(ch, struct fuzz_engine, channel);
}

static void *reserve(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct fuzz_engine *e = engine_of(ch);
    (void)vc;
    FUZZ_CHECK(!e->reserved && len <= PKT_MAX);
    if (e->stalled)
        return NULL;
    e->reserved = true;
    return e->room;
}

static void commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct fuzz_engine *e = engine_of(ch);
    const struct pkt_hdr *hdr = (const struct pkt_hdr *)(const void *)e->room;
    const struct rma_peer *to = LIST_ENTRY(vc, struct rma_peer, vc);
    FUZZ_CHECK(e->reserved);
    e->reserved = false;
    if (!len)
        return;
    FUZZ_CHECK(len >= sizeof *hdr && len <= PKT_MAX);
    FUZZ_CHECK(hdr->version == PKT_VERSION && hdr->len == len && hdr->rank == 0);
    FUZZ_CHECK(hdr->type > PKT_NONE && hdr->type < PKT_TYPE_LAST);
    if (e->closing && hdr->flags & PKT_F_FLUSH)
        e->ack[to - e->peers] = (struct pkt_hdr){.version = PKT_VERSION,
                                                 .type = PKT_ACK,
                                                 .len = sizeof *hdr,
                                                 .win = hdr->win,
                                                 .win_gen = hdr->win_gen,
                                                 .rank = (uint32_t)(to - e->peers),
                                                 .seq = (uint32_t)hdr->offset};
}

/* The peers answer what MPI_Win_free has asked, and enter it as well. */
static unsigned behave(struct fuzz_engine *e)
{
    for (unsigned from = 1; from < FUZZ_PROCS; from++) {
        const struct pkt_hdr ack = e->ack[from];
        e->ack[from].type = PKT_NONE;
        if (ack.type != PKT_NONE) {
            e->channel.deliver(&e->peers[from].vc, &ack, sizeof ack);
            return 1;
        }
    }
    for (unsigned from = 1; from < FUZZ_PROCS; from++)
        for (unsigned i = 0; i < 2; i++) {
            const struct win *w = e->win[i];
            if (!w || e->synced[from][i])
                continue;
            const struct pkt_hdr hdr = {.version = PKT_VERSION,
                                        .type = PKT_SYNC,
                                        .len = sizeof hdr,
                                        .win = w->index,
                                        .win_gen = w->index_gen,
                                        .rank = from,
                                        .seq = 1};
            e->synced[from][i] = true;
            e->channel.deliver(&e->peers[from].vc, &hdr, sizeof hdr);
            return 1;
        }
    return 0;
}

static unsigned poll_script(struct ch3_channel *ch)
{
    struct fuzz_engine *e = engine_of(ch);
    unsigned from;
    size_t len;
    if (e->dead)
        return 0;
    const void *packet = e->next_packet(e->arg, &from, &len);
    if (packet) {
        fuzz_engine_deliver(e, from, packet, len);
        return 1;
    }
    if (e->closing && behave(e))
        return 1;
    e->dead = true;
    return 0;
}

static const struct ch3_channel_ops channel_ops = {.name = "fuzz",
                                                   .reserve = reserve,
                                                   .commit = commit,
                                                   .poll = poll_script,
                                                   .pending = stub_pending,
                                                   .disconnect = stub_disconnect};

/* A peer may say in the last barrier that it has failed, and how: it is this process's
 * outcome too, if it is an error. And it may say that another is lost. */
static void note_error(struct fuzz_engine *e, const void *packet)
{
    struct pkt_hdr hdr;
    memcpy(&hdr, packet, sizeof hdr);
    if (hdr.type == PKT_ERROR && hdr.seq == PKT_ERROR_LOST)
        e->told[MRMA_ERR_PROC_FAILED] = true;
    if (hdr.type == PKT_SYNC && hdr.total)
        e->told[hdr.total < MRMA_ERR_LAST && hdr.total != MRMA_AGAIN ? hdr.total
                                                                     : MRMA_ERR_INTERN] = true;
}

/* What a packet says that changes while it is read nobody can tell: it may change memory inside the
 * windows, and speak of any error. */
static void deliver_changing(struct fuzz_engine *e, struct ch3_vc *vc, unsigned char *packet,
                             size_t len)
{
    for (int err = MRMA_SUCCESS + 1; err < MRMA_ERR_LAST; err++)
        e->told[err] = true;
    change_begin(packet, len);
    e->channel.deliver(vc, packet, len);
    change_end();
    free(packet);
}

/* Only operations may change window memory, and only in packets that are well formed. */
void fuzz_engine_deliver(struct fuzz_engine *e, unsigned from, const void *packet, size_t len)
{
    static char before[FUZZ_WINDOW];
    struct ch3_vc *vc = &e->peers[from].vc;
    if (vc->state != CH3_VC_OPEN)
        return;
    unsigned char *own = malloc(len ? len : 1);
    FUZZ_CHECK(own);
    memcpy(own, packet, len);
    if (change_wanted()) {
        deliver_changing(e, vc, own, len);
        return;
    }
    const uint64_t bad = e->ch3.stats.bad, sent = e->ch3.stats.packets_sent;
    memcpy(before, e->memory, FUZZ_WINDOW);
    e->channel.deliver(vc, own, len);
    if (e->ch3.stats.bad != bad) {
        FUZZ_CHECK(e->ch3.stats.packets_sent == sent);
        FUZZ_CHECK(memcmp(before, e->memory, FUZZ_WINDOW) == 0);
    } else {
        const uint8_t type = own[offsetof(struct pkt_hdr, type)];
        FUZZ_CHECK(type == PKT_OPS || memcmp(before, e->memory, FUZZ_WINDOW) == 0);
        note_error(e, own);
    }
    free(own);
}

/* ---- start and end ---- */

static void make_window(struct fuzz_engine *e, int i, unsigned flags)
{
    struct boot boot = {
        .rank = 0, .nproc = FUZZ_PROCS, .allgather = allgather, .allmax = allmax, .handle = e};
    struct win_spec spec = {.flavor = i ? WIN_DYNAMIC : WIN_CREATE,
                            .base = i ? NULL : e->memory,
                            .size = i ? 0 : FUZZ_WINDOW,
                            .disp_unit = 1,
                            .hints = win_hints_default(),
                            .boot = &boot};
    spec.hints.no_locks = flags & FUZZ_F_NO_LOCKS;
    FUZZ_CHECK(win_create(&e->rma, &spec, &e->win[i]) == MRMA_SUCCESS);
}

static void make_peers(struct fuzz_engine *e)
{
    for (unsigned i = 0; i < FUZZ_PROCS; i++) {
        e->peers[i] = (struct rma_peer){.uid = i + 1,
                                        .pid = (int32_t)i + 1,
                                        .self = i == 0,
                                        .node = i == 0,
                                        .polling = &e->polling,
                                        .notices = e->notices,
                                        .stripes = {e->stripes, fmutex_self(procstart_of(0))}};
        ch3_vc_init(&e->peers[i].vc, &e->ch3, &e->channel, NULL, &e->peers[i]);
        if (i) /* they may send before this process has anything for them */
            FUZZ_CHECK(ch3_vc_event(&e->peers[i].vc, CH3_VC_CONNECT));
    }
}

void fuzz_engine_start(struct fuzz_engine *e, unsigned flags)
{
    log_init(&e->log, LOG_LEVEL_TRACE, getenv("FUZZ_LOG") ? 2 : -1, "fuzz");
    e->conf = conf_default;
    e->conf.progress = CONF_PROGRESS_POLL;
    e->conf.strict = flags & FUZZ_F_STRICT;
    e->conf.fence = flags & FUZZ_F_COUNTS ? CONF_FENCE_COUNTS : CONF_FENCE_MARKERS;
    for (size_t i = 0; i < sizeof e->record.word / sizeof *e->record.word; i++)
        e->record.word[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    e->record.uid = 1;
    e->env = (struct rma_env){.ctx = e,
                              .mem_alloc = mem_alloc,
                              .mem_free = mem_free,
                              .mem_untouched = mem_untouched,
                              .mem_pin = mem_pin,
                              .mem_find = mem_find,
                              .record = &e->record,
                              .peer_get = peer_get,
                              .peer_connect = peer_connect,
                              .peer_put = peer_put,
                              .record_same_node = same_node,
                              .record_cpus = record_cpus,
                              .peer_alive = peer_alive,
                              .idle = idle,
                              .polling = &e->polling,
                              .notices = e->notices,
                              .stripes = {e->stripes, fmutex_self(procstart_of(0))}};
    e->channel = (struct ch3_channel){.ops = &channel_ops};
    ch3_init(&e->ch3, &e->log, rma_handlers, &e->rma);
    ch3_add_channel(&e->ch3, &e->channel);
    make_peers(e);
    rma_init(&e->rma, &e->log, &e->conf, &e->env, &e->ch3, clock_of_seconds, false);
    rma_req_init(&e->req);
    e->memory = calloc(1, FUZZ_WINDOW);
    e->regions = calloc(FUZZ_REGIONS, FUZZ_REGION_GAP);
    FUZZ_CHECK(e->memory && e->regions);
    make_window(e, 0, flags);
    make_window(e, 1, flags);
    FUZZ_CHECK(win_attach(e->win[1], e->regions, FUZZ_REGION) == MRMA_SUCCESS);
    e->attached[0] = true;
}

/* What was never attached to the dynamic window is as it was. */
static void check_gaps(const struct fuzz_engine *e)
{
    for (size_t i = 0; i < FUZZ_REGIONS; i++)
        for (size_t at = FUZZ_REGION; at < FUZZ_REGION_GAP; at++)
            FUZZ_CHECK(e->regions[i * FUZZ_REGION_GAP + at] == 0);
}

/* Are all connections up? One that is misused is given up. */
static bool connected(const struct fuzz_engine *e)
{
    bool all = !e->dead;
    for (unsigned i = 0; i < FUZZ_PROCS; i++)
        all = all && e->peers[i].vc.state == CH3_VC_OPEN;
    return all;
}

void fuzz_engine_end(struct fuzz_engine *e)
{
    e->stalled = false;
    e->closing = true;
    for (int i = 0; i < 2; i++) {
        const bool lived = connected(e);
        const int err = win_free_begin(e->win[i]);
        if (err == MRMA_SUCCESS) {
            win_free_end(e->win[i]);
            e->win[i] = NULL;
        }
        /* An open epoch forbids it, death may end it, or a peer's failure; nothing else. */
        FUZZ_CHECK(err != MRMA_ERR_PROC_FAILED || !lived || e->told[err]);
        FUZZ_CHECK(!err || err == MRMA_ERR_RMA_SYNC || err == MRMA_ERR_PROC_FAILED || e->told[err]);
    }
    for (unsigned i = 0; i < FUZZ_PROCS; i++)
        ch3_vc_lost(&e->peers[i].vc);
    rma_fini(&e->rma);
    check_gaps(e);
    free(e->memory);
    free(e->regions);
    for (unsigned i = 0; i < FUZZ_PROCS; i++)
        FUZZ_CHECK(e->peers[i].refs == 0 && !ch3_vc_busy(&e->peers[i].vc));
}
