/*
 * win_create.c - collective creation of windows (MPI 4.1, 12.2.1 to 12.2.4).
 *
 * One exchange of records (two for MPI_Win_allocate_shared, whose segment depends
 * on all sizes) and one agreement on the outcome: a process that fails says so in
 * its record or in the agreement, so that all return an error together. What is
 * published (control block, memory) is initialised before the exchange; after the
 * agreement no host call is made for this window.
 *
 * Cost: one all-gather, one reduction, and the system calls of new segments.
 */
#include "rma/win_create.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "rma/fence_counts.h"
#include "rma/native.h"
#include "rma/progress.h"
#include "rma/strict.h"

/* AGREE_REFUSED: some process was refused cross-memory attach; any error outranks it. */
enum { CTL_ALIGN = 64, MEM_ALIGN = 64, AGREE_REFUSED = MRMA_AGAIN };

struct win_hints win_hints_default(void)
{
    return (struct win_hints){.alloc_shm = true, .ordering = WIN_ORDER_ALL, .which_ops = UINT32_MAX};
}

/* The hints that must be the same everywhere, in one word. */
static uint64_t hints_word(const struct win_hints *h)
{
    return (uint64_t)h->no_locks | (uint64_t)h->same_size << 1 | (uint64_t)h->same_disp_unit << 2 |
           (uint64_t)h->same_op << 3 | (uint64_t)h->alloc_shm << 4 |
           (uint64_t)h->alloc_shared_noncontig << 5 | (uint64_t)h->ordering << 8 |
           (uint64_t)(h->which_ops & 0xffff) << 16 | (h->granularity & 0xffffffff) << 32;
}

static int take_index(struct rma *r, struct win *w)
{
    uint32_t i = 0;
    while (i < r->nwins && r->wins[i])
        i++;
    if (i == r->nwins) {
        const uint32_t n = r->nwins ? 2 * r->nwins : 16;
        struct win **wins = calloc(n, sizeof(struct win *));
        uint32_t *gens = calloc(n, sizeof *gens);
        if (!wins || !gens) {
            free(wins);
            free(gens);
            return MRMA_ERR_NO_MEM;
        }
        if (r->nwins) {
            memcpy(wins, r->wins, r->nwins * sizeof *wins);
            memcpy(gens, r->win_gens, r->nwins * sizeof *gens);
        }
        free(r->wins);
        free(r->win_gens);
        r->wins = wins;
        r->win_gens = gens;
        r->nwins = n;
    }
    r->wins[i] = w;
    w->index = i;
    w->index_gen = ++r->win_gens[i];
    return MRMA_SUCCESS;
}

static int make_targets(struct win *w)
{
    int err = target_table_init(&w->targets, w->nproc);
    w->target_block = calloc((size_t)w->nproc, sizeof *w->target_block);
    if (!w->target_block)
        err = MRMA_ERR_NO_MEM;
    for (int i = 0; !err && i < w->nproc; i++) {
        w->target_block[i].rank = i;
        err = target_table_put(&w->targets, i, &w->target_block[i]);
    }
    return err;
}

static struct win *win_new(struct rma *r, const struct win_spec *spec)
{
    const int n = spec->boot->nproc;
    struct win *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct win){.rma = r, .gen = 1, .rank = spec->boot->rank, .nproc = n, .flavor = spec->flavor,
                      .hints = spec->hints, .size = spec->size, .disp_unit = spec->disp_unit,
                      .dynamic = spec->flavor == WIN_DYNAMIC};
    w->base = spec->flavor == WIN_CREATE ? spec->base : NULL;
    w->direct = calloc((size_t)n, sizeof *w->direct);
    w->group = calloc((size_t)n, sizeof *w->group);
    w->post_group = calloc((size_t)n, sizeof *w->post_group);
    list_init(&w->touched);
    list_init(&w->lockq);
    list_init(&w->parked);
    return w;
}

static void win_delete(struct win *w)
{
    struct rma *r = w->rma;
    struct rma_env *env = r->env;
    strict_free(w);
    fence_counts_free(w);
    if (w->target_block)
        win_unroute(w);
    if (w->index_gen) {
        r->wins[w->index] = NULL;
        for (int i = 0; i < PATH_COUNT; i++) {
            r->stats.paths.ops[i] += w->stats.ops[i];
            r->stats.paths.bytes[i] += w->stats.bytes[i];
        }
    }
    native_close(w);
    if (w->ctl)
        env->mem_free(env->ctx, w->ctl);
    if (w->owned)
        env->mem_free(env->ctx, w->owned);
    if (w->segment)
        env->mem_unmap(env->ctx, w->segment);
    target_table_fini(&w->targets);
    free(w->target_block);
    free(w->direct);
    free(w->group);
    free(w->post_group);
    free(w);
}

