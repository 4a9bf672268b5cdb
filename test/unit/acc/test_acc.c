/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_acc.c - every accumulate kernel against a reference (acc_reference.h).
 *
 * Targets and origins lie at odd
 * addresses between guard bytes, and the padding of pairs holds a pattern.
 * All is done with the kernels for every processor and with those for wide vectors, which
 * must also agree with each other on numbers that are none.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <complex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "acc/acc.h"
#include "test/support/acc_reference.h"

#define MAX_N 133
#define MAX_EXTENT 32
#define GUARD 64
#define ROOM (GUARD + MAX_N * MAX_EXTENT + 8 + GUARD)

/* With which kernels for several elements: index of acc_kernel.many. */
static bool wide;

static void apply(enum acc_op op, enum acc_type type, void *target, const void *origin, size_t n)
{
    if (n > 1 && op != ACC_NO_OP)
        acc_kernels[op][type].many[wide](target, origin, n);
    else
        acc_apply(op, type, target, origin, n);
}

/* The bytes of a long double that its arithmetic doesn't define. */
static bool is_undefined_byte(enum acc_op op, enum acc_type type, size_t byte)
{
    bool ldouble = type == ACC_F80 || type == ACC_C80 || (type == ACC_PAIR_F80_I32 && byte < 16);

    return ldouble && byte % 16 >= LDOUBLE_BYTES && op != ACC_NO_OP;
}

static void run_case(enum acc_op op, enum acc_type type, size_t n, size_t toff, size_t ooff)
{
    static unsigned char target[ROOM], origin[ROOM], expect[ROOM];
    size_t extent = acc_extent(type);

    memset(target, 0xA5, ROOM);
    memset(origin, 0x5A, ROOM);
    for (size_t i = 0; i < n; i++) {
        put_random(type, target + GUARD + toff + i * extent);
        put_random(type, origin + GUARD + ooff + i * extent);
    }
    memcpy(expect, target, ROOM);
    for (size_t i = 0; i < n; i++)
        ref_element(op, type, expect + GUARD + toff + i * extent,
                    origin + GUARD + ooff + i * extent);
    apply(op, type, target + GUARD + toff, origin + GUARD + ooff, n);
    for (size_t i = 0; i < ROOM; i++) {
        size_t at = i - GUARD - toff;
        bool inside = i >= GUARD + toff && at < n * extent;
        if (inside && is_undefined_byte(op, type, at % extent))
            continue;
        if (target[i] != expect[i])
            fail_msg("%s of %s, n=%zu, offsets %zu %zu: byte %zd is %02x, not %02x",
                     acc_op_name(op), acc_type_name(type), n, toff, ooff, (ptrdiff_t)at, target[i],
                     expect[i]);
    }
}

static void test_every_op_and_type(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 64, MAX_N};
    static const size_t offs[][2] = {{0, 0}, {1, 0}, {0, 3}, {5, 5}, {7, 2}};

    (void)state;
    for (int op = ACC_SUM; op < ACC_OP_LAST; op++) {
        for (int type = ACC_I8; type < ACC_TYPE_LAST; type++) {
            if (!acc_allowed(op, type))
                continue;
            for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
                for (size_t k = 0; k < sizeof(offs) / sizeof(*offs); k++)
                    run_case(op, type, counts[c], offs[k][0], offs[k][1]);
            }
        }
    }
}

