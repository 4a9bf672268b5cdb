/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_peer.c - the processes behind records: found or made, connected, watched.
 *
 * A process may be two peers: one that is reached through shared memory and rings, and one that is
 * reached over the network (another node, a pretended one, MPIRMA_PATH=net-packets). Both stay
 * known while the process lives: the next window with the same processes costs no system call.
 * Everything that belongs to processes that have ended, and that no window names any more, is freed
 * when other processes come (engine_peer_sweep), so that thousands may come and go. Nothing is
 * allocated or connected towards a network peer before the first packet (netmod/ofi). Locks:
 * maps_lock for the maps, taken inside the engine's lock.
 *
 * Neighbours: shm/shm_channel.h and netmod/ofi/nmofi.h, which connect; engine_mem.c, which maps;
 * rma/env.h, whose functions for peers are here.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "engine/engine_impl.h"
#include "rma/progress/progress.h"
#include "rma/win/proc_table.h"
#include "shm/cma_probe.h"
#include "sys/procstart.h"

/* How many bytes this process's rings on a node take together, unless their least sizes take
 * more. */
enum { RINGS_BYTES = 2 * 1024 * 1024 };

/* engine.readers_ns. */
#define READERS_NS UINT64_C(10000000000)
enum { READER_PAUSE_NS = 20000, READER_PAUSE_MOST_NS = 2000000 };

struct engine_peer {
    struct rma_peer peer; /* first */
    struct shm_peer shm;
    struct nmofi_peer net; /* peer.net */
    struct seg seg;        /* its process segment, where that is mapped */
    bool machine;          /* process ids mean the same to this process and to it */
    uint64_t started;      /* when it began, as it has told; 0: it does not know */
    int pidfd;             /* -1: nobody has asked yet whether the process lives; under the engine's
                              lock */
    void *ring;            /* this process's ring to it, from the heap */
    struct engine_peer *next; /* next in the list of peers that are being freed */
};

/* open_segment maps the peer's process segment, which has the words that it sleeps on and its
 * stripe locks. */
static int open_segment(struct engine *e, struct engine_peer *p, const struct proc_record *rec)
{
    struct seg opened = {.fd = -1};
    int err = seg_open(&rec->seg, &e->log, &opened);
    if (err)
        return err;
    struct procseg *seg = opened.base;
    if (opened.size < sizeof *seg || seg->magic != PROCSEG_MAGIC || seg->uid != rec->uid) {
        seg_close(&opened);
        return log_fail(&e->log, MRMA_ERR_OTHER, "process %d is not the one that announced itself",
                        rec->seg.pid);
    }
    seg_only_mapped(&opened);
    p->seg = opened;
    p->shm.seg = seg;
    p->shm.pid = rec->seg.pid;
    p->peer.polling = &seg->polling;
    p->peer.board = &seg->board;
    p->peer.notices = (const struct rma_notice *)(const void *)seg->notices;
    p->peer.stripes = (struct stripes){seg->stripes, e->env.stripes.self};
    p->peer.assisted_errno = cma_probe_peer(rec->seg.pid, rec->probe_addr, rec->probe_value);
    p->peer.assisted = p->peer.assisted_errno == 0;
    p->peer.attachable = engine_attach_probe(e, rec);
    return MRMA_SUCCESS;
}

static void be_self(struct engine *e, struct engine_peer *p)
{
    p->peer.self = p->peer.node = true;
    p->peer.polling = &e->own->polling;
    p->peer.board = &e->own->board;
    p->peer.notices = e->env.notices;
    p->peer.stripes = e->env.stripes;
}

/* init_net sends nothing; the first packet makes the connection. */
static int init_net(struct engine *e, struct engine_peer *p, const struct proc_record *rec)
{
    if (!e->net || rec->net == NET_NONE)
        return log_fail(&e->log, MRMA_ERR_INTERN, "process %d has no network endpoint",
                        rec->seg.pid);
    int err = nmofi_peer_init(e->net, &p->net, rec->uid, &rec->name, rec->secret);
    if (err)
        return err;
    ch3_vc_init(&p->peer.vc, &e->ch3, nmofi_channel(e->net), &p->net, p);
    (void)ch3_vc_event(&p->peer.vc, CH3_VC_CONNECT);
    return MRMA_SUCCESS;
}

