/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim.c - see sim.h: the processes, their environment and the host's collective.
 *
 * Records and memory are self.c's and memory.c's. One simulation exists at a time: the
 * library's clock is a function without an argument.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "rma/create/abandoned.h"
#include "rma/win/ctl_blocks.h"
#include "rma/win/proc_table.h"
#include "rma/layer/layer.h"
#include "rma/progress/progress.h"
#include "acc/stripe.h"
#include "sim_core.h"

enum { HANG_REPORT_S = 20 };

static struct sim *current;

static uint64_t virtual_clock(void)
{
    return current->now;
}

void sim_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
    abort();
}

struct sim_proc *sim_proc(struct sim *s, int rank)
{
    return &s->procs[rank];
}
int sim_nproc(const struct sim *s)
{
    return s->opts.nproc;
}
uint64_t sim_now(const struct sim *s)
{
    return s->now;
}
uint64_t sim_events(const struct sim *s)
{
    return s->events_done;
}
uint64_t sim_overslept(const struct sim *s)
{
    return s->overslept;
}
size_t sim_in_flight(const struct sim *s)
{
    return s->flying;
}

/* ---- peers ---- */

struct sim_peer *sim_peer_of(struct sim_proc *p, int rank)
{
    struct sim_peer *peer = map_get(&p->peers, (uint64_t)rank + 1);
    if (peer)
        return peer;
    struct sim_proc *other = &p->sim->procs[rank];
    peer = calloc(1, sizeof *peer);
    SIM_CHECK(peer && map_put(&p->peers, (uint64_t)rank + 1, peer, NULL) == MRMA_SUCCESS);
    p->sim->npeers++;
    peer->owner = p;
    peer->vc = &peer->peer.vc;
    peer->other = other;
    list_init(&peer->flying);
    list_node_init(&peer->lost_link);
    const bool node = p->node == other->node;
    sim_peer_init(&peer->peer, &p->self, rank, node && !p->sim->opts.no_assist,
                  &(struct sim_places){.polling = &other->polling,
                                       .stripes = other->stripes,
                                       .notices = other->notices});
    ch3_vc_init(&peer->peer.vc, &p->ch3, &p->channel, peer, peer);
    return peer;
}

static int peer_get(void *ctx, const struct rma_proc_record *rec, bool node, struct rma_peer **out)
{
    struct sim_proc *p = ctx;
    SIM_CHECK(rec->uid - 1 < (uint64_t)p->sim->opts.nproc);
    struct sim_peer *peer = sim_peer_of(p, (int)(rec->uid - 1));
    return sim_peer_take(&peer->peer, node, out);
}

static int peer_connect(void *ctx, struct rma_peer *peer)
{
    struct sim_proc *p = ctx;
    if (peer->vc.state != CH3_VC_IDLE)
        return MRMA_SUCCESS;
    SIM_CHECK(ch3_vc_event(&peer->vc, CH3_VC_CONNECT));
    sim_net_connected(sim_peer_of(p, (int)(peer->uid - 1)));
    return MRMA_SUCCESS;
}

/* On the node at once, of others when the news has come. */
static bool peer_alive(void *ctx, struct rma_peer *peer)
{
    const struct sim_peer *sp = (const struct sim_peer *)peer;
    (void)ctx;
    return sp->owner->node == sp->other->node ? !sp->other->dead : !sp->lost;
}

/* The scheduler is the agent; a sleeper that never leaves makes every ring count. */
static int agent_start(void *ctx)
{
    struct sim_proc *p = ctx;
    if (!rma_has_agent(&p->rma))
        atomic_fetch_add_explicit(&p->polling.agent.sleepers, 1, memory_order_relaxed);
    rma_agent_begins(&p->rma);
    return MRMA_SUCCESS;
}

/* ---- the host's collective ---- */

/* One copy for all of what was gathered. */
struct sim_gathered {
    struct sim *sim;
    int refs;
    size_t bytes;
    _Alignas(16) unsigned char rows[];
};

static void drop_gathered(struct sim_gathered *g)
{
    if (--g->refs > 0)
        return;
    g->sim->gathered_bytes -= g->bytes;
    free(g);
}

static void release_gathered(struct boot_records *recs)
{
    drop_gathered(recs->handle);
}

static int gather_rows(struct boot *boot, const void *mine, size_t len, struct boot_records *out)
{
    struct sim_proc *p = boot->handle;
    struct sim *s = p->sim;
    if (!s->gathering) {
        const size_t bytes = sizeof *s->gathering + len * (size_t)s->opts.nproc;
        s->gathering = calloc(1, bytes);
        SIM_CHECK(s->gathering);
        *s->gathering = (struct sim_gathered){.sim = s, .bytes = bytes};
        s->gathered_bytes += bytes;
    }
    struct sim_gathered *g = s->gathering;
    g->refs++;
    p->boots.number++;
    p->boots.bytes += len;
    memcpy(g->rows + (size_t)p->rank * len, mine, len);
    sim_meet(p, &s->boot_in);
    s->gathering = NULL; /* complete; nobody begins another one before all are here */
    sim_meet(p, &s->boot_out);
    if (s->living < s->opts.nproc) {
        drop_gathered(g);
        return MRMA_ERR_OTHER;
    }
    *out = (struct boot_records){
        .all = g->rows, .shared = true, .release = release_gathered, .handle = g};
    return MRMA_SUCCESS;
}

