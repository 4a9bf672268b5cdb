/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_polling.c - the words by which a call of the host that polls and the senders of packets know
 * of each other, with a clock that the test moves, and in which the host makes its rounds.
 */
#include "test/support/base_helper.h"

#include "base/atomic.h"
#include "sys/polling.h"

enum { SECOND = 1000000000, LATER = 100000 };

static struct polling target;
static struct polling_seen seen;
static uint64_t now;
static unsigned reads;    /* of the clock */
static bool host_is_busy; /* a call of the host makes a round between two reads of the clock */

static uint64_t test_clock(void)
{
    reads++;
    if (host_is_busy)
        polling_note_host_poll(&target);
    return now += 50;
}

static bool is_polled(void)
{
    return polling_is_polled(&target, &seen, test_clock);
}

static int anew(void **state)
{
    (void)state;
    target = (struct polling){.ended = 0};
    seen = (struct polling_seen){.at = 0};
    now = SECOND;
    host_is_busy = false;
    polling_agent_begins(&target);
    return 0;
}

static void a_host_that_polls_is_seen(void **state)
{
    (void)state;
    assert_false(is_polled());
    host_is_busy = true;
    polling_note_host_poll(&target);
    assert_true(is_polled());
    now += LATER;
    assert_true(is_polled());
}

/* A count that has changed may have changed long ago, which is found out once. */
static void a_host_that_has_polled_is_found_out_once(void **state)
{
    (void)state;
    polling_note_host_poll(&target);
    const uint64_t before = now;
    assert_false(is_polled());
    assert_true(now - before < 3000);
    reads = 0;
    assert_false(is_polled());
    assert_int_equal(reads, 0);
    host_is_busy = true;
    polling_note_host_poll(&target);
    assert_true(is_polled());
}

/* What was seen is right for some microseconds, in which the count is not looked at. */
static void an_end_is_noticed_soon(void **state)
{
    (void)state;
    host_is_busy = true;
    polling_note_host_poll(&target);
    assert_true(is_polled());
    host_is_busy = false;
    assert_true(is_polled());
    now += LATER;
    assert_false(is_polled());
}

/* Without an agent nobody would serve what comes when the call has ended. */
static void a_host_without_an_agent_does_not_count(void **state)
{
    (void)state;
    target.has_agent = 0;
    host_is_busy = true;
    polling_note_host_poll(&target);
    assert_false(is_polled());
}

static void a_packet_calls_the_host_that_polls(void **state)
{
    (void)state;
    assert_false(polling_call(&target, -1)); /* nobody sleeps */
    assert_false(polling_host_is_called(&target));
    polling_note_host_poll(&target);
    assert_false(polling_host_is_called(&target));
    assert_false(polling_call(&target, -1));
    assert_true(polling_host_is_called(&target));
    polling_note_host_poll(&target);
    assert_true(polling_host_is_called(&target));
    polling_host_rests(&target);
    assert_false(polling_host_is_called(&target));
    assert_true(polling_host_polled(&target));
    polling_agent_sleeps(&target, false);
    assert_false(polling_call(&target, -1));
    assert_false(polling_host_is_called(&target));
}

/* A thread of the library that polls finds the packet itself. */
static void a_thread_that_polls_is_not_called(void **state)
{
    (void)state;
    polling_note_host_poll(&target);
    polling_poll_begin(&target);
    assert_false(polling_call(&target, -1));
    assert_false(polling_host_is_called(&target));
    polling_poll_end(&target);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test_setup(a_host_that_polls_is_seen, anew),
        cmocka_unit_test_setup(a_host_that_has_polled_is_found_out_once, anew),
        cmocka_unit_test_setup(an_end_is_noticed_soon, anew),
        cmocka_unit_test_setup(a_host_without_an_agent_does_not_count, anew),
        cmocka_unit_test_setup(a_packet_calls_the_host_that_polls, anew),
        cmocka_unit_test_setup(a_thread_that_polls_is_not_called, anew),
    };
    return cmocka_run_group_tests_name("polling", list, NULL, NULL);
}
