/*
 * engine_env.c - src/rma's environment on real processes of a node: shared
 * memory from the heap, others' segments mapped once and counted, peers found by
 * the records of a bootstrap exchange.
 *
 * A process is identified by a random number made when its engine is created,
 * never by a rank; a node by the kernel's boot id together with the PID namespace
 * (process ids must mean the same to both). Peers and small segments stay known
 * until the engine ends: the next window with the same processes costs no system
 * call. Locks: maps_lock around the two maps.
 */
#include "engine_env.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "rma/stripe.h"
#include "shm/cma_probe.h"

struct proc_record {
    uint64_t uid;
    uint64_t node[2];
    struct seg_name seg;
    uint64_t probe_addr, probe_value;
    struct topo_cpuset cpus;
    uint64_t light; /* may notify without a fence */
};
static_assert(sizeof(struct proc_record) <= sizeof(struct rma_proc_record), "record size");
static_assert(sizeof(struct heap_loc) == sizeof(struct rma_mem_loc), "location size");
static_assert((int)PROCSEG_STRIPES == (int)RMA_STRIPES, "stripes");

struct mapped_seg {
    struct seg seg;
    unsigned refs;
    bool keep; /* a heap chunk that many windows share: stays mapped when unused */
};

struct engine_peer {
    struct rma_peer peer; /* first */
    struct shm_peer shm;
    struct seg seg;
    int pidfd;
    void *ring; /* my ring to it, from the heap */
};

static struct proc_record record_of(const struct rma_proc_record *rec)
{
    struct proc_record out;
    memcpy(&out, rec, sizeof out);
    return out;
}

static struct heap_loc loc_of(const struct rma_mem_loc *loc)
{
    struct heap_loc out;
    memcpy(&out, loc, sizeof out);
    return out;
}

/* ---- memory ---- */

static int env_mem_alloc(void *ctx, size_t size, size_t align, void **out)
{
    return heap_alloc(((struct engine *)ctx)->heap, size, align, out);
}

static void env_mem_free(void *ctx, void *ptr)
{
    (void)heap_free(((struct engine *)ctx)->heap, ptr);
}

static bool env_mem_find(void *ctx, const void *ptr, size_t len, struct rma_mem_loc *loc)
{
    struct heap_loc found;
    if (!heap_find(((struct engine *)ctx)->heap, ptr, len, &found))
        return false;
    memcpy(loc, &found, sizeof found);
    return true;
}

/* The file is what counts: the same inode number may be on two file systems. */
static uint64_t map_key(const struct seg_name *name)
{
    return name->inode ^ (name->device << 48 | name->device >> 16);
}

static void drop_mapped(struct engine *e, struct mapped_seg *ms)
{
    const struct seg_name name = {.inode = ms->seg.inode, .device = ms->seg.device};
    (void)map_del(&e->mapped, map_key(&name));
    seg_close(&ms->seg);
    free(ms);
}

static int open_mapped(struct engine *e, const struct heap_loc *loc, struct mapped_seg **out)
{
    struct mapped_seg *ms = calloc(1, sizeof *ms);
    if (!ms)
        return MRMA_ERR_NO_MEM;
    ms->keep = loc->chunk != 0;
    int err = seg_open(&loc->seg, &e->log, &ms->seg);
    if (!err && (err = map_put(&e->mapped, map_key(&loc->seg), ms, NULL)) != MRMA_SUCCESS)
        seg_close(&ms->seg);
    if (err) {
        free(ms);
        return err;
    }
    *out = ms;
    return MRMA_SUCCESS;
}

static int map_locked(struct engine *e, const struct heap_loc *loc, void **out, struct mapped_seg **handle)
{
    struct mapped_seg *ms = map_get(&e->mapped, map_key(&loc->seg));
    int err = ms ? MRMA_SUCCESS : open_mapped(e, loc, &ms);
    if (err)
        return err;
    if (loc->offset >= ms->seg.size || ms->seg.inode != loc->seg.inode || ms->seg.device != loc->seg.device) {
        if (!ms->refs && !ms->keep)
            drop_mapped(e, ms);
        return log_fail(&e->log, MRMA_ERR_INTERN, "location outside the segment of process %d", loc->seg.pid);
    }
    ms->refs++;
    *out = (char *)ms->seg.base + loc->offset;
    *handle = ms;
    return MRMA_SUCCESS;
}

static int env_mem_map(void *ctx, const struct rma_mem_loc *where, void **out, void **handle)
{
    struct engine *e = ctx;
    const struct heap_loc loc = loc_of(where);
    struct mapped_seg *ms = NULL;
    pthread_mutex_lock(&e->maps_lock);
    int err = map_locked(e, &loc, out, &ms);
    pthread_mutex_unlock(&e->maps_lock);
    *handle = ms;
    return err;
}

static void env_mem_unmap(void *ctx, void *handle)
{
    struct engine *e = ctx;
    struct mapped_seg *ms = handle;
    pthread_mutex_lock(&e->maps_lock);
    if (--ms->refs == 0 && !ms->keep)
        drop_mapped(e, ms);
    pthread_mutex_unlock(&e->maps_lock);
}

