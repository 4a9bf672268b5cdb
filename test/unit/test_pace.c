/*
 * test_pace.c - which way large copies go, by what some of them have taken (rma/pace.h): nothing before the kernel's
 * rate is known, one trial at a time, longer and longer without one where the ring is slow, back at once where it is
 * not any more, and the kernel looked at again.
 */
#include "base_helper.h"

#include "rma/pace.h"

enum { LEN = PACE_UNIT, KERNEL = 5000, QUICK = 2000, SLOW = 40000 };

/* A batch of n copies that each take ns. */
static unsigned batch(struct pace *p, unsigned n, uint64_t ns)
{
    unsigned timed = 0;
    for (unsigned i = 0; i < n && pace_by_ring(p); i++)
        if (pace_times_ring(p)) {
            pace_add(p, ns / 2, LEN);
            timed++;
        }
    if (pace_waits(p))
        pace_add(p, timed * (ns - ns / 2), 0);
    pace_judge(p);
    assert_false(pace_waits(p));
    return timed;
}

static struct pace known(void)
{
    struct pace p = {0};
    assert_true(pace_times_kernel(&p));
    assert_false(pace_by_ring(&p));
    pace_kernel(&p, KERNEL, LEN);
    assert_false(pace_times_kernel(&p));
    return p;
}

/* Copies of the kernel until the ring's turn. */
static unsigned until_ring(struct pace *p)
{
    for (unsigned n = 0;; n++)
        if (pace_by_ring(p))
            return n;
}

static void test_slow(void **state)
{
    struct pace p = known();
    unsigned last = 0;
    (void)state;
    for (int i = 0; i < 12; i++) {
        assert_int_equal(batch(&p, 1, SLOW), 1);
        assert_true(pace_times_kernel(&p));
        pace_kernel(&p, KERNEL, LEN);
        const unsigned n = until_ring(&p);
        assert_true(i ? n == 2 * last || (n == last && n >= 256) : n > 0);
        last = n;
    }
    assert_in_range(last, 256, 1024);
    assert_int_equal(batch(&p, 1, QUICK), 1); /* the trial finds it near */
    assert_int_equal(until_ring(&p), 1); /* and the kernel is asked once */
    assert_int_equal(batch(&p, 1, SLOW), 0); /* not timed: not seen */
}

/* A trial is one copy: what follows before it is judged goes by the kernel. */
static void test_trial(void **state)
{
    struct pace p = known();
    (void)state;
    assert_true(pace_by_ring(&p) && pace_times_ring(&p));
    pace_add(&p, QUICK, LEN);
    assert_false(pace_by_ring(&p));
    pace_judge(&p);
    assert_int_equal(until_ring(&p), 1);
    assert_true(pace_by_ring(&p) && pace_by_ring(&p));
}

/* Proven ones are timed now and then, all of a batch. */
static void test_some_are_timed(void **state)
{
    struct pace p = known();
    unsigned timed = 0, asked = 0;
    (void)state;
    for (int i = 0; i < 1600; i++) {
        if (pace_times_kernel(&p)) {
            pace_kernel(&p, KERNEL, LEN);
            asked++;
        }
        const unsigned n = batch(&p, 3, QUICK);
        assert_true(n <= 3);
        timed += n != 0;
    }
    assert_in_range(timed, 90, 110);
    assert_in_range(asked, 10, 16);
}

/* The kernel's copies became quicker than the ring's. */
static void test_kernel_quicker(void **state)
{
    struct pace p = known();
    (void)state;
    pace_kernel(&p, 10 * KERNEL, LEN); /* disturbed: counts little */
    assert_in_range(p.kernel, KERNEL, 4 * KERNEL);
    pace_kernel(&p, QUICK / 2, LEN);
    assert_int_equal(batch(&p, 1, QUICK), 1);
    assert_true(until_ring(&p) > 1);
}

static void test_classes(void **state)
{
    (void)state;
    assert_int_equal(pace_class(PACE_HUGE_MIN - 1), PACE_CACHED);
    assert_int_equal(pace_class(PACE_HUGE_MIN), PACE_HUGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slow), cmocka_unit_test(test_trial),
                                       cmocka_unit_test(test_some_are_timed), cmocka_unit_test(test_kernel_quicker),
                                       cmocka_unit_test(test_classes)};
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
