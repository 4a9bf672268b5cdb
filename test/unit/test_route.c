/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_route.c - the routes of rma/create/route.c, table by table, and how a call goes along one
 * (rma/win/route.h): what stands behind a table, where a call enters, and where a filter hands on
 * to when the route was replaced while a call was in it.
 */
#include "base_helper.h"

#include "rma/create/win_create.h"
#include "rma/path/path.h"
#include "rma/strict/strict.h"
#include "rma/traced/traced.h"

/* The route for these facts has this text, and a call whose target is known to be accessible enters
 * at this table. */
static void is(struct route_facts facts, const char *text, const struct path_ops *known)
{
    char buf[ROUTE_TEXT];
    struct route r;
    route_build(&r, &facts);
    route_text(&r, buf, sizeof buf);
    assert_string_equal(buf, text);
    assert_ptr_equal(r.ops[r.known], known);
}

static void test_filters(void **state)
{
    (void)state;
    is((struct route_facts){.path = PATH_MAPPED}, "ready > mapped", &path_mapped);
    is((struct route_facts){.path = PATH_MAPPED, .stages = true}, "stage > ready > mapped",
       &path_mapped);
    is((struct route_facts){.path = PATH_ASSISTED}, "ready > assisted", &path_assisted);
    is((struct route_facts){.path = PATH_ASSISTED, .stages = true}, "stage > ready > assisted",
       &path_stage);
    is((struct route_facts){.path = PATH_PACKETS}, "ready > packets", &path_packets);
    is((struct route_facts){.path = PATH_RDMA}, "ready > rdma", &path_rdma);
    is((struct route_facts){.path = PATH_PACKETS, .traced = true}, "ready > traced > packets",
       &traced_path);
    is((struct route_facts){.path = PATH_RDMA, .strict = true}, "ready > strict > rdma",
       &strict_path);
}

/* The longest route has room, and its text too. */
static void test_longest(void **state)
{
    const struct route_facts all = {
        .path = PATH_ASSISTED, .stages = true, .strict = true, .traced = true};
    struct route r;
    (void)state;
    is(all, "stage > ready > strict > traced > assisted", &path_stage);
    route_build(&r, &all);
    assert_int_equal(r.n, ROUTE_MAX);
}

static void test_next(void **state)
{
    struct rma_target t = {.rank = 0};
    struct route r;
    (void)state;
    route_build(&r, &(struct route_facts){.path = PATH_PACKETS, .strict = true, .traced = true});
    atomic_init(&t.route, &r);
    assert_ptr_equal(route_next(&t, &path_ready), &strict_path);
    assert_ptr_equal(route_next(&t, &strict_path), &traced_path);
    assert_ptr_equal(route_next(&t, &traced_path), &path_packets);
    assert_ptr_equal(route_next(&t, &path_packets), &path_packets);
    assert_ptr_equal(route_way(&r), &path_packets);
}

/* A filter that the new route does not have hands on to its way; one that it has goes on there. */
static void test_replaced(void **state)
{
    static const struct route lost = {.ops = {&path_ready, &path_lost}, .n = 2, .known = 1};
    struct rma_target t = {.rank = 0};
    (void)state;
    atomic_init(&t.route, &lost);
    assert_ptr_equal(route_next(&t, &path_stage), &path_lost);
    assert_ptr_equal(route_next(&t, &strict_path), &path_lost);
    assert_ptr_equal(route_next(&t, &path_ready), &path_lost);
}

/* As long as the target is not known to be accessible a call enters at the first table. */
static void test_enter(void **state)
{
    struct rma_target t = {.rank = 0};
    struct win w = {.rank = 0};
    struct route r;
    (void)state;
    route_build(&r, &(struct route_facts){.path = PATH_MAPPED, .stages = true});
    atomic_init(&t.route, &r);
    atomic_init(&w.gen, 2);
    atomic_init(&t.gen, 1);
    assert_ptr_equal(route_enter(&w, &t), &path_stage);
    target_set_ready(&w, &t);
    assert_ptr_equal(route_enter(&w, &t), &path_mapped);
    win_next_gen(&w);
    assert_ptr_equal(route_enter(&w, &t), &path_stage);
}

/* What does not fit is cut, and ends. */
static void test_short_text(void **state)
{
    char buf[10];
    struct route r;
    (void)state;
    route_build(&r, &(struct route_facts){.path = PATH_PACKETS});
    route_text(&r, buf, sizeof buf);
    assert_string_equal(buf, "ready > p");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters), cmocka_unit_test(test_longest),
        cmocka_unit_test(test_next),    cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_enter),   cmocka_unit_test(test_short_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
