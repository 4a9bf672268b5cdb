/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_atomics_choice.c - which accumulates of a window the network's cards do
 * (rma/origin/atomics_choice.h): each fact decides by itself, and no type is done by card and
 * processor unless the program says that its operations do not meet.
 */
#include "test/support/base_helper.h"

#include "rma/origin/atomics_choice.h"

#define BIT(op) (1u << (op))
#define EVERY_OP (BIT(ACC_OP_LAST) - 1)

/* All that can be asked for. */
static struct origin_atomics_facts ideal(void)
{
    struct origin_atomics_facts f = {
        .asked = true, .apart = true, .registered = true, .which_ops = EVERY_OP};
    for (int type = 0; type < CH3_ATOMIC_TYPES; type++)
        f.takes.ops[type] = (uint16_t)EVERY_OP;
    return f;
}

/* Fetch and add, and compare and swap, on 64 bits. */
static struct origin_atomics_facts small_card(void)
{
    struct origin_atomics_facts f = ideal();
    for (int type = 0; type < CH3_ATOMIC_TYPES; type++)
        f.takes.ops[type] = 0;
    f.takes.ops[CH3_ATOMIC_I64] = f.takes.ops[CH3_ATOMIC_U64] =
        BIT(CH3_ATOMIC_SUM) | BIT(CH3_ATOMIC_CAS);
    return f;
}

static void is_off(const struct origin_atomics_facts *f, enum origin_atomics_why why)
{
    const struct origin_atomics_choice choice = origin_atomics_choose(f);
    assert_int_equal(choice.why, why);
    for (int type = 0; type < CH3_ATOMIC_TYPES; type++)
        assert_int_equal(choice.ops[type], 0);
    assert_true(origin_atomics_why_text(why)[0] != '\0');
}

static void each_fact_is_needed(void **state)
{
    struct origin_atomics_facts f = ideal();
    (void)state;
    assert_int_equal(origin_atomics_choose(&f).why, ORIGIN_ATOMICS_USED);
    f.asked = false;
    is_off(&f, ORIGIN_ATOMICS_NOT_ASKED);
    f = ideal();
    f.apart = false;
    is_off(&f, ORIGIN_ATOMICS_NODE_SHARED);
    f = ideal();
    f.registered = false;
    is_off(&f, ORIGIN_ATOMICS_UNREACHED);
    f = ideal();
    f.by_processor = true;
    is_off(&f, ORIGIN_ATOMICS_BY_PROCESSOR);
    f = small_card();
    is_off(&f, ORIGIN_ATOMICS_NOT_TAKEN);
    f.unordered = true;
    is_off(&f, ORIGIN_ATOMICS_NOT_TAKEN);
}

static void what_mpi_allows_on_a_type_is_chosen(void **state)
{
    const struct origin_atomics_facts f = ideal();
    const struct origin_atomics_choice choice = origin_atomics_choose(&f);
    (void)state;
    for (int type = 0; type < CH3_ATOMIC_TYPES; type++)
        for (int op = 1; op < CH3_ATOMIC_OPS; op++)
            assert_int_equal(
                choice.ops[type] >> op & 1,
                acc_allowed((enum acc_op)op, origin_atomics_acc_type((enum ch3_atomic_type)type)));
    assert_true(choice.ops[CH3_ATOMIC_U8] & BIT(CH3_ATOMIC_CAS));
    assert_false(choice.ops[CH3_ATOMIC_F64] & BIT(CH3_ATOMIC_CAS));
    assert_false(choice.ops[CH3_ATOMIC_F64] & BIT(CH3_ATOMIC_BAND));
}

/* One that is missing: all of its type go another way, and no other type's. */
static void a_type_goes_as_a_whole(void **state)
{
    (void)state;
    for (int op = 0; op < CH3_ATOMIC_OPS; op++) {
        struct origin_atomics_facts f = ideal();
        const uint16_t whole = origin_atomics_choose(&f).ops[CH3_ATOMIC_I32];
        f.takes.ops[CH3_ATOMIC_I32] &= (uint16_t)~BIT(op);
        const struct origin_atomics_choice choice = origin_atomics_choose(&f);
        assert_int_equal(choice.ops[CH3_ATOMIC_I32], whole & BIT(op) ? 0 : whole);
        assert_int_equal(choice.ops[CH3_ATOMIC_U32], whole);
        assert_int_equal(choice.why, ORIGIN_ATOMICS_USED);
    }
}

static void what_is_not_used_need_not_be_there(void **state)
{
    struct origin_atomics_facts f = small_card();
    (void)state;
    f.which_ops = BIT(ACC_SUM) | BIT(ACC_OP_NONE);
    const struct origin_atomics_choice choice = origin_atomics_choose(&f);
    assert_int_equal(choice.why, ORIGIN_ATOMICS_USED);
    assert_int_equal(choice.ops[CH3_ATOMIC_U64], f.takes.ops[CH3_ATOMIC_U64]);
    assert_int_equal(choice.ops[CH3_ATOMIC_F64], 0);
    f.which_ops |= BIT(ACC_NO_OP);
    is_off(&f, ORIGIN_ATOMICS_NOT_TAKEN);
}

static void same_op_without_order_lets_each_pair_go_its_way(void **state)
{
    struct origin_atomics_facts f = small_card();
    (void)state;
    f.same_op = true;
    is_off(&f, ORIGIN_ATOMICS_NOT_TAKEN); /* an origin's own are ordered across operations */
    f.unordered = true;
    const struct origin_atomics_choice choice = origin_atomics_choose(&f);
    assert_int_equal(choice.why, ORIGIN_ATOMICS_USED);
    assert_int_equal(choice.ops[CH3_ATOMIC_I64], BIT(CH3_ATOMIC_SUM) | BIT(CH3_ATOMIC_CAS));
    assert_int_equal(choice.ops[CH3_ATOMIC_I32], 0);
    f.which_ops = BIT(ACC_MAX);
    is_off(&f, ORIGIN_ATOMICS_NOT_TAKEN);
}

static void types_have_numbers_and_sizes(void **state)
{
    (void)state;
    for (int type = 0; type < CH3_ATOMIC_TYPES; type++) {
        const enum acc_type acc = origin_atomics_acc_type((enum ch3_atomic_type)type);
        assert_int_equal(origin_atomics_type(acc), type);
        assert_int_equal(origin_atomics_size((enum ch3_atomic_type)type), acc_extent(acc));
    }
    assert_int_equal(origin_atomics_type(ACC_NONE), -1);
    assert_int_equal(origin_atomics_type(ACC_BYTE), -1);
    assert_int_equal(origin_atomics_type(ACC_PAIR_F64_I32), -1);
    assert_int_equal(origin_atomics_type(ACC_F80), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fact_is_needed),
        cmocka_unit_test(what_mpi_allows_on_a_type_is_chosen),
        cmocka_unit_test(a_type_goes_as_a_whole),
        cmocka_unit_test(what_is_not_used_need_not_be_there),
        cmocka_unit_test(same_op_without_order_lets_each_pair_go_its_way),
        cmocka_unit_test(types_have_numbers_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
