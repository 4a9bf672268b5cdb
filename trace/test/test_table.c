/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_table.c - table.h: what is put, replaced, taken and walked over, beside an array that says
 * what must be there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../table.h"

enum { KEYS = 500, STEPS = 20000 };

/* Keys that differ in high bits only are there too. */
static uint64_t key_of(unsigned i)
{
    return i % 2 ? (uint64_t)i << 40 : i;
}

static void numbers_are_those_that_were_put_last(void **state)
{
    struct table table = {0};
    uint64_t there[KEYS];
    (void)state;

    for (unsigned i = 0; i < KEYS; i++)
        there[i] = TABLE_NONE;
    srand(1);
    for (unsigned step = 0; step < STEPS; step++) {
        const unsigned i = (unsigned)rand() % KEYS;

        assert_true(table_number(&table, key_of(i)) == there[i]);
        if (rand() % 3 == 0) {
            assert_true(table_take_number(&table, key_of(i)) == there[i]);
            there[i] = TABLE_NONE;
        } else {
            there[i] = step % 5; /* 0 is a number as well */
            table_put_number(&table, key_of(i), there[i]);
        }
    }
    for (unsigned i = 0; i < KEYS; i++)
        assert_true(table_number(&table, key_of(i)) == there[i]);
    table_end(&table, NULL);
    assert_true(table_number(&table, key_of(0)) == TABLE_NONE);
}

static void each_pointer_comes_once(void **state)
{
    static const int values[KEYS];
    bool seen[KEYS] = {false};
    struct table table = {0};
    size_t cursor = 0;
    const int *value;
    (void)state;

    assert_null(table_next(&table, &cursor)); /* nothing is there */
    for (int i = KEYS - 1; i >= 0; i--)
        assert_null(table_put(&table, (uint64_t)i * 7, (void *)(uintptr_t)&values[0]));
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(table_put(&table, (uint64_t)i * 7, (void *)(uintptr_t)&values[i]),
                         &values[0]);
    for (int i = 0; i < KEYS; i += 2)
        assert_ptr_equal(table_take(&table, (uint64_t)i * 7), &values[i]);
    assert_null(table_take(&table, 0));
    assert_null(table_get(&table, 14));
    assert_ptr_equal(table_get(&table, 21), &values[3]);
    cursor = 0;
    while ((value = table_next(&table, &cursor))) {
        assert_false(seen[value - values]);
        seen[value - values] = true;
    }
    for (int i = 0; i < KEYS; i++)
        assert_true(seen[i] == (i % 2 == 1));
    assert_null(table_next(&table, &cursor));
    table_end(&table, NULL);
}

static unsigned ended;

static void end_value(void *value)
{
    free(value);
    ended++;
}

static void the_end_of_a_table_ends_its_values(void **state)
{
    struct table table = {0};
    (void)state;

    for (uint64_t key = 0; key < KEYS; key++)
        assert_null(table_put(&table, key, malloc(1)));
    table_end(&table, end_value);
    assert_int_equal(ended, KEYS);
    assert_null(table_get(&table, 0));
    table_end(&table, end_value); /* it is empty */
    assert_int_equal(ended, KEYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_those_that_were_put_last),
                                       cmocka_unit_test(each_pointer_comes_once),
                                       cmocka_unit_test(the_end_of_a_table_ends_its_values)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