static int env_segment_create(void *ctx, size_t size, void **base, void **handle, struct rma_mem_loc *loc)
{
    struct engine *e = ctx;
    struct mapped_seg *ms = calloc(1, sizeof *ms);
    if (!ms)
        return MRMA_ERR_NO_MEM;
    int err = seg_create(e->conf.segment_dir, size, &e->log, &ms->seg);
    pthread_mutex_lock(&e->maps_lock);
    const struct heap_loc where = {.seg = err ? (struct seg_name){0} : seg_name_of(&ms->seg)};
    if (!err && (err = map_put(&e->mapped, map_key(&where.seg), ms, NULL)) != MRMA_SUCCESS)
        seg_close(&ms->seg);
    pthread_mutex_unlock(&e->maps_lock);
    if (err) {
        free(ms);
        return err;
    }
    ms->refs = 1;
    memcpy(loc, &where, sizeof where);
    *base = ms->seg.base;
    *handle = ms;
    return MRMA_SUCCESS;
}

static int env_segment_commit(void *ctx, void *handle, size_t offset, size_t len)
{
    struct engine *e = ctx;
    return seg_commit(&((struct mapped_seg *)handle)->seg, offset, len, &e->log);
}

/* ---- processes ---- */

static bool env_same_node(void *ctx, const struct rma_proc_record *rec)
{
    const struct proc_record mine = record_of(&((struct engine *)ctx)->record), other = record_of(rec);
    return memcmp(mine.node, other.node, sizeof mine.node) == 0;
}

static unsigned env_cpus(void *ctx, const struct rma_proc_record *records, size_t stride, int n)
{
    struct topo_cpuset all = {{0}};
    for (int i = 0; i < n; i++) {
        const struct rma_proc_record *rec = (const void *)((const char *)records + (size_t)i * stride);
        if (env_same_node(ctx, rec)) {
            const struct proc_record r = record_of(rec);
            topo_cpuset_or(&all, &r.cpus);
        }
    }
    return topo_cpuset_count(&all);
}

static int open_peer(struct engine *e, struct engine_peer *p, const struct proc_record *rec)
{
    int err = seg_open(&rec->seg, &e->log, &p->seg);
    if (err)
        return err;
    struct procseg *seg = p->seg.base;
    if (p->seg.size < sizeof *seg || seg->magic != PROCSEG_MAGIC || seg->uid != rec->uid)
        return log_fail(&e->log, MRMA_ERR_OTHER, "process %d is not the one that announced itself",
                        rec->seg.pid);
    p->shm.seg = seg;
    p->peer.event = &seg->event;
    p->peer.agent_event = &seg->agent_event;
    p->peer.stripes = seg->stripes;
    p->peer.cma_errno = cma_probe_peer(rec->seg.pid, rec->probe_addr, rec->probe_value);
    p->peer.cma = p->peer.cma_errno == 0;
    return MRMA_SUCCESS;
}

static int new_peer(struct engine *e, const struct proc_record *rec, struct engine_peer **out)
{
    struct engine_peer *p = calloc(1, sizeof *p);
    if (!p)
        return MRMA_ERR_NO_MEM;
    p->seg.fd = p->pidfd = -1;
    p->peer.uid = rec->uid;
    p->peer.pid = rec->seg.pid;
    p->peer.self = rec->uid == e->uid;
    ch3_vc_init(&p->peer.vc, &e->ch3, &e->shm.channel, &p->shm, p);
    int err = MRMA_SUCCESS;
    if (p->peer.self) {
        p->peer.node = true;
        p->peer.event = &e->own->event;
        p->peer.agent_event = &e->own->agent_event;
        p->peer.stripes = e->own->stripes;
    } else {
        err = open_peer(e, p, rec);
    }
    if (!err)
        err = map_put(&e->peers, rec->uid, p, NULL);
    if (err) {
        seg_close(&p->seg);
        free(p);
        return err;
    }
    *out = p;
    return MRMA_SUCCESS;
}

/* The shm channel serves real node peers, also those that are treated as remote. */
static int env_peer_get(void *ctx, const struct rma_proc_record *record, bool node, struct rma_peer **out)
{
    struct engine *e = ctx;
    const struct proc_record rec = record_of(record);
    if (!env_same_node(ctx, record))
        return log_fail(&e->log, MRMA_ERR_OTHER,
                        "process %d is on another node and this build has no network channel", rec.seg.pid);
    if (!rec.light) /* it must notify with a fence; nobody does before the window is agreed upon */
        atomic_store_explicit(&e->own->event.light, 0, memory_order_seq_cst);
    pthread_mutex_lock(&e->maps_lock);
    struct engine_peer *p = map_get(&e->peers, rec.uid);
    int err = p ? MRMA_SUCCESS : new_peer(e, &rec, &p);
    if (!err) {
        p->peer.node |= node;
        p->peer.refs++;
        *out = &p->peer;
    }
    pthread_mutex_unlock(&e->maps_lock);
    return err;
}

