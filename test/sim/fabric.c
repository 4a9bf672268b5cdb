/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric.c - see fabric.h. Records and memory are self.c's and memory.c's.
 */
#include "fabric.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "rma/layer/layer.h"
#include "rma/progress/progress.h"
#include "rma/win/ctl_blocks.h"
#include "rma/win/proc_table.h"
#include "sys/procstart.h"

#define NEVER_NS UINT64_C(3600000000000)

void fabric_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
    abort();
}

static void on_alarm(int sig)
{
    static const char text[] = "watchdog: the test hangs\n";
    (void)sig;
    if (write(2, text, sizeof text - 1) < 0)
        _exit(2);
    abort();
}

void fabric_watchdog(unsigned seconds)
{
    const char *times = getenv("MTEST_WATCHDOG_TIMES"); /* of a machine that is slower by that */

    signal(SIGALRM, on_alarm);
    alarm(times ? seconds * (unsigned)atoi(times) : seconds);
}

void *fabric_mem_alloc(struct fabric_proc *p, size_t size)
{
    return sim_memory_alloc(&p->self.memory, size);
}

void fabric_mem_free(struct fabric_proc *p, void *ptr)
{
    sim_memory_free(&p->self.memory, ptr);
}

/* ---- processes ---- */

static int peer_get(void *ctx, const struct rma_proc_record *rec, bool node, struct rma_peer **out)
{
    struct fabric_proc *p = ctx;
    struct fabric_peer *peer = &p->peers[rec->uid - 1];
    FABRIC_CHECK(rec->uid - 1 < (uint64_t)p->fabric->opts.nproc);
    return sim_peer_take(&peer->peer, node, out);
}

static int peer_connect(void *ctx, struct rma_peer *peer)
{
    struct fabric_proc *p = ctx;
    struct fabric_peer *fp = (struct fabric_peer *)peer;
    if (fp->ring)
        return MRMA_SUCCESS;
    fp->ring = sim_zeroed(MRMA_CACHE_LINE, ring_size(RING_LEAST));
    const struct heap_loc loc = {.offset = (uint64_t)(uintptr_t)fp->ring};
    int err = shm_channel_connect(&fp->shm, p->self.record.uid, fp->ring, RING_LEAST, &loc);
    FABRIC_CHECK(!err && ch3_vc_event(&peer->vc, CH3_VC_CONNECT));
    return MRMA_SUCCESS;
}

static bool peer_alive(void *ctx, struct rma_peer *peer)
{
    struct fabric_proc *p = ctx;
    if (peer->vc.state == CH3_VC_OPEN)
        p->channel.ops->probe(&p->channel, &peer->vc);
    return !atomic_load_explicit(&p->fabric->procs[peer->uid - 1].dead, memory_order_acquire);
}

static void *agent_main(void *arg)
{
    struct fabric_proc *p = arg;
    rma_agent_loop(&p->rma, &p->agent_stop);
    return NULL;
}

static int agent_start(void *ctx)
{
    struct fabric_proc *p = ctx;
    rma_agent_begins(&p->rma);
    polling_agent_begins(&p->seg->polling);
    FABRIC_CHECK(pthread_create(&p->agent, NULL, agent_main, p) == 0);
    return MRMA_SUCCESS;
}

/* ---- the channel: shm behind a coin ---- */

/* The coin has a state of its own for each process; polls and reserves of a
 * process never run at the same time. */
static bool hits(struct fabric_proc *p, unsigned percent)
{
    if (!percent)
        return false;
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random % 100 < percent;
}

static void *coin_reserve(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    if (hits(p, p->fabric->opts.refuse_percent))
        return NULL;
    return p->shm->channel.ops->reserve(&p->shm->channel, vc, len);
}

static void coin_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    p->shm->channel.ops->commit(&p->shm->channel, vc, len);
}

static void coin_commit_quietly(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    p->shm->channel.ops->commit_quietly(&p->shm->channel, vc, len);
}