static int make_control(struct win *w)
{
    struct rma_env *env = w->rma->env;
    const size_t slots = sizeof(struct win_ctl) + (size_t)w->nproc * sizeof(struct win_pair);
    const size_t size = slots + (w->dynamic ? WIN_REGIONS_MAX * sizeof(struct win_region) : 0);
    void *at;
    int err = env->mem_alloc(env->ctx, size, CTL_ALIGN, &at);
    if (err)
        return err;
    memset(at, 0, slots);
    w->ctl = at;
    atomic_init(&w->ctl->regions_offset, slots);
    return MRMA_SUCCESS;
}

static int make_memory(struct win *w, const struct win_spec *spec)
{
    struct rma_env *env = w->rma->env;
    size_t align = spec->hints.min_alignment > MEM_ALIGN ? spec->hints.min_alignment : MEM_ALIGN;
    if (spec->flavor != WIN_ALLOCATE)
        return MRMA_SUCCESS;
    int err = env->mem_alloc(env->ctx, spec->size, align, &w->owned);
    w->base = w->owned;
    return err;
}

/* What all must have set alike, or they would choose different paths for the same pair. */
static uint32_t conf_word(const struct conf *conf)
{
    return (uint32_t)conf->path << 28 ^ (uint32_t)conf->ranks_per_node;
}

/* Everything that can be done alone; the outcome goes into the record. */
static void prepare(struct win *w, const struct win_spec *spec, struct win_record *rec)
{
    struct rma *r = w->rma;
    struct rma_env *env = r->env;
    int err = w->direct && w->group && w->post_group ? make_targets(w) : MRMA_ERR_NO_MEM;
    rma_enter(r);
    if (!err)
        err = take_index(r, w);
    const struct rma_proc_record proc = *env->record;
    rma_leave(r);
    if (!err)
        err = make_control(w);
    if (!err)
        err = make_memory(w, spec);
    if (!err && r->conf->strict)
        err = strict_new(w);
    *rec = (struct win_record){.proc = proc, .size = w->size, .vaddr = (uint64_t)(uintptr_t)w->base,
                               .hints = hints_word(&spec->hints), .disp_unit = w->disp_unit,
                               .flavor = w->flavor, .index = w->index, .gen = w->index_gen, .err = err,
                               .noncontig = spec->hints.alloc_shared_noncontig, .strict = w->strict != NULL, .conf = conf_word(r->conf),
                               .alignment = spec->hints.min_alignment};
    if (!err && !env->mem_find(env->ctx, w->ctl, 1, &rec->ctl))
        rec->err = MRMA_ERR_INTERN;
    if (!err && w->size && w->base && spec->hints.alloc_shm)
        (void)env->mem_find(env->ctx, w->base, w->size, &rec->mem);
}

/* Do all records agree in what must be the same (and carry no error)? */
static int check_records(const struct win *w, const struct win_record *recs)
{
    const struct log *log = w->rma->log;
    for (int i = 0; i < w->nproc; i++) {
        if (recs[i].err)
            return recs[i].err;
        if (recs[i].conf != recs[0].conf)
            return log_fail(log, MRMA_ERR_OTHER,
                            "MPIRMA_PATH and MPIRMA_RANKS_PER_NODE must be the same for all processes: those "
                            "of rank %d and rank 0 differ", i);
        if (recs[i].flavor != recs[0].flavor)
            return log_fail(log, MRMA_ERR_RMA_FLAVOR, "rank %d creates another kind of window than rank 0",
                            i);
        if (recs[i].hints != recs[0].hints)
            return log_fail(log, MRMA_ERR_INFO_VALUE, "info hints of rank %d differ from those of rank 0", i);
        if (w->hints.same_size && recs[i].size != recs[0].size)
            return log_fail(log, MRMA_ERR_INFO_VALUE,
                            "same_size is given, but rank %d has %llu bytes and rank 0 %llu", i,
                            (unsigned long long)recs[i].size, (unsigned long long)recs[0].size);
        if (w->hints.same_disp_unit && recs[i].disp_unit != recs[0].disp_unit)
            return log_fail(log, MRMA_ERR_INFO_VALUE,
                            "same_disp_unit is given, but rank %d has %u and rank 0 %u", i,
                            recs[i].disp_unit, recs[0].disp_unit);
    }
    return MRMA_SUCCESS;
}

/* ---- MPI_Win_allocate_shared: one segment, made by rank 0, mapped by all ---- */

/* What is exchanged when all have mapped it. */
struct part {
    uint64_t offset; /* of the process's part in the segment */
    uint64_t vaddr;  /* its own address of that */
    int64_t err;
};

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Where in the segment does rank's room begin? Contiguous: where the one before
 * ends. Otherwise on a page, with slack for an alignment above a page. */
