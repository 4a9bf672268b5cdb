/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_clock_fit.c - clock_fit.h: a clock that is known, measured well at some times and badly at
 * others. Good measurements stay, bad ones go to where the good ones are, wrong ones are left out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../clock_fit.h"

enum { N = 21, GOOD = 200, BAD = 1000000 }; /* ns */

/* A clock that is three seconds ahead and goes apart by 20 us a second. */
static int64_t truly(uint64_t time)
{
    return INT64_C(-3000000000) - (int64_t)(time / 50000);
}

/* Once a second; every third time the round trip is long, and the error nearly as large as it. */
static void measure(struct clock_point *point)
{
    for (size_t i = 0; i < N; i++) {
        const uint64_t time = UINT64_C(5000000000) + i * UINT64_C(1000000000);
        const int bad = i % 3 == 1;
        const int64_t off = bad ? (i % 2 ? 900000 : -900000) : (i % 2 ? 90 : -90);

        point[i] = (struct clock_point){time, truly(time) + off, bad ? BAD : GOOD};
    }
}

static void by_their_errors(void **state)
{
    struct clock_point point[N];
    struct clock_left_out out;

    (void)state;
    measure(point);
    assert_int_equal(clock_fit(point, N, &out), N);
    assert_int_equal(out.n, 0);
    for (size_t i = 0; i < N; i++) {
        const int64_t off = llabs(point[i].offset - truly(point[i].time));

        if (point[i].error == GOOD)
            assert_true(off <= GOOD);
        else
            assert_true(off < 40000); /* at the ends more, in the middle less */
    }
}

/* At the end of a run there is nothing behind it. */
static void bad_end(void **state)
{
    struct clock_point point[] = {{0, 1000, GOOD}, {UINT64_C(100000000), 901000, BAD}};
    struct clock_left_out out;

    (void)state;
    assert_int_equal(clock_fit(point, 2, &out), 2);
    assert_int_equal(out.n, 0);
    assert_true(llabs(point[0].offset - 1000) <= 1);
    assert_true(llabs(point[1].offset - 1000) < 10000);
}

/* It says that it is good, and is not. */
static void wrong_one(void **state)
{
    struct clock_point point[N], before;
    struct clock_left_out out;

    (void)state;
    measure(point);
    point[9].offset += 5000000;
    before = point[10];
    assert_int_equal(clock_fit(point, N, &out), N - 1);
    assert_int_equal(out.n, 1);
    assert_true(out.worst > 4900000 && out.worst < 5100000);
    assert_true(point[9].time == before.time);
    for (size_t i = 0; i < N - 1; i++)
        assert_true(llabs(point[i].offset - truly(point[i].time)) < 40000);
}

/* Clocks are set by other rates: that contradicts nothing. */
static void other_rate(void **state)
{
    struct clock_point point[N];
    struct clock_left_out out;

    (void)state;
    for (size_t i = 0; i < N; i++)
        point[i] = (struct clock_point){i * UINT64_C(1000000000),
                                        i < N / 2 ? 0 : (int64_t)(i - N / 2) * 100000, GOOD};
    assert_int_equal(clock_fit(point, N, &out), N);
    for (size_t i = 0; i < N; i++)
        assert_true(llabs(point[i].offset - (i < N / 2 ? 0 : (int64_t)(i - N / 2) * 100000)) <=
                    GOOD);
}

/* What no clock can show does no harm: damaged files have it. */
static void any_numbers(void **state)
{
    struct clock_left_out out;

    (void)state;
    srand(1);
    for (int round = 0; round < 2000; round++) {
        struct clock_point point[6];
        uint64_t time = 0;

        for (int i = 0; i < 6; i++) {
            time += 1 + ((uint64_t)rand() << (rand() % 31));
            point[i] = (struct clock_point){
                time, (int64_t)(((uint64_t)rand() << 33) ^ ((uint64_t)rand() << (rand() % 32))),
                rand() % 2 ? (uint64_t)rand() << (rand() % 34) : UINT64_MAX};
        }
        const size_t left = clock_fit(point, 6, &out);
        assert_true(left >= 2 && left + out.n == 6);
    }
    assert_int_equal(clock_fit(NULL, 0, &out), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_their_errors), cmocka_unit_test(bad_end),
        cmocka_unit_test(wrong_one),       cmocka_unit_test(other_rate),
        cmocka_unit_test(any_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
