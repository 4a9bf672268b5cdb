/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traces.c - random programs (program.h) on simulated processes (sim.h) that record: what
 * mpi-rma-trace makes of it is well formed (traces_check.h).
 *
 * Each node is a machine with a clock of its own, which is ahead or behind and goes too fast or too
 * slow; the trace has it measured as src/mpi does, by messages that take a time of their own in
 * each direction. By the corrected clocks no message arrives before it was sent, and a program does
 * the same, event by event, with and without a trace.
 *
 *   traces                   what the test suite runs: fixed seeds, then fresh ones
 *   traces [-k] SEED [N]     N programs from SEED on; -k: with a process that dies
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "driver.h"
#include "trace/clock_offset.h"
#include "traced_calls.h"
#include "traces_check.h"
#include "world.h"

enum {
    SHARE = FIBER_ASAN ? 4 : 1,
    FIXED = 24 / SHARE,
    FRESH = 8 / SHARE,
    DEATHS = 8 / SHARE,
    MACHINE = 100,     /* number of the first node */
    LATENCY_NS = 1000, /* of messages, the least; those that measure clocks may take longer by */
    LATENCY_SPREAD_NS = 800,
    ERROR_NS =
        LATENCY_SPREAD_NS / 2 + 90, /* 90 ns: of the rates, while one after another is measured */
    PHASES = 8,
};

/* A clock from one time on. */
struct machine_clock {
    uint64_t shown; /* then */
    int64_t drift;  /* ns a second */
};

static struct {
    struct sim *sim;
    int nproc;
    struct machine_clock clock[PHASES][PROG_PROCS]; /* by node */
    uint64_t since[PHASES];
    int phases;
    void (*run)(struct prog_world *w, void (*body)(struct prog_actor *a, void *arg), void *arg);
    struct trace *trace[PROG_PROCS];
    uint64_t random;
    struct traces_message *message;
    size_t n, cap;
} job;

static uint64_t messages;
static char dir[64];

/* ---- clocks ---- */

static uint64_t clock_of_node(int node, uint64_t time)
{
    int phase = job.phases - 1;
    while (phase > 0 && job.since[phase] > time)
        phase--;
    const struct machine_clock *c = &job.clock[phase][node];
    const uint64_t passed = time - job.since[phase];
    return c->shown + passed + (uint64_t)((int64_t)passed / 1000 * c->drift / 1000000);
}

static uint64_t clock_of(int rank)
{
    return clock_of_node(sim_proc(job.sim, rank)->node, sim_now(job.sim));
}

/* A trace's clock has no argument. */
#define CLOCK_OF(rank)                 \
    static uint64_t clock_##rank(void) \
    {                                  \
        return clock_of(rank);         \
    }
CLOCK_OF(0)
CLOCK_OF(1)
CLOCK_OF(2)
CLOCK_OF(3)
CLOCK_OF(4)
CLOCK_OF(5)
CLOCK_OF(6)
CLOCK_OF(7)
static const clock_fn clocks[PROG_PROCS] = {clock_0, clock_1, clock_2, clock_3,
                                            clock_4, clock_5, clock_6, clock_7};

/* All clocks go at another rate from now on. */
static void change_rates(void)
{
    struct machine_clock next[PROG_PROCS];
    SIM_CHECK(job.phases < PHASES);
    for (int i = 0; i < PROG_PROCS; i++)
        next[i] = (struct machine_clock){
            .shown = job.phases ? clock_of_node(i, sim_now(job.sim))
                                : UINT64_C(1000000000000) + world_mixed(&job.random, 2000000000),
            .drift = (int64_t)world_mixed(&job.random, 100001) - 50000};
    memcpy(job.clock[job.phases], next, sizeof next);
    job.since[job.phases] = job.phases ? sim_now(job.sim) : 0;
    job.phases++;
}

static void message_travels(void)
{
    sim_pass(job.sim, LATENCY_NS + world_mixed(&job.random, LATENCY_SPREAD_NS));
}

static uint64_t ask_first(void *ctx)
{
    (void)ctx;
    message_travels();
    const uint64_t there = clock_of(0);
    message_travels();
    return there;
}

/* The first living process of each node but rank 0's asks. Without traces as much time passes. */
static void measure_clocks(void)
{
    if (sim_proc(job.sim, 0)->dead)
        return;
    int last = sim_proc(job.sim, 0)->node;
    for (int i = 1; i < sim_nproc(job.sim); i++) {
        const struct sim_proc *p = sim_proc(job.sim, i);
        if (p->node == last || p->dead)
            continue;
        last = p->node;
        if (job.trace[i])
            trace_measure_clock(job.trace[i], ask_first, NULL);
        else
            for (int k = 0; k < TRACE_CLOCK_ROUNDS; k++)
                (void)ask_first(NULL);
    }
}

static void run_and_measure(struct prog_world *w, void (*body)(struct prog_actor *a, void *arg),
                            void *arg)
{
    job.run(w, body, arg);
    measure_clocks();
    change_rates();
}