/* Elements apart at the target, forwards, backwards and all on one: as one by one. */
static void strided_case(enum acc_op op, enum acc_type type, size_t n, ptrdiff_t stride)
{
    static unsigned char target[4 * ROOM], origin[ROOM], expect[4 * ROOM];
    const size_t extent = acc_extent(type);
    const size_t first = GUARD + 1 + (stride < 0 ? (n - 1) * (size_t)-stride : 0);

    memset(target, 0xA5, sizeof target);
    memset(origin, 0x5A, ROOM);
    for (size_t i = 0; i < n; i++) {
        put_random(type, target + (ptrdiff_t)first + (ptrdiff_t)i * stride);
        put_random(type, origin + GUARD + 3 + i * extent);
    }
    memcpy(expect, target, sizeof target);
    for (size_t i = 0; i < n; i++)
        acc_apply(op, type, expect + (ptrdiff_t)first + (ptrdiff_t)i * stride,
                  origin + GUARD + 3 + i * extent, 1);
    acc_apply_strided(op, type, target + first, stride, origin + GUARD + 3, n);
    for (size_t i = 0; i < sizeof target; i++)
        if (target[i] != expect[i])
            fail_msg("%s of %s, n=%zu, stride %td: byte %zu is %02x, not %02x", acc_op_name(op),
                     acc_type_name(type), n, stride, i, target[i], expect[i]);
}

/* Bits of reals that arithmetic treats in a way of its own, among others. */
static uint64_t special_bits(bool is_double)
{
    static const double values[] = {0.0,     -0.0, 1e308, -1e308, 5e-324,
                                    -5e-324, 1.5,  -3.25, 1e-300, 1.0 / 3};
    static const float floats[] = {0.0f,    -0.0f, 3e38f,  -3e38f, 1e-45f,
                                   -1e-45f, 1.5f,  -3.25f, 1e-38f, 1.0f / 3};
    static const uint64_t double_bits[] = {0x7ff0000000000000, 0xfff0000000000000,
                                           0x7ff8000000000000};
    static const uint32_t float_bits[] = {0x7f800000, 0xff800000, 0x7fc00000};
    const unsigned i = (unsigned)(random_bits() % 13);
    uint64_t bits = 0;

    if (is_double && i >= 10)
        bits = double_bits[i - 10];
    else if (is_double)
        memcpy(&bits, &values[i], sizeof(double));
    else if (i >= 10)
        bits = float_bits[i - 10];
    else
        memcpy(&bits, &floats[i], sizeof(float));
    return bits;
}

static void put_special(enum acc_type type, unsigned char *p)
{
    const bool is_double = type == ACC_F64 || type == ACC_C64,
               pair = type == ACC_C32 || type == ACC_C64;
    const size_t size = is_double ? sizeof(double) : sizeof(float);

    for (int k = 0; k < 1 + pair; k++) {
        const uint64_t bits = special_bits(is_double);
        memcpy(p + (size_t)k * size, &bits, size);
    }
}

/* Signed zeros, infinities, the smallest and the largest: bit by bit what a single element's kernel
 * gives. But a NaN of two, or one that is made, may have another sign: any will do. */
static bool same_real(enum acc_type type, const unsigned char *a, const unsigned char *b)
{
    const bool is_double = type == ACC_F64 || type == ACC_C64;
    const size_t size = is_double ? sizeof(double) : sizeof(float);
    double x[2];
    float y[2];

    if (memcmp(a, b, size) == 0)
        return true;
    memcpy(is_double ? (void *)&x[0] : (void *)&y[0], a, size);
    memcpy(is_double ? (void *)&x[1] : (void *)&y[1], b, size);
    return is_double ? x[0] != x[0] && x[1] != x[1] : y[0] != y[0] && y[1] != y[1];
}

static void test_special_reals(void **state)
{
    static const enum acc_type reals[] = {ACC_F32, ACC_F64, ACC_C32, ACC_C64};
    enum { N = 61 };

    (void)state;
    for (int op = ACC_SUM; op <= ACC_MAX; op++)
        for (int k = 0; k < 4 * 50; k++) {
            unsigned char target[N * 16], origin[N * 16], expect[N * 16];
            const enum acc_type type = reals[k % 4];
            const size_t unit = acc_extent(type), real = type == ACC_F64 || type == ACC_C64 ? 8 : 4;
            if (!acc_allowed(op, type))
                continue;
            for (size_t i = 0; i < N; i++) {
                put_special(type, target + i * unit);
                put_special(type, origin + i * unit);
            }
            memcpy(expect, target, sizeof expect);
            for (size_t i = 0; i < N; i++)
                acc_apply(op, type, expect + i * unit, origin + i * unit, 1);
            apply(op, type, target, origin, N);
            for (size_t at = 0; at < N * unit; at += real)
                if (!same_real(type, target + at, expect + at))
                    fail_msg("%s of %s: real %zu differs", acc_op_name(op), acc_type_name(type),
                             at / real);
        }
}

