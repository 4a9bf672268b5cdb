/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_create.c - collective creation of windows (MPI 4.1, 12.2.1 to 12.2.4).
 *
 * One exchange and one agreement on the outcome: a process that fails says so in the exchange or in
 * the agreement, so that all return an error together. win_exchange.h says what else is exchanged
 * at times: mostly nothing among processes that know each other. There is one more exchange where
 * the network is opened, or is to reach memory by itself; there are two more for
 * MPI_Win_allocate_shared, whose segment depends on all sizes; one more agreement before pages are
 * made at once; and one on how fences end where there are packet targets. Everything that is
 * published (notice, control block, memory) is initialised before the exchange. After the last
 * agreement no call of the host is made for this window.
 *
 * Cost on one node: one all-gather, one reduction, and the system calls of new segments.
 */
#include "rma/create/win_create.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/memcheck.h"
#include "rma/create/abandoned.h"
#include "rma/create/node_memory.h"
#include "rma/notify/notify.h"
#include "rma/notify/notify_words.h"
#include "rma/path/fence_stage.h"
#include "rma/path/stage.h"
#include "rma/progress/progress.h"
#include "rma/strict/strict.h"
#include "rma/sync/barrier.h"
#include "rma/sync/fence_counts.h"
#include "rma/target/attach.h"
#include "rma/win/ctl_blocks.h"
#include "rma/win/first_number.h"
#include "rma/win/lockword.h"
#include "rma/win/region.h"
#include "sys/populate.h"

/* What a process says in the agreement; the highest counts. */
enum {
    AGREE_DONE,
    AGREE_REFUSED,    /* the kernel has refused it cross-memory attach */
    AGREE_UNATTACHED, /* it could not attach what another has exported */
    AGREE_SLOTS,      /* its control block has too few slots */
    AGREE_ERR         /* + enum mrma_err */
};
enum { MEM_ALIGN = 64 };

/* path is the one by which others reach this process's memory. Regions of dynamic windows have no
 * stages. */
static int make_control(struct win *w, uint32_t path)
{
    const enum stage_use use =
        path == PATH_ASSISTED && w->size && !w->dynamic ? STAGE_ASSISTED : STAGE_MAPPED;
    const size_t slots = stage_ctl_bytes(w->rma->conf, w->created.nslots, use);
    const size_t fences = fence_stage_bytes(w->dynamic ? 1 : w->created.nslots);
    const size_t counters = notify_ctl_bytes(w->hints.notifications, w->created.nslots);
    const size_t size = slots + fences + counters + (w->dynamic ? region_ctl_bytes() : 0);
    struct win_ctl *ctl;
    int err = ctl_blocks_take(w->rma, size, &ctl);
    if (err)
        return err;
    memset(ctl, 0, sizeof *ctl);
    stage_init(ctl, w->rma->conf, w->created.nslots, use, w->first_number);
    fence_stage_init(ctl, slots, fences != 0);
    for (int i = 0; i < w->created.nslots; i++)
        first_number_signals(&ctl->slots[i].signals, w->first_number);
    atomic_init(&ctl->exposed, w->phase);
    atomic_init(&ctl->staged_phase, w->phase);
    sync_first_control(&ctl->sync, w->first_number);
    atomic_init(&ctl->lock, lockword_free(w->first_number));
    w->ctl = ctl;
    notify_init(ctl, slots + fences, w->hints.notifications, w->created.nslots);
    if (!w->dynamic)
        return MRMA_SUCCESS;
    /* the regions of a control block that was made before this one */
    region_close_own(w->rma, w->regions);
    w->regions = region_open_own(w, slots + fences + counters);
    return w->regions ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
}

static int make_memory(struct win *w, const struct win_spec *spec)
{
    struct rma_env *env = w->rma->env;
    size_t align = spec->hints.min_alignment > MEM_ALIGN ? spec->hints.min_alignment : MEM_ALIGN;
    if (spec->flavor != WIN_ALLOCATE)
        return MRMA_SUCCESS;
    int err = env->mem_alloc(env->ctx, spec->size, align, &w->created.owned);
    w->base = w->created.owned;
    return err;
}

