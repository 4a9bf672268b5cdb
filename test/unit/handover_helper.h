/*
 * handover_helper.h - an attentive kernel-assisted target, for the tests of rma/handover.h in passive target epochs.
 *
 * The last process is the target. It attends: polls with an agent behind it, as a process in a
 * wait does.
 */
#ifndef MRMA_TEST_HANDOVER_HELPER_H
#define MRMA_TEST_HANDOVER_HELPER_H

#include "pkt_run.h"

#include "rma/handover.h"
#include "rma/issue.h"
#include "rma/progress.h"

enum { CELLS = 256, LARGE = 1 << 17, HUGE = 2 * LARGE, ROUNDS = 3000 };

static int64_t area[HUGE];
static _Atomic bool attended UNUSED_OK, over UNUSED_OK;

static inline void run(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg), void *arg)
{
    memset(area, 0, sizeof area);
    atomic_store(&attended, false);
    atomic_store(&over, false);
    opts.cpus = opts.cpus ? opts.cpus : 8;
    run_one(opts, body, arg);
}

static inline bool is_target(const struct fabric_proc *p)
{
    return p->rank == p->fabric->opts.nproc - 1;
}

static inline struct win *create(struct fabric_proc *p)
{
    if (is_target(p))
        OK(p->env.agent_start(p));
    return fabric_win(p, WIN_CREATE, is_target(p) ? area : area + HUGE - 1, is_target(p) ? sizeof area : 8, 8);
}

/* The target polls until the origins say that it is over. */
static inline void attend(struct fabric_proc *p)
{
    rma_polling_begin(&p->rma);
    atomic_store(&attended, true);
    while (!atomic_load(&over))
        fabric_progress(p);
    rma_polling_end(&p->rma);
}

static inline void await_attention(void)
{
    while (!atomic_load(&attended))
        sched_yield();
}

static inline uint64_t handed(const struct fabric_proc *p)
{
    return p->rma.stats.handed;
}

/* n elements, every other one. */
static inline struct dtype *every_other(uint32_t n)
{
    const struct dtype_run run = {.len = 8, .stride = 16, .n = n};
    const struct dtype form = {.size = 8 * n, .extent = 16 * n, .basic = ACC_I64, .elems = n,
                               .runs = &run, .nruns = 1, .eruns = &run, .neruns = 1};
    struct dtype *type;
    OK(dtype_create(&form, &type));
    return type;
}

#endif
