/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dtype_compact.c - items of compact lists come back as they were written.
 *
 * Random items of every size of number and sign are read one after the other, and found from
 * every byte of the list's data; what a list says of itself is added up beside it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/err.h"
#include "dtype/dtype_compact.h"

enum { ITEMS = 300 };

static uint64_t seed = 88172645463325252u;

static uint64_t number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* As often short as long. */
static int64_t of_any_length(unsigned bits)
{
    return (int64_t)number() >> (64 - bits + number() % bits);
}

/* Displacements stay far enough from the ends of their range for any stride. */
static struct dtype_item random_item(const struct dtype_compact *list)
{
    struct dtype_item item = {.run = {.disp = of_any_length(62), .n = 1}};

    if (number() % 8 == 0)
        item.list = list;
    item.run.len = item.list ? list->size : 1 + number() % (number() % 2 ? 3 : 200);
    if (number() % 3 == 0) {
        item.run.n = 2 + number() % 5;
        item.run.stride = of_any_length(56);
    }
    return item;
}

static void assert_same(const struct dtype_item *a, const struct dtype_item *b)
{
    assert_int_equal(a->run.disp, b->run.disp);
    assert_int_equal(a->run.len, b->run.len);
    assert_int_equal(a->run.n, b->run.n);
    assert_int_equal(a->run.stride, b->run.stride);
    assert_ptr_equal(a->list, b->list);
}

static void check(const struct dtype_compact *list, const struct dtype_item *items, size_t n)
{
    struct dtype_item got = {.list = NULL};
    const uint8_t *code = list->code, *next;
    size_t pos = 0, pieces = 0, before;

    for (size_t i = 0; i < n; i++) {
        code = dtype_compact_read(code, &got);
        assert_same(&got, &items[i]);
        const size_t bytes = got.run.len * got.run.n;
        for (size_t at = pos; at < pos + bytes; at += 1 + number() % bytes) {
            struct dtype_item found = {.list = NULL};
            next = dtype_compact_find(list, at, &found, &before);
            assert_same(&found, &items[i]);
            assert_int_equal(before, pos);
            assert_ptr_equal(next, code);
        }
        pos += bytes;
        pieces += got.run.n * (got.list ? got.list->pieces : 1);
    }
    assert_ptr_equal(code, list->code + list->len);
    assert_int_equal(list->size, pos);
    assert_int_equal(list->pieces, pieces);
}

static void check_ends(const struct dtype_compact *list, const struct dtype_item *items, size_t n)
{
    ptrdiff_t lo = PTRDIFF_MAX, hi = PTRDIFF_MIN;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < items[i].run.n; k++) {
            const ptrdiff_t at = items[i].run.disp + (ptrdiff_t)k * items[i].run.stride;
            const ptrdiff_t from = at + (items[i].list ? items[i].list->lo : 0);
            const ptrdiff_t to =
                at + (items[i].list ? items[i].list->hi : (ptrdiff_t)items[i].run.len);
            lo = from < lo ? from : lo;
            hi = to > hi ? to : hi;
        }
    assert_int_equal(list->lo, lo);
    assert_int_equal(list->hi, hi);
}

static void test_items_come_back(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        struct dtype_compact *all = NULL, *inner = dtype_compact_create(&all),
                             *list = dtype_compact_create(&all);
        struct dtype_item items[ITEMS], one = {.run = {.disp = -3, .len = 5, .n = 1}};
        const size_t n = 1 + number() % ITEMS;

        assert_non_null(inner);
        assert_non_null(list);
        assert_int_equal(dtype_compact_append(inner, &one), MRMA_SUCCESS);
        one.run.disp = 11;
        assert_int_equal(dtype_compact_append(inner, &one), MRMA_SUCCESS);
        dtype_compact_close(inner);
        for (size_t i = 0; i < n; i++) {
            items[i] = random_item(inner);
            assert_int_equal(dtype_compact_append(list, &items[i]), MRMA_SUCCESS);
        }
        dtype_compact_close(list);
        dtype_compact_close(list); /* does nothing more */
        check(list, items, n);
        check_ends(list, items, n);
        dtype_compact_free(all);
    }
}

/* Blocks of one length that are not far apart take two bytes and a part of a mark. */
static void test_near_blocks_are_short(void **state)
{
    enum { BLOCKS = 10000 };
    struct dtype_compact *list = NULL;
    struct dtype_item item = {.run = {.len = 8, .n = 1}};

    (void)state;
    assert_non_null(dtype_compact_create(&list));
    for (int i = 0; i < BLOCKS; i++) {
        item.run.disp += 16 + 8 * (ptrdiff_t)(number() % 8);
        assert_int_equal(dtype_compact_append(list, &item), MRMA_SUCCESS);
    }
    dtype_compact_close(list);
    assert_uint_in_range(list->len + list->nmarks * sizeof *list->marks, BLOCKS, 3 * BLOCKS);
    dtype_compact_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_come_back),
        cmocka_unit_test(test_near_blocks_are_short),
    };
    return cmocka_run_group_tests_name("dtype_compact", tests, NULL, NULL);
}