static uint64_t untouched(const struct win *w)
{
    const struct rma_env *env = w->rma->env;
    if (w->flavor == WIN_ALLOCATE_SHARED)
        return w->size;
    return w->created.owned ? env->mem_untouched(env->ctx, w->created.owned, w->size) : 0;
}

/* conf_word returns the settings that all processes must have alike, since otherwise they would
 * choose different paths for the same pair. */
static uint32_t conf_word(const struct conf *conf)
{
    return (uint32_t)conf->path << 28 ^ (uint32_t)conf->ranks_per_node;
}

/* wants_agent returns whether an agent should serve packets while this process is elsewhere. It
 * should also in a window with no_locks: a process that locks such a window all the same is served
 * (lock_despite_hint), and would have to wait for a call of the target. */
static bool wants_agent(const struct conf *conf, const struct win *w)
{
    return conf->progress == CONF_PROGRESS_AGENT ||
           (conf->progress == CONF_PROGRESS_AUTO && !(w->strict && w->hints.no_locks));
}

/* export_memory lets others attach memory that was not made to be shared, or that will be attached
 * to a dynamic window, if they can. Where they cannot, they reach it by the kernel. */
static void export_memory(struct win *w, struct rma_notice *notice)
{
    const struct rma_env *env = w->rma->env;
    if (w->nproc == 1)
        return;
    if (w->size && w->base)
        memcheck_shared(w->base, w->size);
    if (!env->attach)
        return;
    w->exports = w->dynamic && env->attach->usable(env->ctx);
    if (w->size && w->base)
        w->created.exported = env->attach->make(env->ctx, w->base, w->size);
    notice->segment = w->created.exported;
    notice->exported = w->exports || w->created.exported;
}

/* end_export is called when the window is made again, and others shall not attach this process's
 * part of it. */
static void end_export(struct win *w, struct rma_notice *notice)
{
    const struct rma_env *env = w->rma->env;
    if (env->attach) {
        env->attach->remove(env->ctx, w->created.exported);
        env->attach->give_up(env->ctx);
    }
    w->created.exported = notice->segment = 0;
    w->exports = false;
    notice->exported = 0;
    notice->path = win_own_path(w, notice);
}

/* notify_node writes what the node is told of this process's part, except for its control block. */
static void notify_node(struct win *w, const struct win_spec *spec, struct rma_notice *notice)
{
    struct rma_env *env = w->rma->env;
    *notice = (struct rma_notice){.vaddr = (uint64_t)(uintptr_t)w->base, .gen = w->index_gen};
    if (spec->hints.alloc_shm && w->flavor != WIN_ALLOCATE_SHARED &&
        !(w->size && w->base && env->mem_find(env->ctx, w->base, w->size, &notice->mem)))
        export_memory(w, notice);
    notice->path = win_own_path(w, notice);
}

/* describe returns what all processes are told, by a hash or in full. */
static struct win_detail describe(const struct win *w, const struct win_spec *spec)
{
    return (struct win_detail){.hints = spec->hints,
                               .size = w->size,
                               .disp_unit = w->disp_unit,
                               .flavor = w->flavor,
                               .conf = conf_word(w->rma->conf),
                               .strict = w->strict != NULL};
}

/* prepare does everything that a process can do alone; the first exchange tells the outcome. */
static void prepare(struct win *w, const struct win_spec *spec, struct win_plan *plan)
{
    struct rma *r = w->rma;
    struct rma_env *env = r->env;
    plan->notice = &plan->unseen;
    int err = target_table_init(&w->targets, w->nproc);
    if (!err)
        err = win_plan_room(w, plan);
    if (!err)
        err = win_take_place(w);
    if (!err)
        err = make_memory(w, spec);
    if (!err)
        err = win_plan_notice(r, plan);
    notify_node(w, spec, plan->notice);
    if (!err)
        err = make_control(w, plan->notice->path);
    if (!err && r->conf->strict)
        err = strict_new(w);
    if (!err && !env->mem_find(env->ctx, w->ctl, 1, &plan->notice->ctl))
        err = MRMA_ERR_INTERN;
    plan->untouched = err ? 0 : untouched(w);
    plan->mine = describe(w, spec);
    plan->err = err;
}

