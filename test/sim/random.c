/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random.c - random programs (program.h) on the fabric (fabric.h): every process a
 * thread, over real rings and real waits, where ThreadSanitizer sees them.
 *
 *   random              the seeds that the test suite runs
 *   random SEED [N]     N programs from SEED on; a failure prints its seed
 */
#include "test/support/pkt_helper.h"

#include <stdio.h>

#include "driver.h"
#include "program.h"

enum { LANE = 20000, GROUPS = 9, MAX_PROCS = 5, MAX_OPS = 150, SUITE = 60 };

static uint64_t mixed(uint64_t *state, uint64_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % n;
}

/* ---- a world of threads ---- */

struct runner {
    struct prog_world *world;
    void (*body)(struct prog_actor *a, void *arg);
    void *arg;
};

static void run_one(struct fabric_proc *p, void *arg)
{
    struct runner *r = arg;
    r->body(&r->world->actors[p->rank], r->arg);
}

static void world_run(struct prog_world *w, void (*body)(struct prog_actor *a, void *arg),
                      void *arg)
{
    struct runner r = {w, body, arg};
    fabric_run(w->driver, run_one, &r);
}

static void world_pause(struct prog_actor *a, unsigned n)
{
    (void)a;
    for (unsigned i = 0; i < n; i++)
        sched_yield();
}

static void world_yield(struct prog_actor *a)
{
    (void)a;
    sched_yield();
}

static void world_rest(struct prog_actor *a)
{
    rest(a->proc);
}

static void run_program(uint64_t seed)
{
    uint64_t state = seed;
    for (int i = 0; i < 3; i++)
        (void)mixed(&state, 2);
    struct fabric_opts opts = {.nproc = 2 + (int)mixed(&state, MAX_PROCS - 1), .seed = seed};
    opts.per_node = mixed(&state, 2) ? 0 : 1 + (int)mixed(&state, 3);
    opts.path = mixed(&state, 2) ? CONF_PATH_SHM_PACKETS : CONF_PATH_AUTO;
    opts.progress = mixed(&state, 2) ? CONF_PROGRESS_POLL : CONF_PROGRESS_AGENT;
    opts.fence = mixed(&state, 2) ? CONF_FENCE_MARKERS : CONF_FENCE_COUNTS;
    opts.refuse_percent = mixed(&state, 2) ? 0 : (unsigned)mixed(&state, 60);
    opts.delay_percent = mixed(&state, 2) ? 0 : (unsigned)mixed(&state, 60);
    const struct prog_opts prog = {.seed = state,
                                   .lane = LANE,
                                   .groups = GROUPS,
                                   .max_ops = MAX_OPS,
                                   .shared = !opts.per_node && opts.path == CONF_PATH_AUTO};
    struct prog_stats stats = {.failed = 0};
    atomic_store(&pkt_arrived, 0);
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&opts);
    struct prog_world w = {.nproc = opts.nproc,
                           .run = world_run,
                           .pause = world_pause,
                           .yield = world_yield,
                           .rest = world_rest,
                           .driver = f};
    for (int i = 0; i < opts.nproc; i++)
        w.actors[i] = (struct prog_actor){.rank = i,
                                          .rma = &f->procs[i].rma,
                                          .boot = &f->boots[i],
                                          .world = &w,
                                          .proc = &f->procs[i]};
    prog_execute(&w, &prog, &stats);
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_random(void **state)
{
    (void)state;
    driver_run(1, SUITE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    driver_begin("random", run_program);
    if (argc < 2)
        return cmocka_run_group_tests_name("random programs", tests, NULL, NULL);
    return driver_main(argc, argv);
}