static uint64_t part_offset(const struct win_record *recs, int rank)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t at = 0;
    for (int i = 0; i < rank; i++) {
        at += recs[i].size;
        if (recs[0].noncontig)
            at = round_up(at + (recs[i].alignment > page ? recs[i].alignment : 0), page);
    }
    return at;
}

static int make_segment(struct win *w, const struct win_record *recs, struct rma_mem_loc *loc, void **base)
{
    struct rma_env *env = w->rma->env;
    const int k = w->rma->conf->ranks_per_node;
    for (int i = 0; i < w->nproc; i++)
        if (!env->record_same_node(env->ctx, &recs[i].proc) || (k && i / k != 0))
            return log_fail(w->rma->log, MRMA_ERR_RMA_SHARED,
                            "MPI_Win_allocate_shared: rank %d is on another node", i);
    if (w->rank != 0)
        return MRMA_SUCCESS;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), last = recs[w->nproc - 1].alignment;
    const uint64_t total = part_offset(recs, w->nproc) + (last > page ? last : 0);
    return env->segment_create(env->ctx, total ? total : 1, base, &w->segment, loc);
}

/* This process's part: aligned as it asked for, committed on its NUMA node. */
static int take_part(struct win *w, const struct win_record *recs, char *base, struct part *mine)
{
    struct rma_env *env = w->rma->env;
    const uint64_t align = recs[w->rank].alignment;
    mine->offset = part_offset(recs, w->rank);
    if (recs[0].noncontig && align > 1)
        mine->offset = round_up((uint64_t)(uintptr_t)base + mine->offset, align) - (uint64_t)(uintptr_t)base;
    w->base = w->size ? base + mine->offset : NULL;
    mine->vaddr = (uint64_t)(uintptr_t)w->base;
    return w->size ? env->segment_commit(env->ctx, w->segment, mine->offset, w->size) : MRMA_SUCCESS;
}

/* Collective even after a local error: two further exchanges. */
static int share_segment(struct win *w, struct boot *boot, struct win_record *recs)
{
    struct rma_env *env = w->rma->env;
    const int n = w->nproc;
    struct {
        struct rma_mem_loc loc;
        int64_t err;
    } seg = {.err = MRMA_SUCCESS}, *segs = calloc((size_t)n, sizeof *segs);
    struct part mine = {0, 0, MRMA_SUCCESS}, *parts = calloc((size_t)n, sizeof *parts);
    void *base = NULL;
    int err = segs && parts ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
    if (err) /* nothing to receive into: the agreement at the end cannot be reached either */
        goto out;
    seg.err = make_segment(w, recs, &seg.loc, &base);
    err = boot->allgather(boot, &seg, segs, sizeof seg);
    for (int i = 0; !err && i < n; i++)
        err = (int)segs[i].err;
    if (err)
        goto out;
    mine.err = w->rank == 0 ? MRMA_SUCCESS : env->mem_map(env->ctx, &segs[0].loc, &base, &w->segment);
    if (!mine.err)
        mine.err = take_part(w, recs, base, &mine);
    err = boot->allgather(boot, &mine, parts, sizeof mine);
    for (int i = 0; !err && i < n; i++)
        err = (int)parts[i].err;
    for (int i = 0; !err && i < n; i++) {
        recs[i].segment = segs[0].loc;
        recs[i].vaddr = parts[i].vaddr;
        w->target_block[i].shared_base = recs[i].size ? (char *)base + parts[i].offset : NULL;
    }
out:
    free(segs);
    free(parts);
    return err;
}

/* Its fences are longer: all check, or none. */
static void agree_strict(struct win *w, const struct win_record *recs)
{
    for (int i = 0; w->strict && i < w->nproc; i++)
        if (!recs[i].strict) {
            log_msg(w->rma->log, LOG_LEVEL_WARN,
                    "window %u: MPIRMA_STRICT is not set for rank %d, nothing is checked", w->index, i);
            strict_free(w);
        }
}

static void learn_node(struct win *w, const struct win_record *recs)
{
    struct rma *r = w->rma;
    struct rma_env *env = r->env;
    int procs = 0;
    for (int i = 0; i < w->nproc; i++)
        procs += i == w->rank || env->record_same_node(env->ctx, &recs[i].proc);
    w->crowded = (unsigned)procs > env->record_cpus(env->ctx, &recs[0].proc, sizeof *recs, w->nproc);
    if (procs > r->node_procs) {
        r->node_procs = procs;
        r->oversubscribed = w->crowded;
    }
}

/* Is there a pair between whom packets take the network? All find the same: it follows
 * from what all know, and being on one node is transitive. */