/* check_details returns an error if the processes differ in what must be the same. */
static int check_details(const struct win *w, const struct win_plan *plan)
{
    const struct log *log = w->rma->log;
    const struct win_detail *first = win_detail_of(plan, 0);
    for (int i = 1; plan->details && i < w->nproc; i++) {
        const struct win_detail *detail = win_detail_of(plan, i);
        if (detail->conf != first->conf)
            return log_fail(
                log, MRMA_ERR_OTHER,
                "MPIRMA_PATH and MPIRMA_RANKS_PER_NODE must be the same for all processes: those "
                "of rank %d and rank 0 differ",
                i);
        if (detail->flavor != first->flavor)
            return log_fail(log, MRMA_ERR_RMA_FLAVOR,
                            "rank %d creates another kind of window than rank 0", i);
    }
    return MRMA_SUCCESS;
}

/* agree_strict turns strict mode on if all processes have it: its fences take more steps, so either
 * all check or none. */
static void agree_strict(struct win *w, const struct win_plan *plan)
{
    for (int i = 0; w->strict && plan->details && i < w->nproc; i++)
        if (!win_detail_of(plan, i)->strict) {
            log_msg(w->rma->log, LOG_LEVEL_WARN,
                    "window %u: MPIRMA_STRICT is not set for rank %d, nothing is checked", w->index,
                    i);
            strict_free(w);
        }
}

/* serves_packets returns whether packets may come for this process that must be served while it is
 * elsewhere. */
static bool serves_packets(const struct win *w)
{
    return w->npackets || w->assisted;
}

static void learn_node(struct win *w, const struct win_plan *plan)
{
    struct rma *r = w->rma;
    struct rma_env *env = r->env;
    int procs = 0;
    for (int i = 0; i < w->nproc; i++)
        procs += i == w->rank || env->record_same_node(env->ctx, rma_proc_at(&plan->procs, i));
    const unsigned cpus = env->record_cpus(env->ctx, &plan->procs);
    w->counts_arrivals = (unsigned)procs > cpus;
    rma_learn_node(r, procs, cpus);
}

/* needs_network returns whether there is a pair whose packets take the network. All processes find
 * the same: it follows from what all know, and "on the same node" is transitive. */
static bool needs_network(const struct win *w, const struct win_plan *plan)
{
    const struct conf *conf = w->rma->conf;
    struct rma_env *env = w->rma->env;
    if (conf->path == CONF_PATH_NET_PACKETS)
        return w->nproc > 1;
    if (conf->path != CONF_PATH_SHM_PACKETS && conf->ranks_per_node &&
        conf->ranks_per_node < w->nproc)
        return true;
    for (int i = 0; i < w->nproc; i++)
        if (i != w->rank && !env->record_same_node(env->ctx, rma_proc_at(&plan->procs, i)))
            return true;
    return false;
}

/* remake_control makes another control block in the place of one that nobody sees any more. All
 * processes learn whether each has got one. */
static int remake_control(struct win *w, struct win_plan *plan)
{
    struct rma_env *env = w->rma->env;
    struct win_ctl *old = w->ctl;
    int err = make_control(w, plan->notice->path), all = err;
    if (!err && !env->mem_find(env->ctx, w->ctl, 1, &plan->notice->ctl))
        err = MRMA_ERR_INTERN;
    if (w->ctl != old) {
        rma_enter(w->rma);
        ctl_blocks_give(w->rma, old);
        rma_leave(w->rma);
    }
    const int failed = plan->boot->allmax(plan->boot, err, &all);
    if (err || failed)
        return err ? err : failed;
    return all ? log_fail(w->rma->log, all, "another process cannot create the window")
               : MRMA_SUCCESS;
}

