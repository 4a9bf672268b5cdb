/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_strict_ranges.c - the ranges of strict mode against a byte-by-byte record
 * of all accesses, and what happens when there are too many.
 */
#include "test/support/base_helper.h"

#include "rma/strict/strict_ranges.h"

enum { BYTES = 200, KINDS = 8, ROUNDS = 300, OPS = 60 };

static const struct strict_access kinds[KINDS] = {
    {.kind = STRICT_PUT},
    {.kind = STRICT_GET},
    {.kind = STRICT_ACC, .basic = ACC_I32, .op = ACC_SUM},
    {.kind = STRICT_ACC, .basic = ACC_I32, .op = ACC_PROD},
    {.kind = STRICT_ACC, .basic = ACC_I32, .op = ACC_NO_OP},
    {.kind = STRICT_ACC, .basic = ACC_I32, .op = ACC_OP_NONE}, /* compare-and-swap */
    {.kind = STRICT_ACC, .basic = ACC_F64, .op = ACC_SUM},
    {.kind = STRICT_ACC, .basic = ACC_F64, .op = ACC_NO_OP},
};

/* 1: always, 2: with STRICT_SAME_OP, 3: with both. Upper half; it is symmetric. */
static const char pairs[KINDS][KINDS] = {
    {1, 1, 1, 1, 1, 1, 1, 1}, /* put */
    {0, 0, 1, 1, 0, 1, 1, 0}, /* get */
    {0, 0, 0, 3, 2, 0, 1, 1}, /* sum */
    {0, 0, 0, 0, 2, 0, 1, 1}, /* prod */
    {0, 0, 0, 0, 0, 0, 1, 0}, /* no_op */
    {0, 0, 0, 0, 0, 0, 1, 1}, /* cas */
    {0, 0, 0, 0, 0, 0, 0, 2}, /* sum, another type */
    {0, 0, 0, 0, 0, 0, 0, 0},
};

static bool pair_conflicts(int a, int b, enum strict_same same)
{
    const char when = a < b ? pairs[a][b] : pairs[b][a];
    return when == 1 || (when == 2 && same == STRICT_SAME_OP) ||
           (when == 3 && same != STRICT_SAME_TYPE);
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(*seed >> 33) % n;
}

static bool byte_conflicts(unsigned seen, int kind, enum strict_same same)
{
    for (int k = 0; k < KINDS; k++)
        if (seen >> k & 1 && pair_conflicts(k, kind, same))
            return true;
    return false;
}

static void check_order(const struct strict_ranges *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        assert_true(r->v[i].lo < r->v[i].hi);
        assert_true(i == 0 || r->v[i - 1].hi <= r->v[i].lo);
    }
}

static void one_round(uint64_t *seed, enum strict_same same)
{
    struct strict_ranges r = {.v = NULL};
    unsigned seen[BYTES] = {0};

    for (int n = 0; n < OPS; n++) {
        int kind = (int)random_below(seed, KINDS);
        if (same == STRICT_SAME_OP && kinds[kind].kind == STRICT_ACC &&
            kinds[kind].op == ACC_OP_NONE)
            kind = 0; /* a range forgets MPI_NO_OP for compare-and-swap */
        struct strict_access a = kinds[kind];
        bool expected = false;
        a.lo = random_below(seed, BYTES - 1);
        a.hi = a.lo + 1 + random_below(seed, (uint32_t)(BYTES - a.lo < 24 ? BYTES - a.lo : 24));
        for (uint64_t i = a.lo; i < a.hi; i++)
            expected = expected || byte_conflicts(seen[i], kind, same);
        assert_int_equal(strict_ranges_conflict(&r, &a, same) != NULL, expected);
        if (!expected) {
            strict_ranges_add(&r, a);
            for (uint64_t i = a.lo; i < a.hi; i++)
                seen[i] |= 1u << kind;
        }
        check_order(&r);
    }
    assert_false(r.incomplete);
    strict_ranges_free(&r);
}

static void ranges_know_what_every_byte_knows(void **state)
{
    uint64_t seed = 20261121;
    (void)state;

    for (int i = 0; i < ROUNDS; i++)
        one_round(&seed, (enum strict_same)(i % 3));
}

static void neighbours_are_one_range(void **state)
{
    struct strict_ranges r = {.v = NULL};
    (void)state;

    for (uint64_t i = 0; i < 3 * (uint64_t)STRICT_RANGES_MAX; i++)
        strict_ranges_add(&r,
                          (struct strict_access){.lo = 8 * i, .hi = 8 * i + 8, .kind = STRICT_PUT});
    assert_int_equal(r.n, 1);
    strict_ranges_clear(&r);
    for (uint64_t i = 1000; i > 0; i--)
        strict_ranges_add(&r,
                          (struct strict_access){.lo = 8 * i, .hi = 8 * i + 8, .kind = STRICT_GET});
    assert_int_equal(r.n, 1);
    strict_ranges_free(&r);
}

static void reads_are_dropped_and_updates_stay(void **state)
{
    struct strict_ranges r = {.v = NULL};
    const struct strict_access put = {.lo = 0, .hi = 40, .kind = STRICT_PUT};
    (void)state;

    for (int k = 1; k < KINDS - 2; k++) {
        struct strict_access a = kinds[k];
        a.lo = 8 * (uint64_t)k;
        a.hi = a.lo + 4;
        strict_ranges_add(&r, a);
    }
    strict_ranges_drop_reads(&r);
    assert_int_equal(r.n, 3); /* sum, prod, compare-and-swap */
    assert_int_equal(strict_ranges_conflict(&r, &put, STRICT_SAME_TYPE)->op, ACC_SUM);
    strict_ranges_free(&r);
}

static void too_many_are_said_to_be_incomplete(void **state)
{
    struct strict_ranges r = {.v = NULL};
    struct strict_access a = {.kind = STRICT_PUT};
    (void)state;

    for (uint64_t i = 0; i <= STRICT_RANGES_MAX; i++) {
        assert_false(r.incomplete);
        a.lo = 8 * i;
        a.hi = a.lo + 4;
        strict_ranges_add(&r, a);
    }
    assert_true(r.incomplete);
    assert_int_equal(r.n, STRICT_RANGES_MAX);
    a.lo = 0;
    a.hi = 1;
    assert_non_null(
        strict_ranges_conflict(&r, &a, STRICT_SAME_TYPE)); /* what is kept is still found */
    strict_ranges_clear(&r);
    assert_false(r.incomplete);
    strict_ranges_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_know_what_every_byte_knows),
        cmocka_unit_test(neighbours_are_one_range),
        cmocka_unit_test(reads_are_dropped_and_updates_stay),
        cmocka_unit_test(too_many_are_said_to_be_incomplete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
