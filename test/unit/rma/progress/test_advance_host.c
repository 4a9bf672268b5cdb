/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_advance_host.c - when waits, and calls in loops, enter the host's progress, which the test
 * plays: it counts the entries, and looks at what the library may do meanwhile.
 */
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "test/support/base_helper.h"
#include "rma/progress/advance_host.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "test/support/rma_helper.h"
#include "test/sim/fabric.h"

enum { SECOND = 1000000000, PAUSE = 50000, OFTEN = 10000, ENTRIES = 20 };
enum { SHORT_ENTRY = 100, LONG_ENTRY = 6000, LONGEST_ENTRY = 1000000 }; /* nanoseconds */

static struct hand_shared shared;
static struct hand *h;
static uint64_t now, takes;      /* nanoseconds of an entry */
static _Atomic unsigned entries; /* of the host's progress */
static unsigned inner;           /* entries from within the host's progress */
static bool polled, other_is_in;

static uint64_t test_clock(void)
{
    return now;
}

static void *is_in_host(void *arg)
{
    *(bool *)arg = rma_is_in_host(&h->rma);
    return NULL;
}

/* What the host may come to from its progress: the library's polls, and by these or by a call-back
 * of the program another wait. */
static void play_host(void *ctx)
{
    static bool inside;
    pthread_t other;

    (void)ctx;
    assert_false(inside);
    inside = true;
    (void)atomic_fetch_add(&entries, 1);
    const unsigned before = atomic_load(&entries);
    rma_advance_host(&h->rma, now + SECOND);
    inner += atomic_load(&entries) - before;
    polled |= rma_host_poll(&h->rma) || atomic_load(&h->env.polling->host_polls);
    assert_true(rma_is_in_host(&h->rma));
    assert_int_equal(pthread_create(&other, NULL, is_in_host, &other_is_in), 0);
    pthread_join(other, NULL);
    now += takes;
    inside = false;
}

static void count_entry(void *ctx)
{
    (void)ctx;
    (void)atomic_fetch_add(&entries, 1);
}

static int begin(void **state)
{
    (void)state;
    shared = hand_share(1, false);
    h = hand_new(&shared, 0);
    h->env.host_progress = play_host;
    h->rma.clock = test_clock;
    now = SECOND;
    takes = 0;
    atomic_store(&entries, 0);
    inner = 0;
    polled = other_is_in = false;
    return 0;
}

static int end(void **state)
{
    (void)state;
    hand_free(h);
    hand_unshare(&shared);
    return 0;
}

static void an_entry_comes_after_a_pause(void **state)
{
    (void)state;
    rma_advance_host(&h->rma, now);
    assert_int_equal(atomic_load(&entries), 1);
    rma_advance_host(&h->rma, now + PAUSE - 1);
    rma_advance_host_often(&h->rma, now + OFTEN - 1);
    assert_int_equal(atomic_load(&entries), 1);
    rma_advance_host_often(&h->rma, now += OFTEN);
    assert_int_equal(atomic_load(&entries), 2);
    rma_advance_host(&h->rma, now += PAUSE);
    assert_int_equal(atomic_load(&entries), 3);
}

static unsigned enter(uint64_t ns)
{
    const unsigned before = atomic_load(&entries);
    takes = ns;
    rma_advance_host(&h->rma, now);
    return atomic_load(&entries) - before;
}

/* One that has copied something is followed by another when a quarter of its time has passed, or
 * the shorter pause. */
static void a_long_entry_is_followed_soon(void **state)
{
    (void)state;
    assert_int_equal(enter(SHORT_ENTRY), 1);
    now += PAUSE;
    assert_int_equal(enter(LONG_ENTRY), 1);
    now += LONG_ENTRY / 4 - 1;
    assert_int_equal(enter(LONG_ENTRY), 0);
    now += 1;
    assert_int_equal(enter(LONGEST_ENTRY), 1);
    now += OFTEN - 1;
    assert_int_equal(enter(SHORT_ENTRY), 0);
    now += 1;
    assert_int_equal(enter(SHORT_ENTRY), 1);
    now += OFTEN;
    assert_int_equal(enter(SHORT_ENTRY), 0);
}

/* Where the host's progress takes long each time, nothing has moved. */
static void entries_that_are_all_long_are_rare(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++, now += PAUSE) {
        assert_int_equal(enter(LONG_ENTRY), 1);
        now += PAUSE - 1;
        assert_int_equal(enter(LONG_ENTRY), 0);
        now += 1 - PAUSE;
    }
}

/* Its number, and no other thread's, is what the agent has stored. */
static void the_agent_does_not_enter(void **state)
{
    (void)state;
    atomic_store(&h->rma.progress.agent_thread, (uintptr_t)pthread_self());
    assert_int_equal(enter(SHORT_ENTRY), 0);
    atomic_store(&h->rma.progress.agent_thread, 0);
    assert_int_equal(enter(SHORT_ENTRY), 1);
}

static void nothing_enters_twice_nor_polls_from_within(void **state)
{
    (void)state;
    rma_advance_host(&h->rma, now);
    assert_int_equal(inner, 0);
    assert_false(polled);
    assert_false(other_is_in);
    assert_false(rma_is_in_host(&h->rma));
}

static void many_short_waits_enter(void **state)
{
    (void)state;
    for (int i = 0; i < RMA_ROUNDS_PER_HOST; i++)
        rma_count_wait(&h->rma, 1);
    assert_int_equal(atomic_load(&entries), 1);
    for (int i = 0; i < RMA_ROUNDS_PER_HOST; i++, now += PAUSE)
        rma_count_wait(&h->rma, 1);
    assert_in_range(atomic_load(&entries), 2, 20);
}

