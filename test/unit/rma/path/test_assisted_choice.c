/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_assisted_choice.c - the way of an operation to a kernel-assisted target
 * (rma/path/assisted_choice.c): each fact and each limit decides by itself.
 */
#include "test/support/base_helper.h"

#include "base/conf.h"
#include "rma/path/assisted_choice.h"

/* A contiguous put of 8 bytes in an active target epoch. */
static const struct assisted_facts plain = {.len = 8, .copy = true, .contig = true};

/* The same in a passive target epoch, and its target polls. */
static const struct assisted_facts polled = {
    .len = 8, .copy = true, .contig = true, .passive = true, .polled = true};

static void is(struct assisted_facts op, enum assisted_way way)
{
    assert_int_equal(assisted_choose(&op, &conf_default), way);
}

#define WITH(facts, change)              \
    do {                                 \
        struct assisted_facts f = facts; \
        f.change;                        \
        op = f;                          \
    } while (0)

static void small_copies_share_a_system_call(void **state)
{
    struct assisted_facts op;
    (void)state;
    is(plain, ASSISTED_QUEUE);
    WITH(plain, len = 1024);
    is(op, ASSISTED_QUEUE);
    WITH(plain, len = 1025);
    is(op, ASSISTED_AT_ONCE);
    WITH(plain, contig = false);
    is(op, ASSISTED_AT_ONCE);
    WITH(plain, request = true);
    is(op, ASSISTED_AT_ONCE);
    WITH(plain, copy = false);
    is(op, ASSISTED_AT_ONCE);
}

static void a_target_that_polls_does_it(void **state)
{
    struct assisted_facts op;
    (void)state;
    is(polled, ASSISTED_PACKET);
    WITH(polled, copy = false);
    is(op, ASSISTED_PACKET);
    WITH(polled, passive = false);
    is(op, ASSISTED_QUEUE);
    WITH(polled, polled = false);
    is(op, ASSISTED_QUEUE);
    WITH(polled, request = true);
    is(op, ASSISTED_AT_ONCE);
    WITH(polled, oversubscribed = true);
    is(op, ASSISTED_QUEUE);
    WITH(polled, len = 4096);
    is(op, ASSISTED_PACKET);
    WITH(polled, len = 4097);
    is(op, ASSISTED_AT_ONCE);
    op.in_pieces = true; /* of which the ring is the faster way, whatever their length */
    is(op, ASSISTED_PACKET);
    WITH(polled, copy = false);
    op.len = 4097;
    is(op, ASSISTED_PACKET);
}

static void the_agent_is_woken_for_many_pieces(void **state)
{
    struct assisted_facts op;
    (void)state;
    WITH(polled, polled = false);
    op.contig = false;
    op.in_pieces = op.has_agent = true;
    op.pieces = 256;
    is(op, ASSISTED_PACKET);
    op.pieces = 255;
    is(op, ASSISTED_AT_ONCE);
    op.pieces = 256;
    op.has_agent = false;
    is(op, ASSISTED_AT_ONCE);
    op.has_agent = op.oversubscribed = true;
    is(op, ASSISTED_AT_ONCE);
}

/* Accumulates of one origin are done in the order of the calls. */
static void accumulates_follow_those_under_way(void **state)
{
    struct assisted_facts op;
    (void)state;
    WITH(plain, copy = false);
    op.behind_packets = op.request = op.oversubscribed = true;
    is(op, ASSISTED_PACKET);
    WITH(plain, behind_packets = true);
    is(op, ASSISTED_QUEUE);
}

static void limits_are_those_of_the_user(void **state)
{
    struct conf conf = conf_default;
    struct assisted_facts op = polled;
    (void)state;
    conf.tune.assisted_packet_max = 7;
    assert_int_equal(assisted_choose(&op, &conf), ASSISTED_QUEUE);
    conf.tune.assisted_queue_max = 7;
    assert_int_equal(assisted_choose(&op, &conf), ASSISTED_AT_ONCE);
    conf.tune.assisted_queue_max = 8;
    conf.tune.assisted_queue = 7; /* no room */
    assert_int_equal(assisted_choose(&op, &conf), ASSISTED_AT_ONCE);
    conf = conf_default;
    conf.tune.assisted_pieces = 3;
    op.polled = false;
    op.has_agent = true;
    op.pieces = 3;
    assert_int_equal(assisted_choose(&op, &conf), ASSISTED_PACKET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_copies_share_a_system_call),
        cmocka_unit_test(a_target_that_polls_does_it),
        cmocka_unit_test(the_agent_is_woken_for_many_pieces),
        cmocka_unit_test(accumulates_follow_those_under_way),
        cmocka_unit_test(limits_are_those_of_the_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