/* Under maps_lock, and under the engine's lock. */
static int new_peer(struct engine *e, struct map *map, const struct proc_record *rec,
                    struct engine_peer **out)
{
    struct engine_peer *p = calloc(1, sizeof *p);
    if (!p)
        return MRMA_ERR_NO_MEM;
    p->seg.fd = p->pidfd = -1;
    p->peer.uid = rec->uid;
    p->peer.pid = rec->seg.pid;
    p->peer.doorbell_fd = e->doorbell_fd;
    p->started = rec->started;
    p->peer.net = map == &e->net_peers;
    p->machine = engine_same_node(e, rec->node);
    int err = MRMA_SUCCESS;
    if (p->peer.net)
        err = init_net(e, p, rec);
    else
        ch3_vc_init(&p->peer.vc, &e->ch3, &e->shm.channel, &p->shm, p);
    if (!err && rec->uid == e->uid)
        be_self(e, p);
    if (!err)
        err = map_put(map, rec->uid, p, NULL);
    if (err) {
        free(p);
        return err;
    }
    *out = p;
    return MRMA_SUCCESS;
}

/* by_net returns whether traffic with the process takes the network. It does so also between
 * processes that the configuration treats as remote, unless the configuration demands rings. */
static bool by_net(const struct engine *e, const struct proc_record *rec, bool node)
{
    if (rec->uid == e->uid)
        return false;
    if (!engine_same_node(e, rec->node) || e->conf.path == CONF_PATH_NET_PACKETS)
        return true;
    return !node && e->conf.path != CONF_PATH_SHM_PACKETS;
}

static int peer_locked(struct engine *e, const struct proc_record *rec, bool node, bool net,
                       struct engine_peer **out)
{
    struct map *map = net ? &e->net_peers : &e->peers;
    struct engine_peer *p = map_get(map, rec->uid);
    int err = p ? MRMA_SUCCESS : new_peer(e, map, rec, &p);
    if (!err && p->peer.net && p->peer.vc.state == CH3_VC_FAILED)
        return log_fail(&e->log, MRMA_ERR_PROC_FAILED,
                        "process %d cannot be reached any more: the connection was lost",
                        rec->seg.pid);
    if (!err && !p->peer.self && !p->seg.base && (node || !net))
        err = open_segment(e, p, rec);
    if (err)
        return err;
    p->peer.node |= node;
    p->peer.refs++;
    *out = p;
    return MRMA_SUCCESS;
}

/* ---- processes that have ended ---- */

enum { SWEEP_LEAST = 32 };

static bool has_ended(struct engine_peer *p)
{
    if (p->peer.net && nmofi_peer_is_used(&p->net))
        return p->peer.vc.state == CH3_VC_FAILED || nmofi_peer_is_gone(&p->net);
    if (!p->machine)
        return false;
    const bool watched = p->pidfd >= 0;
    const bool lives = procstart_lives(p->peer.pid, (uint32_t)p->started, &p->pidfd);
    if (lives && !watched && p->pidfd >= 0) { /* nobody waits for it */
        close(p->pidfd);
        p->pidfd = -1;
    }
    return !lives;
}

/* take_ended takes the peers that have ended and that nobody uses out of a map. Under maps_lock. */
static void take_ended(struct map *map, struct engine_peer **ended)
{
    size_t cursor = 0;
    void *value;
    struct engine_peer *first = *ended;
    while (map_next(map, &cursor, NULL, &value)) {
        struct engine_peer *p = value;
        if (p->peer.refs || p->peer.self || !has_ended(p))
            continue;
        p->next = *ended;
        *ended = p;
    }
    for (struct engine_peer *p = *ended; p != first; p = p->next)
        (void)map_del(map, p->peer.uid);
}

static void free_peer(struct engine *e, struct engine_peer *p)
{
    if (ch3_vc_busy(&p->peer.vc)) /* what is queued ends with an error */
        ch3_vc_lost(&p->peer.vc);
    (void)ch3_vc_event(&p->peer.vc, CH3_VC_CLOSE);
    if (!p->peer.net) {
        shm_channel_forget(&e->shm, &p->peer.vc, p->peer.uid);
        engine_unmap_process(e, p->peer.pid);
    }
    if (p->ring)
        (void)heap_free(e->heap, p->ring);
    if (p->pidfd >= 0)
        close(p->pidfd);
    seg_close(&p->seg);
    free(p);
}

