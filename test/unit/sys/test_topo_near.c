/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_topo_near.c - sys/topo_near on a made machine: who is near, and how devices are shared.
 */
#include "test/support/base_helper.h"

#include "test/support/near_machine.h"
#include "sys/topo_near.h"

enum { MOST = 12 };

static const struct topo_pci four[] = {
    {true, 0, 0x10, 0, 0}, {true, 0, 0x20, 0, 0}, {true, 0, 0x30, 0, 0}, {true, 0, 0x40, 0, 0}};

/* Process i may run on the units units[i], and takes device wanted[i]. */
static void takes(const struct topo_pci *devices, unsigned n, const unsigned *units,
                  const unsigned *wanted, unsigned nprocs)
{
    struct topo_cpuset cpus[MOST];
    memset(cpus, 0, sizeof cpus);
    near_machine();
    for (unsigned i = 0; i < nprocs; i++) {
        cpus[i].word[0] = units[i];
        assert_int_equal(topo_share_devices(devices, n, cpus, i + 1, NULL).device, wanted[i]);
    }
}

#define TAKES(devices, units, wanted) \
    takes(devices, sizeof devices / sizeof *devices, units, wanted, sizeof units / sizeof *units)

static uint64_t nearest(const struct topo_pci *devices, unsigned n, uint64_t units)
{
    const struct topo_cpuset cpus = {{units}};
    near_machine();
    return topo_share_devices(devices, n, &cpus, 1, NULL).nearest;
}

static void near_is_what_is_beside(void **state)
{
    (void)state;
    assert_int_equal(nearest(four, 4, 1), 3);
    assert_int_equal(nearest(four, 4, 2), 3);
    assert_int_equal(nearest(four, 4, 3), 3);
    assert_int_equal(nearest(four, 4, 4), 12);
    assert_int_equal(nearest(four, 4, 12), 12);
    assert_int_equal(nearest(four, 4, 6), 15);
    assert_int_equal(nearest(four, 4, 15), 15);
    assert_int_equal(nearest(four + 2, 2, 1), 3); /* none is beside it */
}

static void units_that_are_not_there_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(nearest(four, 4, 4 | UINT64_C(1) << 40), 12);
    assert_int_equal(nearest(four, 4, UINT64_C(1) << 40), 15);
    assert_int_equal(nearest(four, 4, 0), 15);
}

static void packages_one_after_the_other(void **state)
{
    static const unsigned units[] = {1, 1, 2, 2, 4, 4, 8, 8}, wanted[] = {0, 1, 0, 1, 2, 3, 2, 3};
    (void)state;
    TAKES(four, units, wanted);
}

static void packages_in_turn(void **state)
{
    static const unsigned units[] = {1, 4, 2, 8, 1, 4, 2, 8}, wanted[] = {0, 2, 1, 3, 0, 2, 1, 3};
    (void)state;
    TAKES(four, units, wanted);
}

/* Who may run everywhere takes what the others have left. */
static void bound_and_free(void **state)
{
    static const unsigned units[] = {1, 2, 15, 15, 4, 15}, wanted[] = {0, 1, 2, 3, 2, 0};
    (void)state;
    TAKES(four, units, wanted);
}

static void places_are_not_known(void **state)
{
    static const struct topo_pci some[] = {{.known = false}, {true, 0, 0x20, 0, 0}},
                                 absent[] = {{true, 0, 0x50, 0, 0}, {true, 1, 0x10, 0, 0}};
    static const unsigned units[] = {1, 1, 4, 4}, near[] = {1, 1, 0, 0}, turns[] = {0, 1, 0, 1};
    (void)state;
    TAKES(some, units, near);
    TAKES(absent, units, turns);
}

static void processes_are_not_known(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        const struct topo_share share = topo_share_devices(four, 3, NULL, i + 1, NULL);
        assert_true(share.device == i % 3 && share.nearest == 7);
    }
}

/* As many as there may be. */
static void many_devices(void **state)
{
    struct topo_pci devices[TOPO_NEAR_MAX];
    (void)state;
    for (unsigned i = 0; i < TOPO_NEAR_MAX; i++)
        devices[i] = four[3];
    assert_true(nearest(devices, TOPO_NEAR_MAX, 8) == UINT64_MAX);
    devices[TOPO_NEAR_MAX - 1] = four[0];
    assert_true(nearest(devices, TOPO_NEAR_MAX, 1) == UINT64_C(1) << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_is_what_is_beside),
        cmocka_unit_test(units_that_are_not_there_do_not_count),
        cmocka_unit_test(packages_one_after_the_other),
        cmocka_unit_test(packages_in_turn),
        cmocka_unit_test(bound_and_free),
        cmocka_unit_test(places_are_not_known),
        cmocka_unit_test(processes_are_not_known),
        cmocka_unit_test(many_devices),
    };
    return cmocka_run_group_tests_name("topo_near", tests, NULL, NULL);
}