static void calls_in_a_loop_enter(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++, now += 10)
        if (win_count_call(&h->win))
            rma_look_around(&h->win);
    assert_int_equal(atomic_load(&entries), 1);
    for (int i = 0; i < 1000; i++, now += PAUSE)
        (void)rma_between_tests(&h->rma, &h->win);
    assert_in_range(atomic_load(&entries), 2, 1000);
}

static unsigned looks_in(int calls, uint64_t pause)
{
    const unsigned before = atomic_load(&entries);
    for (int i = 0; i < calls; i++, now += pause)
        if (win_count_call(&h->win))
            rma_look_around(&h->win);
    return atomic_load(&entries) - before;
}

/* Calls of a program that comes now and then enter, and see lost processes, after a time that does
 * not grow with that between them; quick ones look at the clock as rarely as they may. */
static void rare_calls_do_not_wait_for_each_other(void **state)
{
    (void)state;
    assert_in_range(looks_in(1600, SECOND / 1000), 1600 / 16, 1600 / 8);
    (void)looks_in(1000, 100); /* until they are seen to be quick */
    assert_in_range(looks_in(1000000, 100), 2000000 / 2048 / 20, 4000000 / 2048);
    (void)looks_in(2048, SECOND / 1000); /* until they are seen to be slow */
    const unsigned before = atomic_load(&entries);
    for (int i = 0; i < 100; i++, now += SECOND / 1000)
        (void)rma_between_tests(&h->rma, &h->win);
    assert_in_range(atomic_load(&entries) - before, 90, 100);
}

static bool have_entered(void *arg)
{
    (void)arg;
    return atomic_load(&entries) >= ENTRIES;
}

/* The wait ends only by what the host does in its progress: nobody wakes the thread. Without a
 * bound on its sleeps it would wake up twice a second. */
static void a_wait_sleeps_in_parts(void **state)
{
    (void)state;
    h->env.host_progress = count_entry;
    h->rma.clock = clock_monotonic_ns;
    h->rma.progress.next_check = 0;
    const uint64_t began = clock_monotonic_ns();
    assert_int_equal(
        rma_wait_until(&h->win,
                       &(struct rma_wait){.done = have_entered, .what = "entries", .rank = -1}),
        MRMA_SUCCESS);
    assert_true(clock_monotonic_ns() - began < (uint64_t)ENTRIES * SECOND / 4);
}

static void sleep_once(struct event *ev, uint64_t ns)
{
    assert_false(rma_sleep_beside_host(&h->rma, ev, 0, NULL, 0, ns));
}

static void enter_for_long(void *ctx)
{
    const uint64_t until = clock_monotonic_ns() + takes;

    count_entry(ctx);
    while (clock_monotonic_ns() < until)
        continue;
}

/* The parts are 50 us at first and 1 ms at most. */
static void sleeps_in_parts(void **state)
{
    static struct event ev;

    (void)state;
    event_init(&ev);
    h->env.host_progress = count_entry;
    h->rma.clock = clock_monotonic_ns;
    sleep_once(&ev, 50000);
    assert_int_equal(atomic_load(&entries), 0);
    sleep_once(&ev, 20000000); /* 50, 200, 800 us, 18 parts of 1 ms, the rest */
    assert_in_range(atomic_load(&entries), 1, 21);
    atomic_store(&entries, 0);
    event_wake(&ev, EVENT_NO_POLL); /* the ticket is out of date */
    sleep_once(&ev, SECOND);
    assert_int_equal(atomic_load(&entries), 0);
}

/* What the entries take counts as well, and that a part of the sleep lasts longer than it is to:
 * who sleeps looks after lost processes at its end. */
static void sleeps_no_longer_than_told(void **state)
{
    enum { PARTS = 200, PART = 50000, ENTRY = 1000000 };
    static struct event ev;

    (void)state;
    event_init(&ev);
    h->env.host_progress = enter_for_long;
    h->rma.clock = clock_monotonic_ns;
    takes = 0;
    rma_advance_host(&h->rma, clock_monotonic_ns()); /* so those that follow have moved something */
    takes = ENTRY;
    sleep_once(&ev, PARTS * PART);
    assert_in_range(atomic_load(&entries), 2, 1 + PARTS * PART / ENTRY);
}

static int tests(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test_setup_teardown(an_entry_comes_after_a_pause, begin, end),
        cmocka_unit_test_setup_teardown(a_long_entry_is_followed_soon, begin, end),
        cmocka_unit_test_setup_teardown(entries_that_are_all_long_are_rare, begin, end),
        cmocka_unit_test_setup_teardown(the_agent_does_not_enter, begin, end),
        cmocka_unit_test_setup_teardown(nothing_enters_twice_nor_polls_from_within, begin, end),
        cmocka_unit_test_setup_teardown(many_short_waits_enter, begin, end),
        cmocka_unit_test_setup_teardown(calls_in_a_loop_enter, begin, end),
        cmocka_unit_test_setup_teardown(rare_calls_do_not_wait_for_each_other, begin, end),
        cmocka_unit_test_setup_teardown(a_wait_sleeps_in_parts, begin, end),
        cmocka_unit_test_setup_teardown(sleeps_in_parts, begin, end),
        cmocka_unit_test_setup_teardown(sleeps_no_longer_than_told, begin, end),
    };
    fabric_watchdog(60);
    return cmocka_run_group_tests_name("advance_host", list, NULL, NULL);
}

int main(void)
{
    return run_with_skips(tests);
}