static bool needs_network(const struct win *w, const struct win_record *recs)
{
    const struct conf *conf = w->rma->conf;
    struct rma_env *env = w->rma->env;
    if (conf->path == CONF_PATH_NET_PACKETS)
        return w->nproc > 1;
    if (conf->path != CONF_PATH_SHM_PACKETS && conf->ranks_per_node && conf->ranks_per_node < w->nproc)
        return true;
    for (int i = 0; i < w->nproc; i++)
        if (i != w->rank && !env->record_same_node(env->ctx, &recs[i].proc))
            return true;
    return false;
}

static int open_network(struct win *w, struct boot *boot, struct win_record *recs)
{
    struct rma_env *env = w->rma->env;
    if (!env->net_open || !needs_network(w, recs))
        return MRMA_SUCCESS;
    if (!w->dynamic && !w->strict) /* whose checks look at packets */
        w->net_mem = (struct rma_net_mem){.base = w->base, .len = w->base ? w->size : 0};
    return env->net_open(env->ctx, boot, &recs[0].proc, &recs[0].net, sizeof *recs, &w->net_mem);
}

/* Packets will be used: say so to the waits, start the agent that serves them. */
static int start_packets(struct win *w)
{
    struct rma *r = w->rma;
    if (w->npackets || w->ring_puts || w->ring_takes)
        r->packets = true;
    r->spin_inline = !r->packets && !r->oversubscribed;
    const bool wanted = r->conf->progress == CONF_PROGRESS_AGENT ||
                        (r->conf->progress == CONF_PROGRESS_AUTO && !w->hints.no_locks);
    if (!w->npackets || !wanted || r->agent)
        return MRMA_SUCCESS;
    return r->env->agent_start(r->env->ctx);
}

static int route_and_start(struct win *w, const struct win_record *recs, bool allow_cma, bool *refused)
{
    int err = win_route(w, recs, allow_cma, refused);
    return err ? err : start_packets(w);
}

/* Routes, and agreement with all that they could be had. err: what has gone wrong
 * before, which all must learn. */
static int connect_all(struct win *w, struct boot *boot, const struct win_record *recs, int err)
{
    bool refused = false;
    int worst = MRMA_SUCCESS;
    if (!err)
        err = route_and_start(w, recs, true, &refused);
    int failed = boot->allmax(boot, err ? err : refused ? AGREE_REFUSED : MRMA_SUCCESS, &worst);
    if (failed || worst == MRMA_SUCCESS)
        return failed ? failed : fence_counts_choose(w, boot);
    if (worst != AGREE_REFUSED)
        return err ? err : worst;
    log_msg(w->rma->log, LOG_LEVEL_WARN, "window %u: cross-memory attach is refused here, packets are used",
            w->index);
    win_unroute(w);
    err = route_and_start(w, recs, false, &refused);
    failed = boot->allmax(boot, err, &worst);
    if (!failed)
        failed = err ? err : worst;
    return failed ? failed : fence_counts_choose(w, boot);
}

int win_create(struct rma *r, const struct win_spec *spec, struct win **out)
{
    struct boot *boot = spec->boot;
    struct win_record mine = {.err = MRMA_ERR_NO_MEM}, *recs = calloc((size_t)boot->nproc, sizeof *recs);
    struct win *w = recs ? win_new(r, spec) : NULL;
    if (!w) {
        free(recs);
        return log_fail(r->log, MRMA_ERR_NO_MEM, "no memory for a window of %d processes", boot->nproc);
    }
    prepare(w, spec, &mine);
    int err = boot->allgather(boot, &mine, recs, sizeof mine);
    if (!err)
        err = check_records(w, recs);
    if (!err) {
        learn_node(w, recs);
        agree_strict(w, recs);
    }
    if (!err)
        err = open_network(w, boot, recs);
    if (!err && w->flavor == WIN_ALLOCATE_SHARED)
        err = share_segment(w, boot, recs);
    err = connect_all(w, boot, recs, err);
    free(recs);
    if (err) {
        rma_enter(r);
        win_delete(w);
        rma_leave(r);
        return err;
    }
    r->stats.windows++;
    RMA_TRACE(r, RMA_EV_WIN_CREATE, w, -1, w->size);
    *out = w;
    return MRMA_SUCCESS;
}

void win_free_end(struct win *w)
{
    struct rma *r = w->rma;
    RMA_TRACE(r, RMA_EV_WIN_FREE, w, -1, 0);
    rma_enter(r);
    win_delete(w);
    rma_leave(r);
}

void rma_fini(struct rma *r)
{
    for (uint32_t i = 0; i < r->nwins; i++)
        if (r->wins[i])
            win_delete(r->wins[i]);
    free(r->wins);
    free(r->win_gens);
    map_fini(&r->requests);
    pthread_mutex_destroy(&r->mutex);
}
