/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_joint_choice.c - which copies origin and target make together (rma/path/joint_choice.c):
 * each fact and each limit decides by itself.
 */
#include "test/support/base_helper.h"

#include "base/conf.h"
#include "rma/path/joint_choice.h"

enum { KIB = 1024 };

/* A put of 64 KiB from a buffer in shared memory, to memory that is mapped here. */
static const struct joint_facts shared = {
    .len = 64 * KIB, .copy = true, .contig = true, .helped = true, .mapped = true, .shared = true};

static void is(struct joint_facts op, bool joint)
{
    assert_int_equal(joint_choose(&op, &conf_default), joint);
}

#define WITH(change)                    \
    do {                                \
        struct joint_facts op = shared; \
        op.change;                      \
        is(op, false);                  \
    } while (0)

static void each_fact(void **state)
{
    (void)state;
    is(shared, true);
    WITH(len = 64 * KIB - 1);
    WITH(len = JOINT_MOST + 1);
    WITH(copy = false);
    WITH(contig = false);
    WITH(awaited = true);
    WITH(self = true);
    WITH(oversubscribed = true);
    WITH(helped = false);
    WITH(shared = false); /* nor does the kernel reach the buffer */
}

static void private_buffers(void **state)
{
    struct joint_facts op = shared;
    (void)state;
    op.shared = false;
    op.kernel = true;
    is(op, false);
    op.len = 2048 * KIB - 1;
    is(op, false);
    op.len++;
    is(op, true);
    op.mapped = false; /* the kernel copies on both sides */
    op.len = 64 * KIB;
    is(op, true);
    op.len--;
    is(op, false);
}

static void limits(void **state)
{
    struct conf conf = conf_default;
    struct joint_facts op = shared;
    (void)state;
    conf.tune.joint_copy = 0;
    op.len = 1024 * KIB;
    assert_false(joint_choose(&op, &conf));
    conf.tune.joint_copy = 100;
    conf.tune.joint_copy_private = 10;
    op.len = 100;
    assert_true(joint_choose(&op, &conf));
    op.shared = false;
    op.kernel = true;
    op.len = 99; /* the smaller limit does not undo the other */
    assert_false(joint_choose(&op, &conf));
}

static void fences(void **state)
{
    struct joint_facts op = shared;
    (void)state;
    op.fence = true;
    op.len = 512 * KIB - 1;
    assert_false(joint_choose(&op, &conf_default));
    op.len++;
    assert_true(joint_choose(&op, &conf_default));
}

static void chunks(void **state)
{
    (void)state;
    assert_int_equal(joint_chunk_bytes(2), 4 * KIB);
    assert_int_equal(joint_chunk_bytes(64 * KIB), 32 * KIB); /* one for each */
    assert_int_equal(joint_chunk_bytes(64 * KIB + 2), 36 * KIB);
    assert_int_equal(joint_chunk_bytes(128 * KIB), 64 * KIB);
    assert_int_equal(joint_chunk_bytes(1024 * KIB), 64 * KIB);
    assert_int_equal(joint_chunk_bytes(2048 * KIB + 1), 128 * KIB);
    assert_int_equal(joint_chunk_bytes(JOINT_MOST), 256 * KIB);
    assert_true(JOINT_MOST / joint_chunk_bytes(JOINT_MOST) < 1 << 16); /* joint_board.h counts so
                                                                          far */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fact), cmocka_unit_test(private_buffers), cmocka_unit_test(limits),
        cmocka_unit_test(fences),    cmocka_unit_test(chunks),
    };
    return cmocka_run_group_tests_name("joint choice", tests, NULL, NULL);
}