/* What was there comes back, whether or not the elements are changed, and nothing besides. */
static void fetch_case(enum acc_op op, enum acc_type type, size_t n)
{
    enum { MOST = 5000 + 2 * GUARD };
    static unsigned char target[MOST], origin[MOST], expect[MOST], before[MOST], old[MOST];
    const size_t extent = acc_extent(type), len = n * extent;

    memset(target, 0xA5, MOST);
    memset(origin, 0x5A, MOST);
    memset(old, 0x3C, MOST);
    for (size_t i = 0; i < n; i++) {
        put_random(type, target + GUARD + 1 + i * extent);
        put_random(type, origin + GUARD + 3 + i * extent);
    }
    memcpy(expect, target, MOST);
    memcpy(before, old, MOST);
    memcpy(before + GUARD + 5, target + GUARD + 1, len);
    apply(op, type, expect + GUARD + 1, origin + GUARD + 3, n);
    acc_fetch(op, type, target + GUARD + 1, op == ACC_NO_OP ? NULL : origin + GUARD + 3,
              old + GUARD + 5, n);
    assert_memory_equal(target, expect, MOST);
    for (size_t i = 0, pad = acc_pad(type); i + 1 < n; i++) /* of the others, anything */
        memcpy(before + GUARD + 5 + (i + 1) * extent - pad,
               old + GUARD + 5 + (i + 1) * extent - pad, pad);
    memset(before + GUARD + 5 + len - acc_pad(type), 0x3C, acc_pad(type));
    assert_memory_equal(old, before, MOST);
}

static void test_fetch(void **state)
{
    static const size_t bytes[] = {32, 64, 2016, 2048, 2080, 4096, 4992};

    (void)state;
    for (int op = ACC_SUM; op < ACC_OP_LAST; op++)
        for (int type = ACC_I8; type < ACC_TYPE_LAST; type++)
            for (size_t i = 0; acc_allowed(op, type) && i < sizeof bytes / sizeof *bytes; i++) {
                fetch_case(op, type, bytes[i] / acc_extent(type));
                fetch_case(op, type, 1);
            }
}

static void test_strided(void **state)
{
    (void)state;
    for (int op = ACC_SUM; op < ACC_OP_LAST; op++)
        for (int type = ACC_I8; type < ACC_TYPE_LAST; type++)
            for (size_t n = 1; acc_allowed(op, type) && n <= MAX_N; n += n < 4 ? 1 : 43) {
                const ptrdiff_t unit = (ptrdiff_t)acc_extent(type);
                strided_case(op, type, n, unit);
                strided_case(op, type, n, unit + 1);
                strided_case(op, type, n, 3 * unit);
                strided_case(op, type, n, -2 * unit);
            }
}

static void test_single_elements(void **state)
{
    (void)state;
    for (int op = ACC_SUM; op < ACC_OP_LAST; op++) {
        for (int type = ACC_I8; type < ACC_TYPE_LAST; type++) {
            for (int i = 0; acc_allowed(op, type) && i < 200; i++)
                run_case(op, type, 1, i % 8, i / 8 % 8);
        }
    }
}