void engine_peer_sweep(struct engine *e)
{
    struct engine_peer *ended = NULL;
    pthread_mutex_lock(&e->maps_lock);
    const size_t known = map_count(&e->peers) + map_count(&e->net_peers);
    const bool due = known >= e->sweep_at;
    if (due) {
        take_ended(&e->peers, &ended);
        take_ended(&e->net_peers, &ended);
        const size_t left = map_count(&e->peers) + map_count(&e->net_peers);
        e->sweep_at = 2 * left > SWEEP_LEAST ? 2 * left : SWEEP_LEAST;
    }
    pthread_mutex_unlock(&e->maps_lock);
    while (ended) {
        struct engine_peer *p = ended;
        ended = p->next;
        free_peer(e, p);
    }
}

/* env_peers_sweep is called when some processes have ended and a window with them is gone. */
static void env_peers_sweep(void *ctx)
{
    struct engine *e = ctx;
    e->sweep_at = 0;
    engine_peer_sweep(e);
}

static int env_peer_get(void *ctx, const struct rma_proc_record *record, bool node,
                        struct rma_peer **out)
{
    struct engine *e = ctx;
    const struct proc_record rec = proc_record_of(record);
    const bool net = by_net(e, &rec, node);
    struct engine_peer *p = NULL;
    if (node) /* a window is being made */
        engine_peer_sweep(e);
    /* The peer must notify this process with a fence, and does not notify it before the window is
     * agreed upon. */
    if (!rec.membarrier && engine_same_node(e, rec.node))
        atomic_store_explicit(&e->own->polling.threads.membarrier, 0, memory_order_seq_cst);
    pthread_mutex_lock(&e->maps_lock);
    int err = peer_locked(e, &rec, node, net, &p);
    pthread_mutex_unlock(&e->maps_lock);
    if (!err)
        *out = &p->peer;
    return err;
}

static void env_peer_put(void *ctx, struct rma_peer *peer)
{
    struct engine *e = ctx;
    pthread_mutex_lock(&e->maps_lock);
    peer->refs--;
    pthread_mutex_unlock(&e->maps_lock);
}

/* ring_bytes returns the size of a ring to one of the peers on the node. */
static uint32_t ring_bytes(const struct engine *e)
{
    const int seen = rma_node_procs(&e->rma), bound = e->env.node_procs_bound,
              procs = seen > bound ? seen : bound;
    uint32_t bytes = RING_MOST;
    while (bytes > RING_LEAST && (size_t)bytes * (size_t)(procs > 1 ? procs - 1 : 1) > RINGS_BYTES)
        bytes /= 2;
    return bytes;
}

/* connect_locked makes a ring to the peer and announces it. Under maps_lock. */
static int connect_locked(struct engine *e, struct engine_peer *p)
{
    const uint32_t bytes = ring_bytes(e);
    struct heap_loc loc;
    void *ring;
    int err = heap_alloc(e->heap, ring_size(bytes), MRMA_CACHE_LINE, &ring);
    if (err)
        return err;
    err = heap_find(e->heap, ring, ring_size(bytes), &loc) ? MRMA_SUCCESS : MRMA_ERR_INTERN;
    if (!err)
        err = shm_channel_connect(&p->shm, e->uid, ring, bytes, &loc);
    if (err) {
        (void)heap_free(e->heap, ring);
        return log_fail(&e->log, err, "process %d accepts no more rings", p->peer.pid);
    }
    p->ring = ring;
    (void)ch3_vc_event(&p->peer.vc, CH3_VC_CONNECT);
    return MRMA_SUCCESS;
}

static int env_peer_connect(void *ctx, struct rma_peer *peer)
{
    struct engine *e = ctx;
    struct engine_peer *p = (struct engine_peer *)peer;
    if (peer->net)
        return MRMA_SUCCESS;
    pthread_mutex_lock(&e->maps_lock);
    int err = p->ring ? MRMA_SUCCESS : connect_locked(e, p);
    pthread_mutex_unlock(&e->maps_lock);
    return err;
}

/* probe asks the channel whether a quiet connection has broken. The channel finds that out by
 * sending something, or by what the peer has left behind, and reports it in a later poll. */
static void probe(struct ch3_vc *vc)
{
    if (vc->state == CH3_VC_OPEN && vc->channel->caps & CH3_CAP_PROBE)
        vc->channel->ops->probe(vc->channel, vc);
}

/* Of a process on another machine only this is known: whether its connection holds. A process on
 * this machine may live although it has given up the connection. */
static bool env_peer_alive(void *ctx, struct rma_peer *peer)
{
    struct engine_peer *p = (struct engine_peer *)peer;
    struct engine *e = ctx;
    probe(&peer->vc);
    if (!peer->net && !peer->self && shm_channel_has_ended(&e->shm, &peer->vc))
        ch3_vc_closed(&peer->vc, true);
    return !p->machine || procstart_lives(p->peer.pid, (uint32_t)p->started, &p->pidfd);
}

