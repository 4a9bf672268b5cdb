/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dtype_cursor.c - cursors and copies against a naive list of bytes.
 *
 * A random type and count are expanded to the displacement of every byte, in
 * order. Whatever sizes the cursor is asked for, it must give those bytes; pack,
 * unpack and copy must move them and touch nothing else.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "acc/acc.h"
#include "dtype/dtype.h"

#define MAX_RUNS 5
#define AREA 65536
#define MIDDLE (AREA / 2)

static uint64_t seed = 362436069362436069u;

static size_t below(size_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)((seed >> 11) % n);
}

struct byte_list {
    ptrdiff_t *disp;
    size_t n;
};

static struct byte_list expand(const struct dtype *type, size_t count)
{
    struct byte_list list = {malloc((type->size * count + 1) * sizeof(ptrdiff_t)), 0};

    for (size_t c = 0; c < count; c++) {
        for (size_t r = 0; r < type->nruns; r++) {
            for (size_t k = 0; k < type->runs[r].n; k++) {
                for (size_t b = 0; b < type->runs[r].len; b++)
                    list.disp[list.n++] = (ptrdiff_t)c * type->extent + type->runs[r].disp +
                                          (ptrdiff_t)k * type->runs[r].stride + (ptrdiff_t)b;
            }
        }
    }
    return list;
}

/* Runs may go backwards and over each other, as an origin datatype may. */
static struct dtype *random_type(size_t unit)
{
    struct dtype_run runs[MAX_RUNS];
    struct dtype form = {.basic = ACC_U8, .runs = runs, .eruns = runs};
    struct dtype *type;

    form.nruns = below(4) == 0 ? 1 : below(MAX_RUNS + 1);
    for (size_t i = 0; i < form.nruns; i++) {
        runs[i].disp = (ptrdiff_t)below(400) - 200;
        runs[i].len = unit * (1 + below(9));
        runs[i].n = below(3) ? 1 : 1 + below(12);
        runs[i].stride = (ptrdiff_t)below(120) - 40;
        form.size += runs[i].len * runs[i].n;
    }
    form.neruns = form.nruns;
    form.elems = form.size;
    form.extent = below(3) && form.nruns ? (ptrdiff_t)runs[0].len : (ptrdiff_t)below(300) - 60;
    if (below(6) == 0 && form.nruns == 1)
        runs[0].disp = 0;
    assert_int_equal(dtype_create(&form, &type), MRMA_SUCCESS);
    return type;
}

static void test_cursor_next(void **state)
{
    (void)state;
    for (int trial = 0; trial < 4000; trial++) {
        struct dtype *type = random_type(1);
        size_t count = below(20), max = 1 + below(trial % 2 ? 8 : 4000), at = 0, len;
        struct byte_list list = expand(type, count);
        struct dtype_cursor cur;
        ptrdiff_t disp;

        dtype_cursor_init(&cur, type, count, trial % 3 ? DTYPE_BYTES : DTYPE_ELEMENTS);
        while ((len = dtype_cursor_next(&cur, max, &disp)) != 0) {
            assert_true(len <= max && at + len <= list.n);
            for (size_t i = 0; i < len; i++)
                assert_int_equal(disp + (ptrdiff_t)i, list.disp[at + i]);
            at += len;
            max = 1 + below(trial % 2 ? 8 : 4000);
        }
        assert_int_equal(at, list.n);
        assert_int_equal(dtype_cursor_next(&cur, 1, &disp), 0);
        free(list.disp);
        dtype_unref(type);
    }
}

/* The same bytes in the same order, many pieces at a time, mixed with single ones. */
static void test_cursor_ahead(void **state)
{
    size_t longest = 0;
    (void)state;
    for (int trial = 0; trial < 4000; trial++) {
        struct dtype *type = random_type(1);
        size_t count = below(20), at = 0;
        struct byte_list list = expand(type, count);
        struct dtype_cursor cur;

        dtype_cursor_init(&cur, type, count, DTYPE_BYTES);
        for (;;) {
            const size_t max = 1 + below(trial % 2 ? 30 : 4000);
            struct dtype_stretch s = {.stride = 0, .n = 1};
            const size_t got = below(3) ? dtype_cursor_take(&cur, max, &s)
                                        : (s.len = dtype_cursor_next(&cur, max, &s.disp));

            assert_true(got <= max && at + got <= list.n);
            if (!got)
                break;
            assert_int_equal(got, s.len * s.n);
            longest = s.n > longest ? s.n : longest;
            for (size_t i = 0; i < got; i++)
                assert_int_equal(s.disp + (ptrdiff_t)(i / s.len) * s.stride +
                                     (ptrdiff_t)(i % s.len),
                                 list.disp[at + i]);
            at += got;
        }
        assert_int_equal(at, list.n);
        free(list.disp);
        dtype_unref(type);
    }
    assert_true(longest > 2);
}

