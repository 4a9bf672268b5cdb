/* SPDX-License-Identifier: BSD-3-Clause */
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
 *   simulate -c SEED [N]       the same with chains of epochs of all kinds
 *
 * A failure prints its seed and the command that runs it again.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "program.h"
#include "world.h"

enum {
    SHARE = FIBER_ASAN ? 5 : 1,
    FIXED = 6000 / SHARE,
    FRESH = 3000 / SHARE,
    DEATHS = 1000 / SHARE,
    CHAINS = 500 / SHARE
};
#define DEATH_BOUND_NS UINT64_C(10000000000) /* by then every call has ended */

static struct prog_stats totals;

/* ---- a program ---- */

/* Returns how many events it took. */
static uint64_t run_program(uint64_t seed)
{
    uint64_t state = seed ^ (driver.deaths ? UINT64_C(0x6465617468) : 0), events;
    for (int i = 0; i < 3; i++)
        (void)world_mixed(&state, 2);
    const struct sim_opts machine_opts = world_machine(seed, &state, driver.deaths);
    const bool large = !world_mixed(&state, driver.chains ? 4 : 40);
    const struct prog_opts opts = {
        .seed = state,
        .lane = large ? (driver.chains ? 60000 : 20000) : 20 + world_mixed(&state, 400),
        .groups = 1 + (int)world_mixed(&state, 4),
        .max_ops = 60,
        .shared = machine_opts.per_node == 0 && machine_opts.path != CONF_PATH_SHM_PACKETS,
        .mortal = driver.deaths,
        .chains = driver.chains};
    struct prog_world world;
    struct sim *s = sim_new(&machine_opts);
    world_make(&world, s);
    world.bound_ns = driver.deaths ? DEATH_BOUND_NS : 0;
    prog_execute(&world, &opts, &totals);
    events = sim_events(s);
    SIM_CHECK(driver.deaths || sim_overslept(s) == 0);
    sim_free(s);
    return events;
}

static void run_one(uint64_t seed)
{
    (void)run_program(seed);
}

/* ---- the suite ---- */

static void test_fixed(void **state)
{
    (void)state;
    driver_run(1, FIXED);
    for (int i = 0; i < 5; i++)
        assert_true(totals.epochs[i] > 0 && totals.asserts[i] + (i == 0) > 0);
    for (int i = 0; i < 7; i++)
        assert_true(totals.ops[i] > 0);
    assert_true(totals.locks_nested && totals.weak && totals.zero && totals.requests);
    assert_true(totals.notified > 0);
}

static void test_fresh(void **state)
{
    (void)state;
    driver_run_fresh(FRESH);
}

static void test_deaths(void **state)
{
    (void)state;
    driver.deaths = true;
    driver_run(1, DEATHS);
    driver.deaths = false;
    assert_true(totals.failed > DEATHS / 4);
}

static void test_chains(void **state)
{
    (void)state;
    driver.chains = true;
    driver_run(1, CHAINS);
    driver.chains = false;
    assert_true(totals.epochs[7] > CHAINS);
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
                                       cmocka_unit_test(test_deaths), cmocka_unit_test(test_chains),
                                       cmocka_unit_test(test_fresh)};
    driver_begin("simulate", run_one);
    if (!FIBER_SUPPORTED) {
        printf("1..0 # SKIP ThreadSanitizer: a simulation has one thread\n");
        return 0;
    }
    if (argc < 2)
        return cmocka_run_group_tests_name("simulated programs", tests, NULL, NULL);
    return driver_main(argc, argv);
}
