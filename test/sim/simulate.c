/*
 * simulate.c - random programs (program.h) on simulated processes (sim.h).
 *
 * A seed gives the machine (processes, nodes, paths, agents or polling, a good or a bad
 * network) and the program. Nothing else decides anything: the same seed runs the same,
 * event by event.
 *
 *   simulate                   what the test suite runs: fixed seeds, then fresh ones
 *   simulate SEED [N]          N programs from SEED on
 *   simulate -k SEED [N]       the same with a process that dies at a random moment
 *
 * A failure prints its seed and the command that runs it again.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "program.h"
#include "world.h"

enum {
    SHARE = FIBER_ASAN ? 5 : 1,
    FIXED = 6000 / SHARE,
    FRESH = 3000 / SHARE,
    DEATHS = 1000 / SHARE
};
#define DEATH_BOUND_NS UINT64_C(10000000000) /* by then every call has ended */

static uint64_t running;
static bool deaths;
static struct prog_stats totals;

/* ---- a program ---- */

/* Returns how many events it took. */
static uint64_t run_program(uint64_t seed)
{
    uint64_t state = seed ^ (deaths ? UINT64_C(0x6465617468) : 0), events;
    for (int i = 0; i < 3; i++)
        (void)world_mixed(&state, 2);
    const struct sim_opts machine_opts = world_machine(seed, &state, deaths);
    const bool large = !world_mixed(&state, 40);
    const struct prog_opts opts = {.seed = state,
                                   .lane = large ? 20000 : 20 + world_mixed(&state, 400),
                                   .groups = 1 + (int)world_mixed(&state, 4),
                                   .max_ops = 60,
                                   .shared = machine_opts.per_node == 0 &&
                                             machine_opts.path != CONF_PATH_SHM_PACKETS,
                                   .mortal = deaths};
    struct prog_world world;
    struct sim *s = sim_new(&machine_opts);
    running = seed;
    world_make(&world, s);
    world.bound_ns = deaths ? DEATH_BOUND_NS : 0;
    prog_execute(&world, &opts, &totals);
    events = sim_events(s);
    SIM_CHECK(deaths || sim_overslept(s) == 0);
    sim_free(s);
    return events;
}

static void on_abort(int sig)
{
    char text[128];
    (void)sig;
    const int len =
        snprintf(text, sizeof text, "failed with seed %llu; to repeat: test/sim/simulate %s%llu\n",
                 (unsigned long long)running, deaths ? "-k " : "", (unsigned long long)running);
    if (write(2, text, (size_t)len) < 0)
        _exit(3);
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
}

static void run_programs(uint64_t first, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        (void)run_program(first + i);
}

/* ---- the suite ---- */

static void test_fixed(void **state)
{
    (void)state;
    run_programs(1, FIXED);
    for (int i = 0; i < 5; i++)
        assert_true(totals.epochs[i] > 0 && totals.asserts[i] + (i == 0) > 0);
    for (int i = 0; i < 7; i++)
        assert_true(totals.ops[i] > 0);
    assert_true(totals.locks_nested && totals.weak && totals.zero && totals.requests);
}

static void test_fresh(void **state)
{
    const uint64_t first = (uint64_t)time(NULL) * 1000003;
    (void)state;
    printf("# fresh seeds %llu and the %d after it\n", (unsigned long long)first, FRESH - 1);
    run_programs(first, FRESH);
}

static void test_deaths(void **state)
{
    (void)state;
    deaths = true;
    run_programs(1, DEATHS);
    deaths = false;
    assert_true(totals.failed > DEATHS / 4);
}

/* The events depend on the seed alone. */
static void test_replay(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const uint64_t events = run_program(seed);
        assert_int_equal(run_program(seed), events);
        assert_true(events > 10);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixed), cmocka_unit_test(test_replay),
                                       cmocka_unit_test(test_deaths), cmocka_unit_test(test_fresh)};
    signal(SIGABRT, on_abort);
    if (!FIBER_SUPPORTED) {
        printf("1..0 # SKIP ThreadSanitizer: a simulation has one thread\n");
        return 0;
    }
    if (argc < 2)
        return cmocka_run_group_tests_name("simulated programs", tests, NULL, NULL);
    deaths = strcmp(argv[1], "-k") == 0;
    argc -= deaths, argv += deaths;
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    run_programs(first, n);
    printf("%llu programs, no failure\n", (unsigned long long)n);
    return 0;
}
