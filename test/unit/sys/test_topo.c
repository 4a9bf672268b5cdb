/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_topo.c - base/topo: the bit mask, binding, and agreement with hwloc.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <errno.h>
#include <sched.h>

#include "base/err.h"
#include "sys/topo.h"

static void counting_and_joining(void **state)
{
    struct topo_cpuset a = {{0}}, b = {{0}};
    (void)state;

    assert_int_equal(sizeof a, 128);
    assert_int_equal(topo_cpuset_count(&a), 0);
    a.word[0] = 5;
    a.word[15] = UINT64_C(1) << 63;
    b.word[0] = 6;
    b.word[7] = UINT64_MAX;
    assert_int_equal(topo_cpuset_count(&a), 3);
    topo_cpuset_or(&a, &b);
    assert_int_equal(topo_cpuset_count(&a), 3 + 1 + 64);
    assert_true(a.word[0] == 7 && a.word[7] == UINT64_MAX && a.word[15] == UINT64_C(1) << 63);
    assert_int_equal(topo_cpuset_count(&b), 66);
}

static void the_own_set_is_the_schedulers(void **state)
{
    struct topo_cpuset set;
    cpu_set_t mask;
    (void)state;

    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    assert_int_equal(topo_cpuset_self(&set), MRMA_SUCCESS);
    assert_int_equal(topo_cpuset_count(&set), CPU_COUNT(&mask));
    for (unsigned i = 0; i < CPU_SETSIZE; i++)
        assert_int_equal(set.word[i / 64] >> (i % 64) & 1, CPU_ISSET(i, &mask) != 0);
}

/* Bind to the last allowed unit; both functions must see that one only. */
static int bound_child(void *arg)
{
    struct topo_cpuset set;
    struct topo topo;
    cpu_set_t mask, one;
    int last = CPU_SETSIZE - 1;
    (void)arg;

    CHILD_CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    while (!CPU_ISSET(last, &mask))
        last--;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    CHILD_CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHILD_CHECK(topo_cpuset_self(&set) == MRMA_SUCCESS);
    CHILD_CHECK(topo_cpuset_count(&set) == 1);
    CHILD_CHECK(set.word[last / 64] == UINT64_C(1) << (last % 64));
    CHILD_CHECK(topo_load(&topo, NULL) == MRMA_SUCCESS);
    CHILD_CHECK(topo.allowed == 1 && memcmp(&topo.cpuset, &set, sizeof set) == 0);
    CHILD_CHECK(topo.pus >= (unsigned)CPU_COUNT(&mask)); /* the node keeps its units */
    return 0;
}

static void binding_shows(void **state)
{
    (void)state;
    expect_child(run_child(bound_child, NULL), "");
}

/* topo_pin leaves out what the machine lacks, and refuses what is no unit of it. */
static int pinned_child(void *arg)
{
    struct topo_cpuset set;
    cpu_set_t mask;
    const pthread_t self = pthread_self();
    int last = CPU_SETSIZE - 1;
    char list[32];
    (void)arg;

    CHILD_CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    while (!CPU_ISSET(last, &mask))
        last--;
    CHILD_CHECK(topo_pin(self, "1023") == EINVAL && topo_pin(self, "x") == EINVAL);
    CHILD_CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_ISSET(last, &mask));
    snprintf(list, sizeof list, "%d,1023", last);
    CHILD_CHECK(topo_pin(self, list) == 0);
    CHILD_CHECK(topo_cpuset_self(&set) == MRMA_SUCCESS);
    CHILD_CHECK(topo_cpuset_count(&set) == 1);
    CHILD_CHECK(set.word[last / 64] == UINT64_C(1) << (last % 64));
    return 0;
}

static void pinning_binds(void **state)
{
    (void)state;
    expect_child(run_child(pinned_child, NULL), "");
}

static void the_machine_makes_sense(void **state)
{
    struct topo topo;
    char expected[32];
    (void)state;

    assert_int_equal(topo_load(&topo, NULL), MRMA_SUCCESS);
    assert_int_equal(topo.allowed, topo_cpuset_count(&topo.cpuset));
    assert_true(topo.allowed >= 1 && topo.allowed <= topo.pus);
    assert_true(topo.cores <= topo.pus && topo.numa >= 1);
    snprintf(expected, sizeof expected, "%u PU%s,", topo.pus, topo.pus == 1 ? "" : "s");
    assert_non_null(strstr(topo.summary, expected));
    assert_null(strchr(topo.summary, '\n'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_and_joining),    cmocka_unit_test(the_own_set_is_the_schedulers),
        cmocka_unit_test(binding_shows),           cmocka_unit_test(pinning_binds),
        cmocka_unit_test(the_machine_makes_sense),
    };
    return cmocka_run_group_tests_name("topo", tests, NULL, NULL);
}
