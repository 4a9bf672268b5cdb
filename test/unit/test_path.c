/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_path.c - the tables of rma/path/path.h, what MPIRMA_STRICT and MPIRMA_TRACE put in front of
 * them, and the tables of synchronization: each has every entry.
 */
#include "base_helper.h"

#include <assert.h>

#include "rma/path/path.h"
#include "rma/strict/strict.h"
#include "rma/sync/sync.h"
#include "rma/traced/traced.h"

/* An entry more needs a line more in check_table. */
static_assert(sizeof(struct path_ops) == 3 * sizeof(void (*)(void)), "three functions");

static void check_table(const struct path_ops *p)
{
    assert_non_null(p);
    assert_true(p->operate && p->flush && p->unlock);
}

static void test_tables(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PATH_COUNT; i++)
        check_table(path_by_number[i]);
    check_table(&path_unready);
    check_table(&path_stage_first);
    check_table(&strict_path);
    check_table(&traced_path);
}

/* An entry more needs a line more in check_sync. */
static_assert(sizeof(struct sync_ops) == 13 * sizeof(void (*)(void)), "thirteen functions");

static void check_sync(const struct sync_ops *s)
{
    assert_true(s->access && s->accessible && s->await);
    assert_true(s->post && s->complete && s->completed && s->take && s->end_phase);
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