static int open_network(struct win *w, struct win_plan *plan)
{
    struct rma_env *env = w->rma->env;
    struct rma_net_keys keys = {.room = plan->net_room, .keys = plan->keys};
    if (!env->net_open || !needs_network(w, plan))
        return MRMA_SUCCESS;
    const bool complete = !w->records.table || !w->records.table->addressed;
    if (w->dynamic && !w->strict) /* regions are registered when they are attached */
        w->created.net_mem =
            (struct rma_net_mem){.base = &w->created.word, .len = sizeof w->created.word};
    else if (!w->strict) /* strict mode's checks look at packets */
        w->created.net_mem = (struct rma_net_mem){.base = w->base, .len = w->base ? w->size : 0};
    if (complete)
        win_copy_table(w, plan);
    w->created.net_mem.words = notify_words_begin(w);
    const int err =
        env->net_open(env->ctx, plan->boot, &plan->procs, complete, &w->created.net_mem, &keys);
    if (w->dynamic)
        target_regions_register(w, w->created.net_mem.channel);
    if (err)
        return err;
    if (complete)
        w->records.table->addressed = env->record_addressed != NULL;
    if (keys.set) {
        rma_enter(w->rma);
        w->records.keys = w->records.own_keys = plan->keys;
        rma_leave(w->rma);
        plan->keys = NULL;
    }
    return MRMA_SUCCESS;
}

/* start_packets is called where packets will be used: it tells the waits, and starts the agent that
 * serves packets. */
static int start_packets(struct win *w)
{
    struct rma *r = w->rma;
    rma_use_packets(r, serves_packets(w) || w->has_assisted);
    if (!serves_packets(w) || !wants_agent(r->conf, w))
        return MRMA_SUCCESS;
    return rma_has_agent(r) ? MRMA_SUCCESS : r->env->agent_start(r->env->ctx);
}

static int route_and_start(struct win *w, struct win_plan *plan)
{
    rma_enter(w->rma);
    int err = win_make_targets(w, plan);
    rma_leave(w->rma);
    if (!err)
        err = records_publish(w, plan->new_table);
    return err ? err : start_packets(w);
}

/* agree returns what all shall do, which is the highest value that one of them says. If the host
 * fails, the result is AGREE_ERR plus that error. */
static int agree(struct boot *boot, const struct win_plan *plan, int err)
{
    const int mine = err == MRMA_AGAIN  ? AGREE_SLOTS
                     : err              ? AGREE_ERR + err
                     : plan->unattached ? AGREE_UNATTACHED
                     : plan->refused    ? AGREE_REFUSED
                                        : AGREE_DONE;
    int all = mine;
    const int failed = boot->allmax(boot, mine, &all);
    return failed ? AGREE_ERR + failed : all;
}

static void unroute(struct win *w)
{
    rma_enter(w->rma);
    win_free_targets(w);
    rma_leave(w->rma);
    records_unpublish(w);
}

/* A control block with as many slots as this node needs. */
static int make_more_slots(struct win *w, struct win_plan *plan)
{
    if (plan->slots > w->created.nslots)
        w->created.nslots = plan->slots;
    return remake_control(w, plan);
}

/* attach_nothing is called where no process of the window may export its memory any more. */
static int attach_nothing(struct win *w, struct win_plan *plan)
{
    log_msg(w->rma->log, LOG_LEVEL_WARN,
            "window %u: XPMEM does not reach the memory of all processes, it is not used any more",
            w->index);
    end_export(w, plan->notice);
    return remake_control(w, plan);
}

/* connect_all makes the targets and agrees with all processes that everybody could. err is what has
 * gone wrong before, which all must learn. */
