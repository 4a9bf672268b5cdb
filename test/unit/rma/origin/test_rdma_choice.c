/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rdma_choice.c - the way of a put or get to a target on the network
 * (rma/origin/rdma_choice.c): each fact and each threshold decides by itself.
 */
#include "test/support/base_helper.h"

#include "base/conf.h"
#include "rma/origin/rdma_choice.h"

static const struct ch3_rdma_limits stream = {CH3_RDMA_STREAM, 1 << 30, 0, 64},
                                    provider = {CH3_RDMA_PROVIDER, 1 << 30, 0, 64},
                                    card = {CH3_RDMA_CARD, 1 << 30, 100, 64};

/* A contiguous put in an active target epoch, and one in a passive target epoch, which have begun
 * at the target. */
static const struct origin_rdma_facts active = {.len = 8, .segments = 1, .put = true, .open = true};
static const struct origin_rdma_facts passive = {
    .len = 8, .segments = 1, .put = true, .open = true, .passive = true};

static void is_with(struct origin_rdma_facts op, const struct ch3_rdma_limits *limits,
                    const struct conf *conf, enum origin_rdma_way way)
{
    const struct origin_rdma_thresholds th = origin_rdma_thresholds(limits->by, conf);
    assert_int_equal(origin_rdma_choose(&op, limits, &th), way);
    if (op.len < origin_rdma_least(&th))
        assert_int_equal(way, ORIGIN_RDMA_PACKET);
}

static void is(struct origin_rdma_facts op, const struct ch3_rdma_limits *limits,
               enum origin_rdma_way way)
{
    is_with(op, limits, &conf_default, way);
}

#define WITH(facts, change)                 \
    do {                                    \
        struct origin_rdma_facts f = facts; \
        f.change;                           \
        op = f;                             \
    } while (0)

/* As it has always been. */
static void sockets_and_helped_hardware_take_what_is_large(void **state)
{
    struct origin_rdma_facts op;
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct origin_rdma_facts *kind = i ? &passive : &active;
        WITH(*kind, len = 24 * 1024 - 1);
        is(op, &stream, ORIGIN_RDMA_PACKET);
        WITH(*kind, len = 24 * 1024);
        is(op, &stream, ORIGIN_RDMA_WRITE);
        op.open = false;
        is(op, &stream, ORIGIN_RDMA_WRITE);
        op.put = false;
        is(op, &stream, ORIGIN_RDMA_READ);
        op.segments = 2;
        is(op, &stream, ORIGIN_RDMA_PACKET);
        WITH(*kind, len = 8 * 1024 - 1);
        is(op, &provider, ORIGIN_RDMA_PACKET);
        op.packed = SIZE_MAX / 2;
        is(op, &provider, ORIGIN_RDMA_PACKET);
        WITH(*kind, len = 8 * 1024);
        is(op, &provider, ORIGIN_RDMA_WRITE);
        op.segments = 2;
        is(op, &provider, ORIGIN_RDMA_PACKET);
    }
}

static void a_card_takes_all_that_is_passive(void **state)
{
    struct origin_rdma_facts op;
    (void)state;
    WITH(passive, len = 1);
    is(op, &card, ORIGIN_RDMA_INJECT);
    WITH(passive, len = 100);
    is(op, &card, ORIGIN_RDMA_INJECT);
    WITH(passive, len = 101);
    is(op, &card, ORIGIN_RDMA_WRITE);
    WITH(passive, put = false);
    is(op, &card, ORIGIN_RDMA_READ);
    WITH(passive, packed = SIZE_MAX / 2);
    is(op, &card, ORIGIN_RDMA_INJECT);
}

/* The first packet of the epoch asks for the lock: a small operation goes with it. */
static void what_asks_for_the_lock_is_a_packet(void **state)
{
    struct origin_rdma_facts op;
    (void)state;
    WITH(passive, open = false);
    is(op, &card, ORIGIN_RDMA_PACKET);
    op.len = 8 * 1024 - 1;
    is(op, &card, ORIGIN_RDMA_PACKET);
    op.len = 8 * 1024;
    is(op, &card, ORIGIN_RDMA_WRITE);
}

static void active_epochs_are_packets_until_there_are_many(void **state)
{
    struct origin_rdma_facts op;
    (void)state;
    is(active, &card, ORIGIN_RDMA_PACKET);
    WITH(active, len = 8 * 1024 - 1);
    is(op, &card, ORIGIN_RDMA_PACKET);
    WITH(active, len = 8 * 1024);
    is(op, &card, ORIGIN_RDMA_WRITE);
    WITH(active, packed = 128 * 1024);
    is(op, &card, ORIGIN_RDMA_PACKET);
    op.len = 1023;
    is(op, &card, ORIGIN_RDMA_PACKET);
    op.len = 1024;
    is(op, &card, ORIGIN_RDMA_WRITE);
    op.packed--;
    is(op, &card, ORIGIN_RDMA_PACKET);
    op.packed++;
    op.open = false;
    is(op, &card, ORIGIN_RDMA_PACKET);
}

