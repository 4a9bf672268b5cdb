/*
 * test_path.c - the tables of rma/path/path.h: each is found under its number and has every entry,
 * and so has strict's, which stands in front of it.
 */
#include "base_helper.h"

#include <assert.h>
#include <string.h>

#include "rma/path/path.h"
#include "rma/strict/strict.h"

/* An entry more needs a line more in check_table. */
static_assert(sizeof(struct path_ops) == 2 * sizeof(void *) + 7 * sizeof(void (*)(void)),
              "number, name and seven functions");

static void check_table(const struct path_ops *p, int number, const char *name)
{
    assert_non_null(p);
    assert_int_equal(p->number, number);
    assert_string_equal(p->name, name);
    assert_true(p->stage && p->put && p->get && p->accumulate && p->compare_and_swap);
    assert_true(p->flush && p->unlock);
}

static void test_tables(void **state)
{
    static const char *const names[PATH_COUNT] = {"mapped", "cma", "packets"};
    (void)state;
    for (int i = 0; i < PATH_COUNT; i++) {
        check_table(path_by_number[i], i, names[i]);
        check_table(strict_path_by_number[i], i, names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