static int connect_all(struct win *w, struct win_plan *plan, int err)
{
    for (;;) {
        if (!err)
            err = route_and_start(w, plan);
        const int all = agree(plan->boot, plan, err);
        if (all == AGREE_DONE)
            return fence_counts_choose(w, plan->boot);
        if (all > AGREE_ERR)
            return err && err != MRMA_AGAIN ? err
                                            : log_fail(w->rma->log, all - AGREE_ERR,
                                                       "another process cannot create the window");
        unroute(w);
        err = MRMA_SUCCESS;
        if (all == AGREE_SLOTS) {
            err = make_more_slots(w, plan);
        } else if (all == AGREE_UNATTACHED) {
            err = attach_nothing(w, plan);
        } else {
            log_msg(w->rma->log, LOG_LEVEL_WARN,
                    "window %u: cross-memory attach is refused here, packets are used", w->index);
            plan->packets_only = true;
        }
    }
}

/* populate touches pages only when all processes have looked whether there is room for all
 * (node_memory.h). err is as for connect_all. */
static int populate(struct win *w, struct win_plan *plan, int err)
{
    bool somebody = false;
    int all = err;
    for (int i = 0; i < w->nproc; i++)
        somebody |= win_detail_of(plan, i)->hints.populate;
    if (w->flavor != WIN_ALLOCATE || !somebody)
        return err;
    const int failed = plan->boot->allmax(plan->boot, err, &all);
    if (err || failed)
        return err ? err : failed;
    if (all)
        return log_fail(w->rma->log, all, "another process cannot create the window");
    return plan->mine.hints.populate ? populate_pages(w->base, w->size) : MRMA_SUCCESS;
}

/* The collective part. */
static int join(struct win *w, struct win_plan *plan)
{
    bool gone_on;
    int err = win_exchange(w, plan, &gone_on);
    if (!gone_on)
        return err;
    if (!err)
        err = check_details(w, plan);
    if (!err) {
        learn_node(w, plan);
        agree_strict(w, plan);
        win_make_routes(w);
        err = win_agree_hints(w, plan);
    }
    if (!err)
        err = open_network(w, plan);
    if (!err && w->flavor == WIN_ALLOCATE_SHARED)
        err = win_share_memory(w, plan);
    if (!err && w->flavor == WIN_ALLOCATE)
        err = node_memory_fits(w, plan);
    err = connect_all(w, plan, populate(w, plan, err));
    return err ? err : win_choose_atomics(w, plan);
}

/* number_of makes the window's number from what all know of rank 0: its process's random number,
 * and the index and generation that it has given the window. */
static uint64_t number_of(const struct win *w)
{
    const struct win_record first = record_of(w, 0);
    return record_proc(w, 0)->uid * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)first.index << 32) +
           first.gen;
}

int win_create(struct rma *r, const struct win_spec *spec, struct win **out)
{
    struct win_plan *plan = calloc(1, sizeof *plan);
    struct win *w = plan ? win_new(r, spec) : NULL;
    if (!w) {
        free(plan);
        return log_fail(r->log, MRMA_ERR_NO_MEM, "no memory for a window of %d processes",
                        spec->boot->nproc);
    }
    plan->boot = spec->boot;
    rma_enter(r);
    abandoned_sweep(r);
    rma_leave(r);
    prepare(w, spec, plan);
    int err = join(w, plan);
    if (!err) {
        w->number = number_of(w);
        records_keep(w, plan->new_table, spec->boot->communicator);
    }
    win_plan_end(r, plan);
    if (err) {
        rma_enter(r);
        win_delete(w);
        rma_leave(r);
        return err;
    }
    w->watched = w->strict != NULL;
    w->locks_refused = w->strict && w->hints.no_locks;
    w->lock_quick = !w->hints.no_locks && !w->watched && !(r->conf->hang_report > 0) &&
                    !r->threads && !w->npackets;
    r->stats.windows++;
    *out = w;
    return MRMA_SUCCESS;
}
