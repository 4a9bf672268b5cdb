/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_list.c - base/list: order, removal while walking, splicing.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include "base/list.h"

struct thing {
    int id;
    struct list_node node;
};

/* Forward and backward the list must show exactly the ids in the text, one digit each. */
static void expect_ids(const struct list *list, const char *ids)
{
    size_t n = strlen(ids), i = 0;

    LIST_EACH (node, list) {
        assert_true(i < n);
        assert_int_equal(LIST_ENTRY(node, struct thing, node)->id, ids[i] - '0');
        assert_true(list_node_queued(node));
        i++;
    }
    assert_int_equal(i, n);
    for (struct list_node *node = list_last(list); node != NULL; node = list_prev(list, node))
        assert_int_equal(LIST_ENTRY(node, struct thing, node)->id, ids[--i] - '0');
    assert_int_equal(i, 0);
    assert_int_equal(list_empty(list), n == 0);
}

static void things_init(struct thing *things, int n)
{
    for (int i = 0; i < n; i++) {
        things[i].id = i;
        list_node_init(&things[i].node);
    }
}

static void both_ends_keep_order(void **state)
{
    struct list list;
    struct thing t[4];
    (void)state;

    list_init(&list);
    things_init(t, 4);
    expect_ids(&list, "");
    assert_null(list_first(&list));
    assert_null(list_last(&list));
    assert_null(list_pop_front(&list));
    list_push_back(&list, &t[1].node);
    expect_ids(&list, "1");
    list_push_back(&list, &t[2].node);
    list_push_front(&list, &t[0].node);
    list_insert_after(&t[1].node, &t[3].node);
    expect_ids(&list, "0132");
    assert_ptr_equal(list_next(&list, &t[1].node), &t[3].node);
    assert_null(list_next(&list, &t[2].node));
    assert_ptr_equal(list_pop_front(&list), &t[0].node);
    assert_false(list_node_queued(&t[0].node));
    expect_ids(&list, "132");
}

static void removal_works_at_every_place_and_while_walking(void **state)
{
    struct list list;
    struct thing t[6];
    (void)state;

    list_init(&list);
    things_init(t, 6);
    for (int i = 0; i < 6; i++)
        list_push_back(&list, &t[i].node);
    list_remove(&t[0].node);
    list_remove(&t[5].node);
    list_remove(&t[2].node);
    expect_ids(&list, "134");
    LIST_EACH_SAFE (node, &list) {
        struct thing *thing = LIST_ENTRY(node, struct thing, node);
        if (thing->id != 3) {
            list_remove(node);
            memset(thing, 0xee, sizeof *thing);
        }
    }
    expect_ids(&list, "3");
    list_remove(&t[3].node);
    expect_ids(&list, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_keep_order),
        cmocka_unit_test(removal_works_at_every_place_and_while_walking),
    };
    return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