static void delivered(void *arg, int from, int to, uint64_t sent)
{
    (void)arg;
    const int a = sim_proc(job.sim, from)->node, b = sim_proc(job.sim, to)->node;
    if (a == b)
        return;
    if (job.n == job.cap) {
        job.cap = job.cap ? 2 * job.cap : 1024;
        job.message = realloc(job.message, job.cap * sizeof *job.message);
        SIM_CHECK(job.message);
    }
    job.message[job.n++] = (struct traces_message){.from = MACHINE + (uint64_t)a,
                                                   .to = MACHINE + (uint64_t)b,
                                                   .sent = clock_of_node(a, sent),
                                                   .arrived = clock_of(to),
                                                   .truly = clock_of(0)};
}

/* ---- a program ---- */

static void open_traces(void)
{
    static struct log log;
    log_init(&log, LOG_LEVEL_WARN, 2, "traces");
    for (int i = 0; i < sim_nproc(job.sim); i++) {
        struct sim_proc *p = sim_proc(job.sim, i);
        const struct trace_spec spec = {.dir = dir,
                                        .rank = (uint32_t)i,
                                        .nproc = (uint32_t)sim_nproc(job.sim),
                                        .machine = MACHINE + (uint64_t)p->node,
                                        .host_mpi = "simulated",
                                        .clock = clocks[i],
                                        .log = &log};
        SIM_CHECK(i > 0 || trace_prepare(&spec) == MRMA_SUCCESS);
        SIM_CHECK(trace_open(&spec, &job.trace[i]) == MRMA_SUCCESS);
        p->env.trace = job.trace[i];
    }
}

static void close_traces(void)
{
    for (int i = 0; i < PROG_PROCS; i++) {
        trace_close(job.trace[i]);
        job.trace[i] = NULL;
    }
}

/* Returns how many events the simulation took. */
static uint64_t run_program(uint64_t seed, bool traced)
{
    static struct prog_stats stats;
    uint64_t state = seed;
    struct prog_world world;
    struct sim_opts machine = world_machine(seed, &state, driver.deaths);

    machine.delivered = delivered;
    const struct prog_opts opts = {.seed = state,
                                   .lane = 20 + world_mixed(&state, 400),
                                   .groups = 1 + (int)world_mixed(&state, 3),
                                   .max_ops = 30,
                                   .shared =
                                       !machine.per_node && machine.path != CONF_PATH_SHM_PACKETS,
                                   .mortal = driver.deaths};
    job.sim = sim_new(&machine);
    job.nproc = machine.nproc;
    job.n = 0;
    job.random = seed;
    job.phases = 0;
    change_rates();
    if (traced)
        open_traces();
    traced_counts = (struct traced_counts){0};
    measure_clocks();
    world_make(&world, job.sim);
    world.waits = traced_waits;
    job.run = world.run;
    world.run = run_and_measure;
    prog_execute(&world, &opts, &stats);
    close_traces();
    const uint64_t events = sim_events(job.sim);
    sim_free(job.sim);
    return events;
}

static void check_program(uint64_t seed)
{
    const uint64_t plain = run_program(seed, false), traced = run_program(seed, true);
    if (plain != traced)
        fprintf(stderr, "%llu events without a trace, %llu with one\n", (unsigned long long)plain,
                (unsigned long long)traced);
    SIM_CHECK(plain == traced);
    traces_check_archive(dir, &(struct traces_expected){.nproc = job.nproc,
                                                        .whole = !driver.deaths,
                                                        .calls = traced_counts.calls,
                                                        .ops = traced_counts.ops,
                                                        .locks = traced_counts.locks});
    if (!driver.deaths) /* of the dead no clock was measured at the end */
        traces_check_messages(dir, job.message, job.n, ERROR_NS);
    messages += job.n;
}

static void test_fixed(void **state)
{
    (void)state;
    messages = 0;
    driver_run(1, FIXED);
    assert_true(messages > 1000 / SHARE);
}

static void test_deaths(void **state)
{
    (void)state;
    driver.deaths = true;
    driver_run(1, DEATHS);
    driver.deaths = false;
}

static void test_fresh(void **state)
{
    (void)state;
    driver_run_fresh(FRESH);
}

static void remove_dir(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", dir);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixed), cmocka_unit_test(test_deaths),
                                       cmocka_unit_test(test_fresh)};
    if (!FIBER_SUPPORTED) {
        printf("1..0 # SKIP ThreadSanitizer: a simulation has one thread\n");
        return 0;
    }
    strcpy(dir, "traces-XXXXXX");
    SIM_CHECK(mkdtemp(dir));
    atexit(remove_dir);
    driver_begin("traces", check_program);
    if (argc < 2)
        return cmocka_run_group_tests_name("simulated programs in a trace", tests, NULL, NULL);
    return driver_main(argc, argv);
}
