/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_path.c - the tables of a route (rma/win/path_ops.h), ways and filters, and the tables of
 * synchronization: each has every entry.
 */
#include "test/support/base_helper.h"

#include <assert.h>

#include "rma/path/path.h"
#include "rma/strict/strict.h"
#include "rma/sync/sync.h"
#include "rma/traced/traced_path.h"

/* An entry more needs a line more in check_table. */
static_assert(sizeof(struct path_ops) == sizeof(char *) + 3 * sizeof(void (*)(void)),
              "a name, and three functions");

static void check_table(const struct path_ops *p)
{
    assert_non_null(p);
    assert_true(p->name && p->operate && p->flush && p->unlock);
}

static void test_tables(void **state)
{
    (void)state;
    check_table(&path_mapped);
    check_table(&path_assisted);
    check_table(&path_packets);
    check_table(&path_net_packets);
    check_table(&path_rdma);
    check_table(&path_lost);
    check_table(&path_stage);
    check_table(&path_ready);
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