static void pieces_are_bounded(void **state)
{
    struct ch3_rdma_limits shallow = card;
    struct origin_rdma_facts op;
    (void)state;
    WITH(passive, segments = 2);
    is(op, &card, ORIGIN_RDMA_SEGMENTS);
    WITH(passive, segments = 16);
    is(op, &card, ORIGIN_RDMA_SEGMENTS);
    op.put = false;
    is(op, &card, ORIGIN_RDMA_SEGMENTS);
    WITH(passive, segments = 17);
    is(op, &card, ORIGIN_RDMA_PACKET);
    op.len = 1 << 20;
    is(op, &card, ORIGIN_RDMA_PACKET);
    shallow.depth = 4;
    WITH(passive, segments = 5);
    is(op, &shallow, ORIGIN_RDMA_PACKET);
    op.segments = 4;
    is(op, &shallow, ORIGIN_RDMA_SEGMENTS);
}

static void all_can_be_set(void **state)
{
    struct conf conf = conf_default;
    struct origin_rdma_facts op;
    (void)state;
    conf.tune.rdma_min = 8;
    is_with(active, &stream, &conf, ORIGIN_RDMA_WRITE);
    WITH(active, len = 7);
    is_with(op, &stream, &conf, ORIGIN_RDMA_PACKET);
    is_with(passive, &stream, &conf, ORIGIN_RDMA_PACKET);
    conf = conf_default;
    conf.tune.rdma_min_passive = 9;
    is_with(passive, &card, &conf, ORIGIN_RDMA_PACKET);
    WITH(passive, len = 9);
    is_with(op, &card, &conf, ORIGIN_RDMA_INJECT);
    conf = conf_default;
    conf.tune.rdma_many = 10;
    WITH(active, len = 1024);
    is_with(op, &card, &conf, ORIGIN_RDMA_PACKET);
    op.packed = 10;
    is_with(op, &card, &conf, ORIGIN_RDMA_WRITE);
    conf = conf_default;
    conf.tune.rdma_segments = 1;
    WITH(passive, segments = 2);
    is_with(op, &card, &conf, ORIGIN_RDMA_PACKET);
    conf.tune.rdma_segments = 2;
    is_with(op, &card, &conf, ORIGIN_RDMA_SEGMENTS);
}

/* One put of the channel's must be all of it. */
static void a_put_takes_its_notification_with_it(void **state)
{
    struct origin_rdma_thresholds th = origin_rdma_thresholds(CH3_RDMA_CARD, &conf_default);
    struct origin_rdma_facts op;
    (void)state;
    WITH(passive, notifies = true);
    assert_true(origin_rdma_takes_word(ORIGIN_RDMA_INJECT, &op, &card, &th));
    assert_true(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &op, &card, &th));
    assert_false(origin_rdma_takes_word(ORIGIN_RDMA_PACKET, &op, &card, &th));
    assert_false(origin_rdma_takes_word(ORIGIN_RDMA_READ, &op, &card, &th));
    assert_false(origin_rdma_takes_word(ORIGIN_RDMA_SEGMENTS, &op, &card, &th));
    op.len = card.max;
    assert_true(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &op, &card, &th));
    op.len++;
    assert_false(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &op, &card, &th));
    assert_false(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &passive, &card, &th));
    WITH(passive, notifies = true);
    th.words = false;
    assert_false(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &op, &card, &th));
    th = origin_rdma_thresholds(CH3_RDMA_PROVIDER, &conf_default);
    assert_true(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &op, &provider, &th));
    th = origin_rdma_thresholds(CH3_RDMA_STREAM, &conf_default);
    assert_false(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &op, &stream, &th));

    struct conf conf = conf_default;
    conf.tune.rdma_notify = CONF_RDMA_ON;
    th = origin_rdma_thresholds(CH3_RDMA_STREAM, &conf);
    assert_true(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &op, &stream, &th));
    conf.tune.rdma_notify = CONF_RDMA_OFF;
    th = origin_rdma_thresholds(CH3_RDMA_CARD, &conf);
    assert_false(origin_rdma_takes_word(ORIGIN_RDMA_WRITE, &op, &card, &th));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_and_helped_hardware_take_what_is_large),
        cmocka_unit_test(a_card_takes_all_that_is_passive),
        cmocka_unit_test(a_put_takes_its_notification_with_it),
        cmocka_unit_test(what_asks_for_the_lock_is_a_packet),
        cmocka_unit_test(active_epochs_are_packets_until_there_are_many),
        cmocka_unit_test(pieces_are_bounded),
        cmocka_unit_test(all_can_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