/* As boot_mpi.c does with many processes. */
static int compare_digests(struct boot *boot)
{
    uint64_t most[BOOT_DIGEST_WORDS];
    struct boot_records recs;
    boot_digest_words(boot, false, most);
    const int err = gather_rows(boot, most, sizeof most, &recs);
    if (err)
        return err;
    for (int i = 0; i < boot->nproc; i++)
        for (int k = 0; k < BOOT_DIGEST_WORDS; k++) {
            const uint64_t word = ((const uint64_t *)recs.all)[i * BOOT_DIGEST_WORDS + k];
            most[k] = word > most[k] ? word : most[k];
        }
    boot_release(&recs);
    SIM_CHECK(!boot_alike(boot, most));
    return MRMA_SUCCESS;
}

static int comm_gather(struct boot *boot, const void *mine, size_t len, struct boot_records *out)
{
    const struct sim_proc *p = boot->handle;
    const bool first = len == BOOT_FIRST_BYTES;
    if (first && (boot->nproc > BOOT_FEW || p->sim->opts.digests)) {
        const int err = compare_digests(boot);
        if (err || boot->alike)
            return err;
    }
    return gather_rows(boot, mine, len, out);
}

static int comm_allgather(struct boot *boot, const void *mine, void *all, size_t len)
{
    struct boot_records recs;
    const int err = comm_gather(boot, mine, len, &recs);
    if (err)
        return err;
    memcpy(all, recs.all, len * (size_t)boot->nproc);
    boot_release(&recs);
    return MRMA_SUCCESS;
}

static int comm_allmax(struct boot *boot, int mine, int *max)
{
    struct boot_records recs;
    *max = mine;
    const int err = comm_gather(boot, &mine, sizeof mine, &recs);
    if (err)
        return err;
    for (int i = 0; i < boot->nproc; i++) {
        const int value = ((const int *)recs.all)[i];
        *max = value > *max ? value : *max;
    }
    boot_release(&recs);
    return MRMA_SUCCESS;
}

/* ---- start and end ---- */

static void init_proc(struct sim *s, int rank)
{
    const struct sim_opts *o = &s->opts;
    struct sim_proc *p = &s->procs[rank];
    char name[32];
    p->sim = s;
    p->rank = rank;
    p->node = o->per_node ? rank / o->per_node : 0;
    snprintf(name, sizeof name, "proc %d", rank);
    log_init(&p->log, LOG_LEVEL_ERROR, o->quiet ? -1 : 2, name);
    p->conf = conf_default;
    p->conf.path = o->path;
    p->conf.progress = o->progress;
    p->conf.fence = o->fence;
    p->conf.hang_report = HANG_REPORT_S;
    event_init(&p->polling.threads);
    event_init(&p->polling.agent);
    sim_self_init(&p->self, rank, p->node, o->cpus);
    map_init(&p->peers);
    list_init(&p->inbox);
    list_init(&p->lost);
    p->stripes = (struct stripes){calloc(RMA_STRIPES, sizeof *p->stripes.at), fmutex_self(0)};
    p->notices = calloc(RMA_NOTICES, sizeof *p->notices);
    SIM_CHECK(p->stripes.at && p->notices);
    p->boot = (struct boot){.rank = rank,
                            .nproc = o->nproc,
                            .allgather = comm_allgather,
                            .gather = comm_gather,
                            .allmax = comm_allmax,
                            .handle = p};
    p->env = (struct rma_env){.ctx = p,
                              .first_number = o->first_number,
                              .node_procs_bound = o->per_node,
                              .peer_get = peer_get,
                              .peer_connect = peer_connect,
                              .peer_alive = peer_alive,
                              .agent_start = agent_start,
                              .polling = &p->polling,
                              .notices = p->notices,
                              .stripes = p->stripes,
                              .idle = sim_idle};
    sim_self_env(&p->self, &p->env);
    p->channel.ops = &sim_channel_ops;
    p->channel.caps = CH3_CAP_PROBE;
    ch3_init(&p->ch3, &p->log, rma_handlers, &p->rma);
    ch3_add_channel(&p->ch3, &p->channel);
    rma_init(&p->rma, &p->log, &p->conf, &p->env, &p->ch3, virtual_clock, false);
}

struct sim *sim_new(const struct sim_opts *opts)
{
    struct sim *s = calloc(1, sizeof *s);
    SIM_CHECK(s && opts->nproc > 0 && !current);
    s->opts = *opts;
    s->now = 1; /* to the library 0 means never */
    s->random = opts->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    s->living = opts->nproc;
    s->procs = sim_zeroed(MRMA_CACHE_LINE, (size_t)opts->nproc * sizeof *s->procs);
    current = s;
    for (int i = 0; i < opts->nproc; i++)
        init_proc(s, i);
    return s;
}