static unsigned char area[AREA], packed[AREA], expect[AREA], other[AREA];

static void fill(unsigned char *p)
{
    for (size_t i = 0; i < AREA; i++)
        p[i] = (unsigned char)below(256);
}

static void test_pack(void **state)
{
    (void)state;
    fill(area);
    for (int trial = 0; trial < 1500; trial++) {
        struct dtype *type = random_type(1 + below(4) * 4);
        size_t count = 1 + below(12);
        struct byte_list list = expand(type, count);
        struct dtype_cursor cur;

        memset(packed, 0, sizeof(packed));
        dtype_cursor_init(&cur, type, count, DTYPE_BYTES);
        for (size_t at = 0; at < list.n;) {
            size_t len = 1 + below(trial % 2 ? 30 : 5000);
            if (len > list.n - at)
                len = list.n - at;
            dtype_pack(&cur, area + MIDDLE, packed + at, len);
            at += len;
        }
        for (size_t i = 0; i < list.n; i++)
            assert_int_equal(packed[i], area[MIDDLE + list.disp[i]]);
        assert_int_equal(packed[list.n], 0);
        free(list.disp);
        dtype_unref(type);
    }
}

static void test_unpack(void **state)
{
    (void)state;
    fill(packed);
    for (int trial = 0; trial < 1500; trial++) {
        struct dtype *type = random_type(1 + below(4) * 4);
        size_t count = 1 + below(12);
        struct byte_list list = expand(type, count);
        struct dtype_cursor cur;

        memset(area, 0x3C, AREA);
        memset(expect, 0x3C, AREA);
        for (size_t i = 0; i < list.n; i++)
            expect[MIDDLE + list.disp[i]] = packed[i];
        dtype_cursor_init(&cur, type, count, DTYPE_BYTES);
        for (size_t at = 0; at < list.n;) {
            size_t len = 1 + below(trial % 2 ? 30 : 5000);
            if (len > list.n - at)
                len = list.n - at;
            dtype_unpack(&cur, area + MIDDLE, packed + at, len);
            at += len;
        }
        assert_memory_equal(area, expect, AREA);
        free(list.disp);
        dtype_unref(type);
    }
}

static void test_copy(void **state)
{
    (void)state;
    fill(other);
    for (int trial = 0; trial < 3000; trial++) {
        size_t unit = 1 + below(4) * 4;
        struct dtype *dst = random_type(unit), *src = random_type(unit);
        size_t dcount = 1 + below(12), scount = 1 + below(12);
        struct byte_list to = expand(dst, dcount), from = expand(src, scount);
        struct dtype_cursor d, s;

        memset(area, 0x3C, AREA);
        memset(expect, 0x3C, AREA);
        for (size_t i = 0; i < to.n && i < from.n; i++)
            expect[MIDDLE + to.disp[i]] = other[MIDDLE + from.disp[i]];
        dtype_cursor_init(&d, dst, dcount, DTYPE_BYTES);
        dtype_cursor_init(&s, src, scount, DTYPE_BYTES);
        dtype_copy(&d, area + MIDDLE, &s, other + MIDDLE);
        assert_memory_equal(area, expect, AREA);
        free(to.disp);
        free(from.disp);
        dtype_unref(dst);
        dtype_unref(src);
    }
}

/* Displacements may be absolute addresses. */
static void test_copy_from_bottom(void **state)
{
    int value = 4711, got = 0;
    struct dtype_run run = {(ptrdiff_t)(uintptr_t)&value, sizeof(int), 0, 1};
    struct dtype type = {
        .size = 4, .extent = 4, .runs = &run, .nruns = 1, .eruns = &run, .neruns = 1};
    struct dtype flat = dtype_basic(ACC_I32);
    struct dtype_cursor d, s;

    (void)state;
    dtype_cursor_init(&s, &type, 1, DTYPE_BYTES);
    dtype_cursor_init(&d, &flat, 1, DTYPE_BYTES);
    dtype_copy(&d, &got, &s, NULL);
    assert_int_equal(got, value);
}

