/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_edit_distance.c - how far words are from each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/edit_distance.h"

static size_t distance(const char *word, const char *known)
{
    return edit_distance(word, strlen(word), known);
}

static void test_letters(void **state)
{
    (void)state;
    assert_int_equal(distance("", ""), 0);
    assert_int_equal(distance("json", "json"), 0);
    assert_int_equal(distance("jsn", "json"), 1);
    assert_int_equal(distance("jsoon", "json"), 1);
    assert_int_equal(distance("jaon", "json"), 1);
    assert_int_equal(distance("", "json"), 4);
    assert_int_equal(distance("kitten", "sitting"), 3);
}

/* The word goes on behind len, as an option's does with its value. */
static void test_beginning(void **state)
{
    (void)state;
    assert_int_equal(edit_distance("json=yes", 4, "json"), 0);
}

/* What is longer than the table's row is cut, of either. */
static void test_long(void **state)
{
    char longer[201];

    (void)state;
    memset(longer, 'a', sizeof longer);
    longer[200] = '\0';
    assert_int_equal(distance(longer, longer), 0);
    assert_int_equal(distance(longer, "a"), 63);
    assert_int_equal(distance("b", longer), 64);
}

static void test_near(void **state)
{
    (void)state;
    assert_true(nearest_is_near("jsno", 4, "json"));
    assert_true(nearest_is_near("json=yes", 4, "json"));
    assert_false(nearest_is_near("jumper", 6, "json"));
    assert_false(nearest_is_near("", 0, "json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_beginning),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_near),
    };

    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