static void env_peer_put(void *ctx, struct rma_peer *peer)
{
    struct engine *e = ctx;
    pthread_mutex_lock(&e->maps_lock);
    peer->refs--;
    pthread_mutex_unlock(&e->maps_lock);
}

/* Make a ring to the peer and announce it. Under maps_lock. */
static int connect_locked(struct engine *e, struct engine_peer *p)
{
    struct heap_loc loc;
    void *ring;
    int err = heap_alloc(e->heap, sizeof(struct ring), MRMA_CACHE_LINE, &ring);
    if (err)
        return err;
    memset(ring, 0, offsetof(struct ring, bytes));
    err = heap_find(e->heap, ring, sizeof(struct ring), &loc) ? MRMA_SUCCESS : MRMA_ERR_INTERN;
    if (!err)
        err = shm_channel_connect(&p->shm, e->uid, ring, &loc);
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
    rma_enter(&e->rma);
    pthread_mutex_lock(&e->maps_lock);
    int err = p->ring ? MRMA_SUCCESS : connect_locked(e, p);
    pthread_mutex_unlock(&e->maps_lock);
    rma_leave(&e->rma);
    return err;
}

static bool env_peer_alive(void *ctx, struct rma_peer *peer)
{
    struct engine_peer *p = (struct engine_peer *)peer;
    (void)ctx;
    if (p->pidfd < 0)
        p->pidfd = (int)syscall(SYS_pidfd_open, peer->pid, 0);
    if (p->pidfd < 0)
        return errno != ESRCH;
    struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};
    return poll(&fd, 1, 0) <= 0;
}

static int env_agent_start(void *ctx)
{
    return engine_agent_start(ctx);
}

/* ---- the channel's view ---- */

static void *channel_map(void *ctx, const struct heap_loc *where)
{
    struct engine *e = ctx;
    struct mapped_seg *ms;
    void *at = NULL;
    pthread_mutex_lock(&e->maps_lock);
    int err = map_locked(e, where, &at, &ms);
    pthread_mutex_unlock(&e->maps_lock);
    return err ? NULL : at;
}

static struct ch3_vc *channel_find(void *ctx, uint64_t uid)
{
    struct engine *e = ctx;
    pthread_mutex_lock(&e->maps_lock);
    struct engine_peer *p = map_get(&e->peers, uid);
    pthread_mutex_unlock(&e->maps_lock);
    return p ? &p->peer.vc : NULL;
}

struct shm_channel_env engine_channel_env(struct engine *e)
{
    return (struct shm_channel_env){.ctx = e, .map = channel_map, .find = channel_find};
}

/* ---- start and end ---- */

static uint64_t hash_text(const char *text, size_t len)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return h;
}

static void identify_node(uint64_t node[2])
{
    char text[256] = "";
    struct stat st;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0)
        close(fd);
    if (len <= 0 && gethostname(text, sizeof text - 1) == 0)
        len = (ssize_t)strlen(text);
    node[0] = hash_text(text, len > 0 ? (size_t)len : 0);
    node[1] = stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

void engine_env_init(struct engine *e)
{
    pthread_mutex_init(&e->maps_lock, NULL);
    map_init(&e->peers);
    map_init(&e->mapped);
    struct proc_record rec = {.uid = e->uid, .light = e->light, .seg = seg_name_of(&e->own_seg),
                              .probe_addr = (uint64_t)(uintptr_t)&e->uid, .probe_value = e->uid};
    identify_node(rec.node);
    if (topo_cpuset_self(&rec.cpus) != MRMA_SUCCESS)
        rec.cpus.word[0] = 1;
    memcpy(&e->record, &rec, sizeof rec);
    e->env = (struct rma_env){.ctx = e,
                              .mem_alloc = env_mem_alloc,
                              .mem_free = env_mem_free,
                              .mem_find = env_mem_find,
                              .mem_map = env_mem_map,
                              .mem_unmap = env_mem_unmap,
                              .segment_create = env_segment_create,
                              .segment_commit = env_segment_commit,
                              .record = &e->record,
                              .peer_get = env_peer_get,
                              .peer_connect = env_peer_connect,
                              .peer_put = env_peer_put,
                              .record_same_node = env_same_node,
                              .record_cpus = env_cpus,
                              .peer_alive = env_peer_alive,
                              .agent_start = env_agent_start,
                              .event = &e->own->event,
                              .agent_event = &e->own->agent_event,
                              .polling = &e->own->polling,
                              .stripes = e->own->stripes};
}

void engine_env_fini(struct engine *e)
{
    size_t cursor = 0;
    void *value;
    while (map_next(&e->peers, &cursor, NULL, &value)) {
        struct engine_peer *p = value;
        if (p->pidfd >= 0)
            close(p->pidfd);
        seg_close(&p->seg);
        free(p);
    }
    cursor = 0;
    while (map_next(&e->mapped, &cursor, NULL, &value)) {
        struct mapped_seg *ms = value;
        seg_close(&ms->seg);
        free(ms);
    }
    map_fini(&e->peers);
    map_fini(&e->mapped);
    pthread_mutex_destroy(&e->maps_lock);
}