static void test_span(void **state)
{
    struct dtype big = dtype_basic(ACC_F64);
    ptrdiff_t lo, hi;

    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        struct dtype *type = random_type(1);
        size_t count = 1 + below(20);
        struct byte_list list = expand(type, count);
        ptrdiff_t low = list.n ? PTRDIFF_MAX : 0, high = list.n ? PTRDIFF_MIN : 0;

        for (size_t i = 0; i < list.n; i++) {
            low = list.disp[i] < low ? list.disp[i] : low;
            high = list.disp[i] + 1 > high ? list.disp[i] + 1 : high;
        }
        assert_true(dtype_span(type, count, &lo, &hi));
        assert_int_equal(lo, low);
        assert_int_equal(hi, high);
        free(list.disp);
        dtype_unref(type);
    }
    assert_false(dtype_span(&big, SIZE_MAX, &lo, &hi));
    assert_false(dtype_span(&big, PTRDIFF_MAX / 8 + 2, &lo, &hi));
    assert_true(dtype_span(&big, PTRDIFF_MAX / 8, &lo, &hi));
    big.extent = -8;
    assert_true(dtype_span(&big, 3, &lo, &hi));
    assert_int_equal(lo, -16);
    assert_int_equal(hi, 8);
    assert_false(dtype_span(&big, PTRDIFF_MAX / 8 + 3, &lo, &hi));
}

static void test_basic(void **state)
{
    (void)state;
    for (int basic = ACC_NONE; basic < ACC_TYPE_LAST; basic++) {
        struct dtype type = dtype_basic((uint8_t)basic);
        size_t extent = basic == ACC_NONE ? 1 : acc_extent(basic);
        bool padded = type.size != extent;
        struct dtype_cursor cur;
        ptrdiff_t disp;

        assert_int_equal(type.extent, extent);
        assert_int_equal(type.basic, basic);
        assert_int_equal(type.elems, basic != ACC_NONE);
        assert_int_equal(type.contig, !padded);
        assert_true(padded || type.runs == type.eruns);
        /* Elements are contiguous even where their data bytes are not. */
        dtype_cursor_init(&cur, &type, 1000, DTYPE_ELEMENTS);
        assert_int_equal(dtype_cursor_next(&cur, SIZE_MAX, &disp), 1000 * extent);
        assert_int_equal(disp, 0);
    }
    assert_int_equal(dtype_basic(ACC_PAIR_F64_I32).size, 12);
    assert_int_equal(dtype_basic(ACC_PAIR_I16_I32).size, 6);
    assert_int_equal(dtype_basic(ACC_PAIR_F80_I32).size, 20);
    assert_int_equal(dtype_basic(ACC_PAIR_F32_I32).size, 8);
}

static void test_contiguous_is_one_piece(void **state)
{
    struct dtype type = dtype_basic(ACC_F64);
    struct dtype_cursor cur;
    ptrdiff_t disp;

    (void)state;
    assert_true(type.contig);
    dtype_cursor_init(&cur, &type, 1000000, DTYPE_BYTES);
    assert_int_equal(dtype_cursor_next(&cur, 100, &disp), 100);
    assert_int_equal(dtype_cursor_next(&cur, SIZE_MAX, &disp), 8000000 - 100);
    assert_int_equal(disp, 100);
    assert_int_equal(dtype_cursor_next(&cur, SIZE_MAX, &disp), 0);
}

static void test_references(void **state)
{
    struct dtype_run runs[2] = {{4, 4, 0, 1}, {16, 8, 32, 3}}, erun = {0, 112, 0, 1};
    struct dtype form = {.size = 28,
                         .extent = 112,
                         .basic = ACC_NONE,
                         .runs = runs,
                         .nruns = 2,
                         .eruns = &erun,
                         .neruns = 1};
    struct dtype *type;

    (void)state;
    assert_int_equal(dtype_create(&form, &type), MRMA_SUCCESS);
    memset(runs, 0, sizeof(runs));
    memset(&erun, 0, sizeof(erun));
    assert_ptr_equal(dtype_ref(type), type);
    dtype_unref(type);
    assert_int_equal(type->true_lb, 4);
    assert_int_equal(type->true_extent, 84);
    assert_int_equal(type->runs[1].stride, 32);
    assert_int_equal(type->eruns[0].len, 112);
    assert_false(type->contig);
    dtype_unref(type);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursor_next),
        cmocka_unit_test(test_cursor_ahead),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_unpack),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_copy_from_bottom),
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_basic),
        cmocka_unit_test(test_contiguous_is_one_piece),
        cmocka_unit_test(test_references),
    };

    return cmocka_run_group_tests_name("dtype_cursor", tests, NULL, NULL);
}
