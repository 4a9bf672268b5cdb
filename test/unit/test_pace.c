/*
 * test_pace.c - which way large copies go, by what some of them have taken (rma/pace.h): nothing before the kernel's
 * rate is known, one trial at a time, longer and longer without one where the ring is slow, back at once where it is
 * not any more, and the kernel looked at again.
 */
#include "base_helper.h"

#include "rma/pace.h"

enum { LEN = PACE_UNIT, KERNEL = 5000, QUICK = 2000, SLOW = 40000 };

/* Copies of the kernel until the ring's turn. */
static unsigned until_ring(struct pace *p)
{
    for (unsigned n = 0;; n++)
        if (pace_by_ring(p))
            return n;
}

/* A batch of n copies that each take ns. */
static unsigned batch(struct pace *p, unsigned n, uint64_t ns)
{
    unsigned timed = 0;
    for (unsigned i = 0; i < n && pace_by_ring(p); i++)
        if (pace_times_ring(p)) {
            pace_add(p, ns / 2, LEN);
            timed++;
        } else {
            pace_add(p, 0, LEN);
        }
    if (pace_waits(p))
        pace_add(p, timed * (ns - ns / 2), 0);
    pace_judge(p);
    assert_false(pace_waits(p));
    return timed;
}

/* What goes through the ring before a trial, one by one. */
static void warm(struct pace *p)
{
    for (unsigned i = 0; p->cold; i++) {
        assert_true(i < 16 && pace_by_ring(p) && !pace_times_ring(p));
        pace_add(p, 0, LEN);
        pace_judge(p);
    }
}

static void kernel_asked(struct pace *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        assert_true(pace_times_kernel(p));
        pace_kernel(p, KERNEL, LEN);
    }
    assert_false(pace_times_kernel(p));
}

/* The kernel's rate is known, and that the other ways to fill the ring are no better. */
static struct pace known(void)
{
    struct pace p = {.ring = {[CH3_FILL_NARROW] = UINT64_MAX, [CH3_FILL_STREAMED] = UINT64_MAX}};
    assert_false(pace_by_ring(&p));
    kernel_asked(&p, 3);
    for (int i = 0; i < 2; i++)
        assert_false(pace_by_ring(&p));
    assert_int_equal(p.cold, 16 * LEN);
    warm(&p);
    return p;
}

/* The other ways to fill the ring are tried when they have not been looked at for long. */
static unsigned try_others(struct pace *p, uint64_t ns)
{
    unsigned n = 0;
    for (; !p->ring[p->fill]; n++) {
        assert_int_equal(until_ring(p), 0);
        warm(p);
        assert_int_equal(batch(p, 1, ns), 1);
    }
    return n;
}

static void test_slow(void **state)
{
    struct pace p = known();
    unsigned last = 0, tried = 0;
    (void)state;
    for (int i = 0; i < 12; i++) {
        assert_int_equal(batch(&p, 1, SLOW), 1);
        tried += try_others(&p, SLOW);
        kernel_asked(&p, 3);
        const unsigned n = until_ring(&p);
        assert_true(i ? n == 2 * last || (n == last && n >= 256) : n > 0);
        last = n;
        assert_int_equal(p.cold, 16 * LEN);
        warm(&p);
    }
    assert_in_range(last, 256, 1024);
    assert_int_equal(tried, 2 * 7); /* since the kernel has so many copies */
    for (unsigned i = 0; i < CH3_FILLS; i++)
        p.ring[i] = UINT64_MAX;
    assert_int_equal(batch(&p, 1, QUICK), 1); /* the trial finds it near */
    assert_int_equal(until_ring(&p), 3); /* and the kernel is asked */
    assert_int_equal(batch(&p, 1, SLOW), 0); /* not timed: not seen */
}

/* Bytes until the batch is to be judged. */
static size_t until_full(struct pace *p, bool timed)
{
    size_t bytes = 0;
    while (!pace_full(p)) {
        assert_true(pace_by_ring(p) && pace_times_ring(p) == timed);
        pace_add(p, timed ? QUICK : 0, LEN);
        bytes += LEN;
    }
    assert_true(pace_waits(p) == timed);
    pace_judge(p);
    assert_false(pace_full(p));
    return bytes;
}