static void coin_wake(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    p->shm->channel.ops->wake(&p->shm->channel, vc);
}

static unsigned coin_poll(struct ch3_channel *ch)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    if (hits(p, p->fabric->opts.delay_percent))
        return 0;
    return p->shm->channel.ops->poll(&p->shm->channel);
}

static bool coin_pending(struct ch3_channel *ch)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    return p->shm->channel.ops->pending(&p->shm->channel);
}

static void coin_disconnect(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    p->shm->channel.ops->disconnect(&p->shm->channel, vc);
}

static void coin_probe(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    p->shm->channel.ops->probe(&p->shm->channel, vc);
}

static void coin_abandon(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct fabric_proc *p = LIST_ENTRY(ch, struct fabric_proc, channel);
    p->shm->channel.ops->abandon(&p->shm->channel, vc);
}

static const struct ch3_channel_ops coin_ops = {.name = "fabric",
                                                .reserve = coin_reserve,
                                                .commit = coin_commit,
                                                .commit_quietly = coin_commit_quietly,
                                                .wake = coin_wake,
                                                .poll = coin_poll,
                                                .pending = coin_pending,
                                                .disconnect = coin_disconnect,
                                                .probe = coin_probe,
                                                .abandon = coin_abandon};

static void *ring_map(void *ctx, const struct heap_loc *where, size_t size, void **handle)
{
    (void)handle;
    (void)ctx;
    (void)size;
    return (void *)(uintptr_t)where->offset;
}

static struct ch3_vc *vc_find(void *ctx, uint64_t uid)
{
    struct fabric_proc *p = ctx;
    return uid && uid <= (uint64_t)p->fabric->opts.nproc ? &p->peers[uid - 1].peer.vc : NULL;
}

/* ---- communicators ---- */

struct fabric_comm *fabric_comm_new(int n)
{
    struct fabric_comm *c = calloc(1, sizeof *c);
    FABRIC_CHECK(c);
    c->n = n;
    FABRIC_CHECK(pthread_barrier_init(&c->barrier, NULL, (unsigned)n) == 0);
    return c;
}

void fabric_comm_free(struct fabric_comm *c)
{
    pthread_barrier_destroy(&c->barrier);
    free(c->slots);
    free(c);
}

static int comm_allgather(struct boot *boot, const void *mine, void *all, size_t len)
{
    struct fabric_comm *c = boot->handle;
    if (pthread_barrier_wait(&c->barrier) == PTHREAD_BARRIER_SERIAL_THREAD && c->slot_bytes < len) {
        free(c->slots);
        c->slots = malloc(len * (size_t)c->n);
        c->slot_bytes = len;
        FABRIC_CHECK(c->slots);
    }
    pthread_barrier_wait(&c->barrier);
    memcpy(c->slots + (size_t)boot->rank * len, mine, len);
    pthread_barrier_wait(&c->barrier);
    memcpy(all, c->slots, len * (size_t)c->n);
    return MRMA_SUCCESS;
}

static int comm_allmax(struct boot *boot, int mine, int *max)
{
    int all[FABRIC_MAX];
    int err = comm_allgather(boot, &mine, all, sizeof mine);
    *max = mine;
    for (int i = 0; i < boot->nproc; i++)
        if (all[i] > *max)
            *max = all[i];
    return err;
}

void fabric_comm_boot(struct fabric_comm *c, int rank, struct boot *boot)
{
    *boot = (struct boot){.rank = rank,
                          .nproc = c->n,
                          .allgather = comm_allgather,
                          .allmax = comm_allmax,
                          .handle = c};
}

struct boot *fabric_boot(struct fabric_proc *p)
{
    return &p->fabric->boots[p->rank];
}

void fabric_barrier(struct fabric_proc *p)
{
    pthread_barrier_wait(&p->fabric->world->barrier);
}

/* ---- start and end ---- */

