/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_unsent.c - when what is entered as unsent leaves, by a clock that the test sets.
 */
#include "test/support/base_helper.h"
#include "rma/progress/unsent.h"
#include "test/support/rma_helper.h"
#include "test/sim/fabric.h"

enum { STEP_NS = 50000, MS = 1000000, SECOND = 1000 * MS };

static struct hand_shared shared;
static struct hand *h;
static uint64_t now;

struct kept {
    struct unsent unsent;
    bool room;
    unsigned tries;
};

static uint64_t test_clock(void)
{
    return now;
}

static bool leave(struct unsent *u)
{
    struct kept *k = LIST_ENTRY(u, struct kept, unsent);
    k->tries++;
    if (k->room)
        unsent_gone(&h->rma, u);
    return k->room;
}

static int begin(void **state)
{
    (void)state;
    shared = hand_share(1, false);
    h = hand_new(&shared, 0);
    h->rma.clock = test_clock;
    h->rma.progress.unsent.look_ns = UNSENT_LOOK_NS;
    now = SECOND;
    return 0;
}

static int end(void **state)
{
    (void)state;
    hand_free(h);
    hand_unshare(&shared);
    return 0;
}

static void enter(struct kept *k)
{
    rma_enter(&h->rma);
    unsent_add(&h->rma, &k->unsent);
    rma_leave(&h->rma);
}

/* Looks as often as the agent might. Returns how often a look was due. */
static unsigned look_for(uint64_t ns)
{
    unsigned looks = 0;
    for (const uint64_t until = now + ns; now < until; now += STEP_NS)
        looks += unsent_look(&h->rma);
    return looks;
}

static void it_leaves_at_the_second_look(void **state)
{
    struct kept k = {.unsent.leave = leave, .room = true};

    (void)state;
    assert_int_equal(unsent_pause(&h->rma), 0);
    enter(&k);
    (void)look_for(UNSENT_LOOK_NS);
    assert_int_equal(k.tries, 0);
    (void)look_for(2 * STEP_NS);
    assert_int_equal(k.tries, 1);
    (void)look_for(2 * UNSENT_LOOK_NS);
    assert_int_equal(unsent_pause(&h->rma), 0); /* nobody looks any more */
    assert_int_equal(look_for(10 * MS), 0);
}

/* Looks at what has no room are 1, 2, 4 and then 8 ms apart. */
static void looks_for_room_grow_rare(void **state)
{
    struct kept k = {.unsent.leave = leave}, other = {.unsent.leave = leave, .room = true};

    (void)state;
    enter(&k);
    assert_in_range(look_for(100 * MS), 12, 18);
    assert_in_range(k.tries, 10, 16);
    assert_in_range(unsent_pause(&h->rma), 1, 8 * MS);
    enter(&other); /* as soon as if nothing waited for room */
    (void)look_for(MS + STEP_NS);
    assert_int_equal(other.tries, 1);
    k.room = true;
    (void)look_for(2 * MS);
    (void)look_for(10 * MS);
    assert_false(list_node_queued(&k.unsent.link));
    assert_int_equal(unsent_pause(&h->rma), 0);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test_setup_teardown(it_leaves_at_the_second_look, begin, end),
        cmocka_unit_test_setup_teardown(looks_for_room_grow_rare, begin, end),
    };
    fabric_watchdog(60);
    return cmocka_run_group_tests_name("unsent", list, NULL, NULL);
}