/* A trial ends before it costs much, and other long batches, too, so that it is seen where the ring has become slow. */
static void test_trial(void **state)
{
    struct pace p = known();
    (void)state;
    assert_int_equal(until_full(&p, true), 1 << 20);
    assert_int_equal(until_ring(&p), 3);
    for (int i = 0; i < 15; i++)
        assert_int_equal(until_full(&p, false), 8 << 20);
    assert_int_equal(until_full(&p, true), 8 << 20);
}

/* The first copy of the kernel after others is slow because of those. */
static void test_kernel_in_a_row(void **state)
{
    struct pace p = {0};
    (void)state;
    pace_kernel(&p, SLOW, LEN);
    kernel_asked(&p, 2);
    assert_in_range(p.kernel, KERNEL, KERNEL + 1);
}

/* Proven ones are timed now and then, all of a batch. */
static void test_some_are_timed(void **state)
{
    struct pace p = known();
    unsigned timed = 0, asked = 0;
    (void)state;
    for (int i = 0; i < 1600; i++) {
        if (pace_times_kernel(&p)) {
            kernel_asked(&p, 3);
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

/* Every way to fill the ring is tried, the best one is kept, and the others are tried again. */
static void fill(unsigned best)
{
    struct pace p = known();
    unsigned with[CH3_FILLS] = {0}, others = 0;
    memset(p.ring, 0, sizeof p.ring);
    assert_int_equal(p.fill, CH3_FILL_ALL);
    for (int i = 0; i < 16 * 800; i++) {
        if (pace_times_kernel(&p))
            kernel_asked(&p, 3);
        while (!pace_by_ring(&p))
            ;
        const unsigned now = p.fill;
        with[now]++;
        if (pace_times_ring(&p))
            pace_add(&p, now == best ? QUICK : QUICK + QUICK / 2, LEN);
        else
            pace_add(&p, 0, LEN);
        pace_judge(&p);
    }
    for (unsigned i = 0; i < CH3_FILLS; others += i == best ? 0 : with[i], i++)
        assert_true(with[i] > 16 * 3);
    assert_true(with[best] > 10 * others);
}

static void test_fill(void **state)
{
    (void)state;
    for (unsigned best = 0; best < CH3_FILLS; best++)
        fill(best);
}

/* Where one is slower than the kernel, the others are tried next, one after the other, each behind copies that are not timed. */
static void test_other_fill(void **state)
{
    struct pace p = known();
    (void)state;
    memset(p.ring, 0, sizeof p.ring);
    assert_int_equal(batch(&p, 1, SLOW), 1);
    assert_int_equal(p.fill, CH3_FILL_NARROW);
    assert_int_equal(until_ring(&p), 0);
    warm(&p);
    assert_int_equal(batch(&p, 1, QUICK), 1);
    assert_int_equal(p.fill, CH3_FILL_STREAMED);
    assert_int_equal(until_ring(&p), 0);
    warm(&p);
    assert_int_equal(batch(&p, 1, SLOW), 1);
    assert_true(p.fill == CH3_FILL_NARROW && !p.proven);
    assert_int_equal(until_ring(&p), 0);
    warm(&p);
    assert_int_equal(batch(&p, 1, QUICK), 1);
    assert_true(p.fill == CH3_FILL_NARROW && p.proven);
}

/* Another way that was better when it was timed is gone back to, and timed at once. */
static void test_fill_got_slow(void **state)
{
    struct pace p = known();
    (void)state;
    p.ring[CH3_FILL_STREAMED] = KERNEL * 3 / 4;
    assert_int_equal(batch(&p, 1, QUICK), 1);
    assert_true(p.fill == CH3_FILL_ALL && p.proven);
    kernel_asked(&p, 3);
    assert_int_equal(until_ring(&p), 3);
    for (int i = 0; i < 15; i++)
        assert_int_equal(batch(&p, 1, QUICK), 0);
    assert_int_equal(batch(&p, 1, SLOW), 1);
    assert_true(p.fill == CH3_FILL_STREAMED && p.cold == 16 * LEN);
    warm(&p);
    assert_int_equal(batch(&p, 1, KERNEL * 3 / 4), 1);
    assert_true(p.fill == CH3_FILL_STREAMED && p.proven);
}

/* A long batch that has become slower says that nothing is known any more; a short one does not. */
static void test_moved(void **state)
{
    struct pace p = known();
    (void)state;
    for (unsigned copies = 1; copies <= 4; copies += 3) {
        p = known();
        assert_int_equal(batch(&p, copies, QUICK), copies);
        kernel_asked(&p, 3);
        assert_int_equal(until_ring(&p), 3);
        for (int i = 0; i < 15; i++)
            assert_int_equal(batch(&p, 1, QUICK), 0);
        assert_int_equal(batch(&p, copies, 2 * QUICK), copies);
        assert_int_equal(p.fill, copies == 1 ? CH3_FILL_ALL : CH3_FILL_NARROW);
    }
}

/* One copy of the kernel's tells enough where copies are huge. */
static void test_huge(void **state)
{
    struct pace p = {.ring = {[CH3_FILL_NARROW] = UINT64_MAX, [CH3_FILL_STREAMED] = UINT64_MAX}};
    (void)state;
    assert_false(pace_by_ring(&p));
    assert_true(pace_times_kernel(&p));
    pace_kernel(&p, 64 * KERNEL, PACE_HUGE_MIN);
    assert_int_equal(until_ring(&p), 0);
    assert_true(pace_times_ring(&p));
    pace_add(&p, 32 * QUICK, PACE_HUGE_MIN);
    assert_true(pace_full(&p));
    pace_judge(&p);
    assert_int_equal(until_ring(&p), 1); /* it is asked again, once */
    assert_true(pace_times_kernel(&p));
    pace_kernel(&p, 64 * KERNEL, PACE_HUGE_MIN);
    assert_false(pace_times_kernel(&p));
}

/* Huge copies begin as shorter ones go, where the ring is better for those, and learn at once. */
static void test_adopt(void **state)
{
    struct pace others = known(), p = {0};
    (void)state;
    pace_adopt(&p, &others);
    assert_true(!p.kernel && !pace_by_ring(&p));
    others.ring[CH3_FILL_STREAMED] = 0;
    assert_int_equal(batch(&others, 1, SLOW), 1);
    assert_int_equal(until_ring(&others), 0);
    warm(&others);
    assert_int_equal(batch(&others, 1, QUICK), 1);
    assert_true(others.proven && others.fill == CH3_FILL_STREAMED);
    pace_adopt(&p, &others);
    assert_true(pace_by_ring(&p) && p.fill == CH3_FILL_STREAMED && pace_times_ring(&p));
    pace_add(&p, 64 * SLOW, PACE_HUGE_MIN);
    pace_judge(&p);
    assert_int_equal(until_ring(&p), 1); /* the kernel is asked at once */
    assert_true(pace_times_kernel(&p));
    pace_kernel(&p, 32 * KERNEL, PACE_HUGE_MIN);
    assert_in_range(p.kernel, KERNEL, KERNEL + 1);
}

static void test_classes(void **state)
{
    (void)state;
    assert_int_equal(pace_class(PACE_CACHED_MIN - 1), PACE_SHORT);
    assert_int_equal(pace_class(PACE_CACHED_MIN), PACE_CACHED);
    assert_int_equal(pace_class(PACE_HUGE_MIN - 1), PACE_CACHED);
    assert_int_equal(pace_class(PACE_HUGE_MIN), PACE_HUGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slow), cmocka_unit_test(test_trial),
                                       cmocka_unit_test(test_some_are_timed), cmocka_unit_test(test_kernel_in_a_row),
                                       cmocka_unit_test(test_kernel_quicker),
                                       cmocka_unit_test(test_huge), cmocka_unit_test(test_fill),
                                       cmocka_unit_test(test_other_fill), cmocka_unit_test(test_fill_got_slow), cmocka_unit_test(test_moved), cmocka_unit_test(test_adopt), cmocka_unit_test(test_classes)};
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