static void init_peers(struct fabric_proc *p)
{
    const int n = p->fabric->opts.nproc;
    p->peers = sim_zeroed(MRMA_CACHE_LINE, (size_t)n * sizeof *p->peers);
    for (int i = 0; i < n; i++) {
        struct fabric_peer *fp = &p->peers[i];
        struct procseg *seg = p->fabric->procs[i].seg;
        fp->shm.seg = seg;
        fp->shm.pid = (int32_t)getpid();
        sim_peer_init(&fp->peer, &p->self, i, !p->fabric->opts.no_assist,
                      &(struct sim_places){&seg->polling,
                                           {seg->stripes, fmutex_self(procstart_of(0))},
                                           (const void *)seg->notices,
                                           &seg->board});
        ch3_vc_init(&fp->peer.vc, &p->ch3, &p->channel, &fp->shm, fp);
    }
}

static void init_env(struct fabric_proc *p)
{
    p->env = (struct rma_env){.ctx = p,
                              .node_procs_bound = p->fabric->opts.node_procs_bound,
                              .peer_get = peer_get,
                              .peer_connect = peer_connect,
                              .peer_alive = peer_alive,
                              .agent_start = agent_start,
                              .polling = &p->seg->polling,
                              .board = &p->seg->board,
                              .notices = (void *)p->seg->notices,
                              .stripes = {p->seg->stripes, fmutex_self(procstart_of(0))}};
    sim_self_env(&p->self, &p->env);
}

static void init_proc(struct fabric *f, int rank)
{
    const struct fabric_opts *o = &f->opts;
    struct fabric_proc *p = &f->procs[rank];
    char name[32];
    p->fabric = f;
    p->rank = rank;
    snprintf(name, sizeof name, "proc %d", rank);
    log_init(&p->log, LOG_LEVEL_WARN, o->quiet ? -1 : 2, name);
    p->conf = conf_default;
    p->conf.path = o->path;
    p->conf.progress = o->progress;
    p->conf.fence = o->fence;
    p->conf.hang_report = o->hang_report;
    p->random = (o->seed ? o->seed : 1) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)rank + 1;
    sim_self_init(&p->self, rank, o->per_node ? rank / o->per_node : 0, o->cpus);
    init_env(p);
    init_peers(p);
    p->shm = sim_zeroed(MRMA_CACHE_LINE, sizeof *p->shm);
    const struct shm_channel_env env = {.ctx = p, .map = ring_map, .find = vc_find};
    shm_channel_init(p->shm, p->seg, &env, &p->log);
    p->shm->channel.deliver = ch3_deliver;
    p->shm->channel.ch3 = &p->ch3;
    p->channel.ops = &coin_ops;
    p->channel.caps = CH3_CAP_PROBE | CH3_CAP_ABANDON | CH3_CAP_QUIET;
    p->channel.caps |=
        o->refuse_percent ? 0 : CH3_CAP_ROOM; /* who is refused by chance is not told */
    ch3_init(&p->ch3, &p->log, rma_handlers, &p->rma);
    ch3_add_channel(&p->ch3, &p->channel);
    rma_init(&p->rma, &p->log, &p->conf, &p->env, &p->ch3, clock_monotonic_ns, o->threads);
    if (!o->unsent_leaves)
        p->rma.progress.unsent.look_ns = NEVER_NS;
}

struct fabric *fabric_new(const struct fabric_opts *opts)
{
    struct fabric *f = calloc(1, sizeof *f);
    FABRIC_CHECK(f && opts->nproc > 0 && opts->nproc <= FABRIC_MAX);
    f->opts = *opts;
    f->procs = sim_zeroed(MRMA_CACHE_LINE, (size_t)opts->nproc * sizeof *f->procs);
    f->boots = calloc((size_t)opts->nproc, sizeof *f->boots);
    f->world = fabric_comm_new(opts->nproc);
    FABRIC_CHECK(f->boots);
    for (int i = 0; i < opts->nproc; i++) {
        f->procs[i].seg = sim_zeroed(MRMA_CACHE_LINE, sizeof(struct procseg));
        atomic_init(&f->procs[i].seg->polling.threads.membarrier,
                    !opts->no_membarrier && event_membarrier_register());
        fabric_comm_boot(f->world, i, &f->boots[i]);
    }
    for (int i = 0; i < opts->nproc; i++)
        init_proc(f, i);
    return f;
}

