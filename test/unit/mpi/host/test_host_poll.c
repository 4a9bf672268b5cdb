/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_host_poll.c - how often calls of the host (rma_host_poll), and MPI_Win_sync, look at the
 * network, over a channel that counts the looks and a clock that the test moves.
 */
#include "test/support/base_helper.h"

#include "base/err.h"
#include "test/support/engine_pair.h"
#include "rma/progress/progress.h"
#include "rma/sync/sync.h"
#include "rma/win/win.h"

enum { SECOND = 1000000000 };

static uint64_t now;
static unsigned looks, arrives; /* what the next look finds */

static uint64_t test_clock(void)
{
    return now;
}

static unsigned count_look(struct ch3_channel *ch)
{
    const unsigned found = arrives;
    (void)ch;
    looks++;
    arrives = 0;
    return found;
}

static bool nothing_pending(struct ch3_channel *ch)
{
    (void)ch;
    return false;
}

static const struct ch3_channel_ops counting_ops = {
    .name = "counting", .poll = count_look, .pending = nothing_pending};
static struct ch3_channel network;

static struct engine *engine_with_channel(uint32_t caps)
{
    struct engine *e = engine_alone();
    assert_non_null(e);
    network = (struct ch3_channel){.ops = &counting_ops, .caps = caps};
    ch3_add_channel(&e->ch3, &network);
    e->rma.clock = test_clock;
    now = SECOND;
    looks = arrives = 0;
    return e;
}

/* Calls of the host that poll every step nanoseconds, n times; returns how often they looked. */
static unsigned host_polls(struct engine *e, int n, uint64_t step)
{
    const unsigned before = looks;
    for (int i = 0; i < n; i++, now += step)
        (void)rma_host_poll(&e->rma);
    return looks - before;
}

static void rings_alone_need_no_look(void **state)
{
    (void)state;
    struct engine *e = engine_with_channel(0);
    assert_int_equal(host_polls(e, 1000, 10000), 0);
    engine_destroy(e);
}

static void looks_are_far_apart_while_nothing_comes(void **state)
{
    (void)state;
    struct engine *e = engine_with_channel(CH3_CAP_WAIT);
    const unsigned n = host_polls(e, 100000, 100); /* ten milliseconds */
    assert_uint_in_range(n, 150, 200);             /* one in 50 us */
    engine_destroy(e);
}

/* Polled channels have nobody else who would find what has come at once. */
static void what_comes_is_served_and_more_is_expected(void **state)
{
    (void)state;
    static const uint32_t kinds[] = {CH3_CAP_WAIT, CH3_CAP_POLLED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct engine *e = engine_with_channel(kinds[i]);
        (void)host_polls(e, 1000, 1000);
        arrives = 1;
        for (int polls = 0; arrives; polls++) {
            assert_true(polls < 100);
            (void)host_polls(e, 1, 1000);
        }
        assert_uint_in_range(host_polls(e, 8, 1000), 6, 8); /* pauses of 1 us */
        engine_destroy(e);
    }
}

/* Rounds of the host are skipped only as far as none of them is the one in which a look is due,
 * however long they are: what comes is found an eighth of the time later in which nothing came. */
static void a_look_is_not_skipped_when_it_is_due(void **state)
{
    (void)state;
    static const uint64_t steps[] = {100, 400, 900, 1300};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const uint64_t step = steps[i];
        struct engine *e = engine_with_channel(CH3_CAP_WAIT);
        arrives = 1;
        (void)host_polls(e, 1, step);
        for (unsigned idle = 0; idle < 20; idle++) {
            const int before = (int)((10000 + 700 * idle) / step); /* rounds of silence, 10 us on */
            (void)host_polls(e, before, step);
            const uint64_t came = now;
            arrives = 1;
            while (arrives)
                (void)host_polls(e, 1, step);
            assert_true(now - came <= (10000 + 700 * idle) / 8 + 2 * step);
        }
        engine_destroy(e);
    }
}

/* The agent keeps away from the descriptor while others serve, not while they look in vain. */
static void only_what_serves_is_noted(void **state)
{
    (void)state;
    struct engine *e = engine_with_channel(CH3_CAP_WAIT);
    const uint32_t before = atomic_load(&e->rma.progress.polls);
    assert_true(host_polls(e, 1000, 1000) > 0);
    assert_int_equal(atomic_load(&e->rma.progress.polls), before);
    arrives = 1;
    (void)host_polls(e, 100, 1000);
    assert_int_not_equal(atomic_load(&e->rma.progress.polls), before);
    engine_destroy(e);
}

/* A program may call MPI_Win_sync in a loop. */
static void win_sync_looks_as_often(void **state)
{
    (void)state;
    struct engine *e = engine_with_channel(CH3_CAP_WAIT);
    struct win w = {.rma = &e->rma, .look_pace.left = INT32_MAX}; /* a look at peers is not due */
    list_init(&w.remote);
    rma_use_packets(&e->rma, true);
    for (int i = 0; i < 100000; i++, now += 100) /* ten milliseconds */
        assert_int_equal(rma_sync(&w), MRMA_SUCCESS);
    assert_uint_in_range(looks, 150, 200);
    engine_destroy(e);
}

static int tests(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(rings_alone_need_no_look),
        cmocka_unit_test(looks_are_far_apart_while_nothing_comes),
        cmocka_unit_test(what_comes_is_served_and_more_is_expected),
        cmocka_unit_test(a_look_is_not_skipped_when_it_is_due),
        cmocka_unit_test(only_what_serves_is_noted),
        cmocka_unit_test(win_sync_looks_as_often),
    };
    return cmocka_run_group_tests_name("host_poll", list, NULL, NULL);
}

int main(void)
{
    return run_with_skips(tests);
}
