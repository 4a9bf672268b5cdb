/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_route.c - the routes of rma/create/route.c, table by table, and how a call goes along one
 * (rma/win/path_ops.h): what stands behind a table, where a call enters, and where a filter hands
 * on to when the route was replaced while a call was in it.
 */
#include "test/support/base_helper.h"

#include "rma/create/route.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/strict/strict.h"
#include "rma/traced/traced_path.h"

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
    is((struct route_facts){.path = PATH_MAPPED}, "stage > ready > joint > mapped", &path_joint);
    is((struct route_facts){.path = PATH_MAPPED, .dynamic = true}, "ready > mapped", &path_mapped);
    is((struct route_facts){.path = PATH_MAPPED, .strict = true}, "ready > strict > mapped",
       &strict_path);
    is((struct route_facts){.path = PATH_ASSISTED}, "stage > ready > joint > cma", &path_stage);
    is((struct route_facts){.path = PATH_ASSISTED, .dynamic = true}, "ready > cma", &path_assisted);
    is((struct route_facts){.path = PATH_ASSISTED, .traced = true},
       "stage > ready > traced > joint > cma", &path_stage);
    is((struct route_facts){.path = PATH_PACKETS}, "ready > shm-packets", &path_packets);
    is((struct route_facts){.path = PATH_PACKETS, .net = true}, "ready > net-packets",
       &path_net_packets);
    is((struct route_facts){.path = PATH_RDMA}, "ready > rdma", &path_rdma);
    is((struct route_facts){.path = PATH_RDMA, .strict = true, .traced = true},
       "ready > strict > traced > rdma", &strict_path);
}

static unsigned bits_of(uint32_t numbers)
{
    return (unsigned)__builtin_popcount(numbers);
}

/* Different routes have different numbers, by which they are listed, and all texts have room. */
static void test_list(void **state)
{
    char buf[1024], text[ROUTE_TEXT];
    uint32_t all = 0;
    (void)state;
    for (unsigned i = 0; i < 16 * PATH_COUNT; i++) {
        struct route r;
        route_build(&r, &(struct route_facts){.path = (enum rma_path)(i % PATH_COUNT),
                                              .dynamic = i / PATH_COUNT & 1,
                                              .strict = i / PATH_COUNT & 2,
                                              .traced = i / PATH_COUNT & 4,
                                              .net = i / PATH_COUNT & 8});
        route_text(&r, text, sizeof text);
        assert_true(strlen(text) < sizeof text - 1);
        route_list(UINT32_C(1) << r.number, buf, sizeof buf);
        assert_string_equal(buf, text);
        all |= UINT32_C(1) << r.number;
    }
    /* Stages or not, of two paths without strict mode, and packets of two kinds; traced or not. */
    assert_int_equal(bits_of(all), 2 * (2 + 2 + 2 + 1) + 2 * (PATH_COUNT + 1));
    route_list(0, buf, sizeof buf);
    assert_string_equal(buf, "");
    route_list(1u << PATH_PACKETS | 1u << PATH_RDMA, buf, sizeof buf);
    assert_string_equal(buf, "ready > shm-packets; ready > rdma");
    route_list(1u << PATH_PACKETS | 1u << PATH_RDMA, buf, 20);
    assert_string_equal(buf, "ready > shm-packets");
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
    struct rma_target t = {.rank = 0};
    (void)state;
    atomic_init(&t.route, &path_lost_route);
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
    route_build(&r, &(struct route_facts){.path = PATH_MAPPED});
    atomic_init(&t.route, &r);
    atomic_init(&w.gen, 2);
    atomic_init(&t.gen, 1);
    assert_ptr_equal(route_enter(&w, &t), &path_stage);
    target_set_ready(&w, &t);
    assert_ptr_equal(route_enter(&w, &t), &path_joint);
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
    assert_string_equal(buf, "ready > s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters), cmocka_unit_test(test_list),
        cmocka_unit_test(test_next),    cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_enter),   cmocka_unit_test(test_short_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