/* ---- the channels' view ---- */

static struct ch3_vc *find(struct engine *e, const struct map *map, uint64_t uid)
{
    pthread_mutex_lock(&e->maps_lock);
    struct engine_peer *p = map_get(map, uid);
    pthread_mutex_unlock(&e->maps_lock);
    return p ? &p->peer.vc : NULL;
}

static struct ch3_vc *shm_find(void *ctx, uint64_t uid)
{
    struct engine *e = ctx;
    return find(e, &e->peers, uid);
}

/* engine_net_find finds a process from which something comes over the network; the tables of
 * processes name also those that this process has never used. From poll, under the engine's
 * lock. */
struct ch3_vc *engine_net_find(void *engine, uint64_t uid)
{
    struct engine *e = engine;
    struct ch3_vc *vc = find(e, &e->net_peers, uid);
    const struct rma_proc_record *record = vc ? NULL : proc_tables_find(&e->rma, uid);
    struct rma_peer *peer;
    if (!record || env_peer_get(e, record, false, &peer) != MRMA_SUCCESS)
        return vc;
    env_peer_put(e, peer); /* it stays known */
    return peer->net ? &peer->vc : NULL;
}

static void *shm_map(void *ctx, const struct heap_loc *where, size_t size, void **handle)
{
    return engine_map_ring(ctx, where, size, handle);
}

static void shm_unmap(void *ctx, void *handle)
{
    engine_unmap_ring(ctx, handle);
}

struct shm_channel_env engine_channel_env(struct engine *e)
{
    return (struct shm_channel_env){.ctx = e,
                                    .doorbell_fd = e->doorbell_fd,
                                    .map = shm_map,
                                    .unmap = shm_unmap,
                                    .find = shm_find};
}

/* ---- start and end ---- */

void engine_peer_init(struct engine *e)
{
    map_init(&e->peers);
    map_init(&e->net_peers);
    e->sweep_at = SWEEP_LEAST;
    e->readers_ns = READERS_NS;
    e->env.peer_get = env_peer_get;
    e->env.peer_connect = env_peer_connect;
    e->env.peer_put = env_peer_put;
    e->env.peers_sweep = env_peers_sweep;
    e->env.peer_alive = env_peer_alive;
}

static void free_peers(struct map *map)
{
    size_t cursor = 0;
    void *value;
    while (map_next(map, &cursor, NULL, &value)) {
        struct engine_peer *p = value;
        if (p->pidfd >= 0)
            close(p->pidfd);
        seg_close(&p->seg);
        free(p);
    }
    map_fini(map);
}

/* Before the channel is closed. */
void engine_peer_close(struct engine *e)
{
    size_t cursor = 0;
    void *value;
    while (map_next(&e->net_peers, &cursor, NULL, &value))
        (void)ch3_vc_event(&((struct engine_peer *)value)->peer.vc, CH3_VC_CLOSE);
}

/* await_reader calls the peer, and looks with growing pauses for whether it has come. */
static void await_reader(struct engine *e, struct engine_peer *p, uint64_t deadline)
{
    struct timespec pause = {.tv_nsec = READER_PAUSE_NS};
    if (!shm_channel_may_end(&p->shm))
        e->shm.channel.ops->wake(&e->shm.channel, &p->peer.vc);
    while (!shm_channel_may_end(&p->shm) &&
           (!p->machine || procstart_lives(p->peer.pid, (uint32_t)p->started, &p->pidfd))) {
        if (clock_monotonic_ns() >= deadline) {
            log_msg(&e->log, LOG_LEVEL_WARN,
                    "this process ends, and process %d has not come for what was sent to it",
                    p->peer.pid);
            return;
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < READER_PAUSE_MOST_NS)
            pause.tv_nsec *= 2;
    }
}

void engine_peer_await_readers(struct engine *e)
{
    const uint64_t deadline = clock_monotonic_ns() + e->readers_ns;
    size_t cursor = 0;
    void *value;
    while (map_next(&e->peers, &cursor, NULL, &value)) {
        struct engine_peer *p = value;
        if (!p->peer.self)
            await_reader(e, p, deadline);
    }
}

void engine_peer_fini(struct engine *e)
{
    free_peers(&e->peers);
    free_peers(&e->net_peers);
}