static void check_nothing_left(struct sim_proc *p)
{
    size_t cursor = 0;
    uint64_t key;
    void *peer;
    for (uint32_t i = 0; i < p->rma.nwins; i++)
        SIM_CHECK(!p->rma.wins[i]);
    SIM_CHECK(map_count(&p->rma.requests) == 0);
    abandoned_fini(&p->rma);  /* kept until the layer ends, or others have freed their part, */
    ctl_blocks_fini(&p->rma); /* and these always */
    proc_tables_fini(&p->rma);
    SIM_CHECK(sim_memory_empty(&p->self.memory));
    while (map_next(&p->peers, &cursor, &key, &peer))
        SIM_CHECK(((struct sim_peer *)peer)->peer.refs == 0);
}

static void free_peers(struct sim_proc *p)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;
    while (map_next(&p->peers, &cursor, &key, &value)) {
        struct sim_peer *peer = value;
        if (list_node_queued(&peer->lost_link))
            list_remove(&peer->lost_link);
        free(peer);
    }
    map_fini(&p->peers);
}

/* A dead process does nothing more, and tells nobody of its locks: its windows' peers may have
 * gone. */
static void drop_queues(struct sim_proc *p)
{
    p->ch3.lost = NULL;
    for (uint32_t i = 0; i < p->rma.nwins; i++)
        if (p->rma.wins[i])
            atomic_store_explicit(&p->rma.wins[i]->epoch.state, EPOCH_NONE, memory_order_relaxed);
    size_t cursor = 0;
    uint64_t key;
    void *peer;
    while (map_next(&p->peers, &cursor, &key, &peer))
        ch3_vc_lost(&((struct sim_peer *)peer)->peer.vc);
}

static void end_engine(struct sim_proc *p)
{
    drop_queues(p);
    rma_fini(&p->rma);
}

void sim_bury(struct sim *s)
{
    for (int i = 0; i < s->opts.nproc; i++)
        if (s->procs[i].dead && !s->procs[i].buried) {
            s->procs[i].buried = true;
            end_engine(&s->procs[i]);
        }
}

void sim_free(struct sim *s)
{
    for (int i = 0; i < s->opts.nproc; i++)
        if (!s->procs[i].dead) {
            check_nothing_left(&s->procs[i]);
            end_engine(&s->procs[i]);
        }
    sim_bury(s);
    for (int i = 0; i < s->opts.nproc; i++)
        sim_net_free(&s->procs[i]);
    for (int i = 0; i < s->opts.nproc; i++) {
        struct sim_proc *p = &s->procs[i];
        free_peers(p);
        fiber_free(p->fiber);
        free(p->stripes.at);
        free(p->notices);
        sim_memory_fini(&p->self.memory);
    }
    SIM_CHECK(s->flying == 0 && s->message_bytes == 0);
    free(s->procs);
    free(s->events);
    free(s);
    current = NULL;
}

size_t sim_overhead(const struct sim *s)
{
    return s->message_bytes + s->staging_bytes + s->room_events * sizeof *s->events +
           s->npeers * (sizeof(struct sim_peer) - sizeof(struct rma_peer)) + s->gathered_bytes;
}

void sim_describe(struct sim *s)
{
    static const char *const states[] = {"has ended", "is about to run", "sleeps",
                                         "meets the others"};
    for (int i = 0; i < s->opts.nproc; i++) {
        const struct sim_proc *p = &s->procs[i];
        char text[256];
        fprintf(stderr,
                "  proc %d (node %d) %s, got somewhere at %.6f s, %s in its inbox, %s to send\n", i,
                p->node, p->dead ? "is dead" : states[p->state], (double)p->since * 1e-9,
                list_empty(&p->inbox) ? "nothing" : "something",
                ch3_unsent(&p->ch3) ? "something" : "nothing");
        for (uint32_t k = 0; k < p->rma.nwins; k++)
            if (p->rma.wins[k]) {
                win_describe(p->rma.wins[k], -1, text, sizeof text);
                fprintf(stderr, "    window %u: %s\n", k, text);
            }
    }
}

struct win *sim_win(struct sim_proc *p, enum win_flavor flavor, void *base, uint64_t size,
                    uint32_t disp_unit)
{
    const struct win_spec spec = {.flavor = flavor,
                                  .base = base,
                                  .size = size,
                                  .disp_unit = disp_unit,
                                  .hints = win_hints_default(),
                                  .boot = &p->boot};
    struct win *w = NULL;
    SIM_CHECK(win_create(&p->rma, &spec, &w) == MRMA_SUCCESS);
    return w;
}

void sim_win_free(struct win *w)
{
    SIM_CHECK(win_free_begin(w) == MRMA_SUCCESS);
    win_free_end(w);
}
