/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_target.h - for tests of operations on a kernel-assisted target that go by packet while
 * it polls: its memory, and how it polls. The last process is the target. While it attends it polls
 * with an agent behind it, as a process in a wait does.
 */
#ifndef MRMA_TEST_ASSISTED_TARGET_H
#define MRMA_TEST_ASSISTED_TARGET_H

#include "pkt_run.h"

#include "rma/path/path.h"
#include "rma/progress/progress.h"

enum { CELLS = 256, LARGE = 1 << 17, HUGE = 2 * LARGE, ROUNDS = 3000 };

static int64_t area[HUGE];
static _Atomic bool attended, over;

static inline void run(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg),
                       void *arg)
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
    return fabric_win(p, WIN_CREATE, is_target(p) ? area : area + HUGE - 1,
                      is_target(p) ? sizeof area : 8, 8);
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

static inline uint64_t sent(const struct fabric_proc *p)
{
    return p->rma.stats.assisted_packets;
}

#endif