static void stop_agent(struct fabric_proc *p)
{
    if (!rma_has_agent(&p->rma))
        return;
    atomic_store_explicit(&p->agent_stop, true, memory_order_release);
    event_wake(&p->seg->polling.agent, EVENT_NO_POLL);
    pthread_join(p->agent, NULL);
    rma_agent_ended(&p->rma);
}

void fabric_kill(struct fabric_proc *p)
{
    stop_agent(p);
    atomic_store_explicit(&p->dead, true, memory_order_release);
}

static void check_nothing_left(struct fabric_proc *p)
{
    for (uint32_t i = 0; i < p->rma.nwins; i++)
        FABRIC_CHECK(!p->rma.wins[i]);
    FABRIC_CHECK(map_count(&p->rma.requests) == 0);
    ctl_blocks_fini(&p->rma); /* kept until the layer ends */
    proc_tables_fini(&p->rma);
    FABRIC_CHECK(sim_memory_empty(&p->self.memory));
    for (int i = 0; i < p->fabric->opts.nproc; i++)
        FABRIC_CHECK(p->peers[i].peer.refs == 0);
}

void fabric_free(struct fabric *f)
{
    for (int i = 0; i < f->opts.nproc; i++)
        stop_agent(&f->procs[i]);
    for (int i = 0; i < f->opts.nproc; i++) {
        struct fabric_proc *p = &f->procs[i];
        check_nothing_left(p);
        for (int k = 0; k < f->opts.nproc; k++) {
            ch3_vc_lost(&p->peers[k].peer.vc); /* drops what is still queued */
            free(p->peers[k].ring);
        }
        rma_fini(&p->rma);
        sim_memory_fini(&p->self.memory);
        free(p->shm);
        free(p->peers);
    }
    for (int i = 0; i < f->opts.nproc; i++)
        free(f->procs[i].seg);
    fabric_comm_free(f->world);
    free(f->boots);
    free(f->procs);
    free(f);
}

struct runner {
    struct fabric_proc *proc;
    void (*body)(struct fabric_proc *p, void *arg);
    void *arg;
};

static void *run_one(void *arg)
{
    struct runner *r = arg;
    r->body(r->proc, r->arg);
    return NULL;
}

void fabric_run(struct fabric *f, void (*body)(struct fabric_proc *p, void *arg), void *arg)
{
    pthread_t threads[FABRIC_MAX];
    struct runner runners[FABRIC_MAX];
    for (int i = 0; i < f->opts.nproc; i++) {
        runners[i] = (struct runner){&f->procs[i], body, arg};
        FABRIC_CHECK(pthread_create(&threads[i], NULL, run_one, &runners[i]) == 0);
    }
    for (int i = 0; i < f->opts.nproc; i++)
        pthread_join(threads[i], NULL);
}

struct win *fabric_win(struct fabric_proc *p, enum win_flavor flavor, void *base, uint64_t size,
                       uint32_t disp_unit)
{
    const struct win_spec spec = {.flavor = flavor,
                                  .base = base,
                                  .size = size,
                                  .disp_unit = disp_unit,
                                  .hints = win_hints_default(),
                                  .boot = fabric_boot(p)};
    struct win *w = NULL;
    FABRIC_CHECK(win_create(&p->rma, &spec, &w) == MRMA_SUCCESS);
    return w;
}

void fabric_win_free(struct win *w)
{
    FABRIC_CHECK(win_free_begin(w) == MRMA_SUCCESS);
    win_free_end(w);
}
