/*
 * test_path.c - the tables of rma/path/path.h: each is found under its number and has every entry,
 * and so have strict's, which stands in front of it, and those of synchronization.
 */
#include "base_helper.h"

#include <assert.h>
#include <string.h>

#include "rma/path/path.h"
#include "rma/strict/strict.h"
#include "rma/sync/sync.h"

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
    static const char *const names[PATH_COUNT] = {"mapped", "cma", "packets", "rdma"};
    (void)state;
    for (int i = 0; i < PATH_COUNT; i++) {
        check_table(path_by_number[i], i, names[i]);
        check_table(strict_path_by_number[i], i, names[i]);
    }
}

/* An entry more needs a line more in check_sync. */
static_assert(sizeof(struct sync_ops) == 11 * sizeof(void (*)(void)), "eleven functions");

static void check_sync(const struct sync_ops *s)
{
    assert_true(s->access && s->post && s->complete && s->completed && s->take && s->end_phase);
    assert_true(s->lock && s->unlock && s->lock_all && s->enter && s->tell_lost);
}

static void test_sync(void **state)
{
    (void)state;
    check_sync(&sync_by_memory);
    check_sync(&sync_by_packets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_sync)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