static void test_allowed(void **state)
{
    (void)state;
    for (int op = ACC_SUM; op < ACC_OP_LAST; op++) {
        assert_false(acc_allowed(op, ACC_NONE));
        for (int type = ACC_I8; type < ACC_TYPE_LAST; type++) {
            bool expect = strchr(categories_of[op], category(type)) != NULL &&
                          (computes(type) || op == ACC_REPLACE || op == ACC_NO_OP);
            if (acc_allowed(op, type) != expect)
                fail_msg("%s of %s should be %s", acc_op_name(op), acc_type_name(type),
                         expect ? "allowed" : "refused");
        }
    }
    assert_false(acc_allowed(ACC_OP_NONE, ACC_I32));
    assert_false(acc_allowed(ACC_OP_LAST, ACC_I32));
    assert_false(acc_allowed(ACC_SUM, ACC_TYPE_LAST));
    assert_false(acc_allowed((enum acc_op) - 1, ACC_I32));
}

static void test_extents_and_names(void **state)
{
    (void)state;
    for (int type = ACC_I8; type < ACC_TYPE_LAST; type++) {
        const size_t unit = acc_extent(type);

        assert_true(unit && (unit & (unit - 1)) == 0);
        assert_int_equal(acc_count(37 * unit, unit), 37);
    }
    assert_int_equal(acc_extent(ACC_NONE), 0);
    assert_int_equal(acc_extent(ACC_TYPE_LAST), 0);
    for (int type = ACC_I8; type < ACC_TYPE_LAST; type++) {
        assert_true(acc_extent(type) >= 1 && acc_extent(type) <= MAX_EXTENT);
        assert_non_null(acc_type_name(type));
        if (category(type) == 'p')
            assert_int_equal(acc_extent(type), layout_of(type).extent);
        for (int other = ACC_NONE; other < type; other++)
            assert_string_not_equal(acc_type_name(type), acc_type_name(other));
    }
    for (int op = ACC_OP_NONE; op < ACC_OP_LAST; op++) {
        for (int other = ACC_OP_NONE; other < op; other++)
            assert_string_not_equal(acc_op_name(op), acc_op_name(other));
    }
    assert_int_equal(acc_extent(ACC_C80), sizeof(long double complex));
    assert_string_equal(acc_type_name(ACC_TYPE_LAST), "invalid");
}

/* What is called is what the processor has. */
static void test_choice(void **state)
{
    enum { N = 1000 };
    static float a[N], b[N], ones[N];

    (void)state;
    for (int i = 0; i < N; i++) {
        a[i] = b[i] = (float)i / 3;
        ones[i] = 1;
    }
    acc_apply(ACC_SUM, ACC_F32, a, ones, N);
    acc_kernels[ACC_SUM][ACC_F32].many[cpu_wide()](b, ones, N);
    assert_memory_equal(a, b, sizeof a);
    for (int op = ACC_SUM; op < ACC_NO_OP; op++)
        for (int type = ACC_I8; type < ACC_TYPE_LAST; type++) {
            const struct acc_kernel *k = &acc_kernels[op][type];
            assert_true(!k->one == !k->many[0] && !k->one == !k->many[1] && !k->one == !k->apart);
        }
}

static void test_same_buffer(void **state)
{
    double v[37];

    (void)state;
    for (int i = 0; i < 37; i++)
        v[i] = i + 0.5;
    apply(ACC_SUM, ACC_F64, v, v, 37);
    for (int i = 0; i < 37; i++)
        assert_true(v[i] == 2 * (i + 0.5));
    apply(ACC_REPLACE, ACC_F64, v, v, 37);
    assert_true(v[36] == 73);
}

static int choose_narrow(void **state)
{
    (void)state;
    wide = false;
    return 0;
}

static int choose_wide(void **state)
{
    (void)state;
    wide = cpu_wide();
    if (!wide)
        print_message("this processor has no wide vectors: the same kernels again\n");
    return 0;
}

#define BOTH(test) \
    cmocka_unit_test_setup(test, choose_narrow), cmocka_unit_test_setup(test, choose_wide)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_every_op_and_type), BOTH(test_single_elements), BOTH(test_allowed),
        BOTH(test_extents_and_names), BOTH(test_same_buffer),     BOTH(test_strided),
        BOTH(test_special_reals),     BOTH(test_fetch),           BOTH(test_choice),
    };
    return cmocka_run_group_tests_name("acc", tests, NULL, NULL);
}
