/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dtype_lists.c - datatypes that are kept as compact lists, because they have many runs or
 * because the bound is set very low: the same bytes in the same order as their runs and their
 * definition give, from every position on, in little memory.
 *
 * An MPI program of one process.
 */
#include "test/support/dtype_checks.h"

#include <stdlib.h>
#include <string.h>

#include "acc/acc.h"
#include "dtype/dtype_compact.h"
#include "dtype/dtype_flatten.c" /* flatten_within, whose bound is set very low here */

static struct dtype *flattened_within(MPI_Datatype type, size_t most)
{
    struct dtype *flat = NULL;

    assert_int_equal(flatten_within(type, most, &flat), MRMA_SUCCESS);
    return flat;
}

/* Where every byte of count instances lies, in order, walked over in pieces of at most max. */
static size_t walk(struct dtype_cursor *cur, size_t max, ptrdiff_t *at)
{
    size_t n = 0, len;
    ptrdiff_t disp;

    while ((len = dtype_cursor_next(cur, max, &disp)) != 0)
        for (size_t i = 0; i < len; i++)
            at[n++] = disp + (ptrdiff_t)i;
    return n;
}

static size_t walk_ahead(struct dtype_cursor *cur, size_t max, ptrdiff_t *at)
{
    struct dtype_stretch ahead;
    size_t n = 0;

    while (dtype_cursor_take(cur, max, &ahead))
        for (size_t k = 0; k < ahead.n; k++)
            for (size_t i = 0; i < ahead.len; i++)
                at[n++] = ahead.disp + (ptrdiff_t)k * ahead.stride + (ptrdiff_t)i;
    return n;
}

/* Both views of a compact list against those of the runs: all bytes in order, and from every
 * position on. */
static void check_same(const struct dtype *flat, const struct dtype *compact, size_t count,
                       enum dtype_view view)
{
    const size_t room = (view == DTYPE_BYTES ? flat->size : 16 * flat->elems + flat->size) * count;
    ptrdiff_t *expect = malloc((room + 1) * sizeof *expect),
              *got = malloc((room + 1) * sizeof *got);
    struct dtype_cursor cur;

    dtype_cursor_init(&cur, flat, count, view);
    const size_t n = walk(&cur, SIZE_MAX, expect);
    assert_true(n <= room);
    const size_t unit = view == DTYPE_BYTES ? 1 : acc_extent(flat->basic);
    for (size_t max = unit; max <= 40 * unit; max *= 3) {
        dtype_cursor_init(&cur, compact, count, view);
        assert_int_equal(walk(&cur, max, got), n);
        assert_memory_equal(got, expect, n * sizeof *got);
        dtype_cursor_init(&cur, compact, count, view);
        assert_int_equal(walk_ahead(&cur, max, got), n);
        assert_memory_equal(got, expect, n * sizeof *got);
    }
    for (size_t pos = 0; view == DTYPE_BYTES && pos < n; pos += 1 + n / 50) {
        dtype_cursor_init(&cur, compact, count, view);
        dtype_cursor_seek(&cur, pos);
        assert_int_equal(walk(&cur, SIZE_MAX, got), n - pos);
        assert_memory_equal(got, expect + pos, (n - pos) * sizeof *got);
    }
    free(expect);
    free(got);
}

static void test_compact_lists_are_the_same(void **state)
{
    int lists = 0, element_lists = 0;

    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        struct dtype_sample sample = sample_make(1 + (int)sample_below(4), false);
        struct dtype *flat = flattened_within(sample.type, SIZE_MAX);
        struct dtype *compact = flattened_within(sample.type, 3 + sample_below(5));

        assert_null(flat->list);
        check_measures(sample.type, compact);
        check_bytes(&sample, compact, 1);
        assert_int_equal(compact->basic, flat->basic);
        assert_int_equal(compact->elems, flat->elems);
        check_same(flat, compact, 1 + sample_below(3), DTYPE_BYTES);
        if (flat->basic != ACC_NONE && flat->size)
            check_same(flat, compact, 1 + sample_below(3), DTYPE_ELEMENTS);
        lists += compact->list != NULL;
        element_lists += compact->elist != NULL && compact->elist != compact->list;
        dtype_unref(flat);
        dtype_unref(compact);
        sample_free(&sample);
    }
    assert_true(lists > 300 && element_lists > 20);
}

/* Bytes of code and marks of all lists. */
static size_t kept_bytes(const struct dtype *type)
{
    size_t bytes = 0;

    for (const struct dtype_compact *list = type->lists; list; list = list->chain)
        bytes += list->len + list->nmarks * sizeof *list->marks + sizeof *list;
    return bytes;
}

/* Irregular blocks, of ints. */
static void draw_blocks(int n, int *lengths, int *disps)
{
    for (int i = 0, at = 0; i < n; i++) {
        disps[i] = at;
        lengths[i] = 1 + (int)sample_below(3);
        at += lengths[i] + 1 + (int)sample_below(3);
    }
}

/* More blocks than the bound, none of them regular; then repeated, which adds next to nothing. */
static void test_many_blocks_are_compact(void **state)
{
    enum { BLOCKS = 200000, COPIES = 1000 };
    int *disps = malloc(BLOCKS * sizeof(int)), *lengths = malloc(BLOCKS * sizeof(int));
    MPI_Datatype blocks, copies;

    (void)state;
    draw_blocks(BLOCKS, lengths, disps);
    MPI_Type_indexed(BLOCKS, lengths, disps, MPI_INT, &blocks);
    MPI_Type_contiguous(COPIES, blocks, &copies);
    struct dtype *flat = flattened(blocks), *more = flattened(copies);
    assert_non_null(flat->list);
    assert_int_equal(flat->pieces, BLOCKS);
    assert_uint_in_range(kept_bytes(flat), BLOCKS, 6 * BLOCKS);
    assert_int_equal(more->pieces, (size_t)BLOCKS * COPIES);
    assert_uint_in_range(kept_bytes(more), BLOCKS, 6 * BLOCKS);
    dtype_unref(flat);
    dtype_unref(more);
    MPI_Type_free(&blocks);
    MPI_Type_free(&copies);
    free(disps);
    free(lengths);
}

/* Blocks of copies of blocks: a piece is where the definition says, wherever a walk begins. (Open
 * MPI keeps all blocks of all blocks, so these are not as many as they could be.) */
static void test_lists_of_lists(void **state)
{
    enum { OUTER = 6000, INNER = 100, COPIES = 50 };
    int disps[OUTER], lengths[OUTER];
    MPI_Datatype blocks, copies, nested;
    struct dtype_cursor cur;

    (void)state;
    draw_blocks(OUTER, lengths, disps);
    MPI_Type_indexed(INNER, lengths, disps, MPI_INT, &blocks);
    const MPI_Aint stride = disps[INNER] * (MPI_Aint)sizeof(int); /* copies do not touch */
    MPI_Type_create_hvector(COPIES, 1, stride, blocks, &copies);
    MPI_Type_create_indexed_block(OUTER, 1, disps, copies, &nested);
    struct dtype *inner = flattened(blocks), *middle = flattened(copies), *flat = flattened(nested);
    assert_int_equal(flat->pieces, (size_t)OUTER * COPIES * INNER);
    assert_uint_in_range(kept_bytes(flat), OUTER,
                         20 * OUTER); /* a displacement and an address each */
    for (int k = 0; k < 1000; k++) {
        const size_t outer = sample_below(OUTER), copy = sample_below(COPIES);
        const size_t block = sample_below(INNER);
        size_t before = 0, len = (size_t)lengths[block] * sizeof(int);
        ptrdiff_t disp;
        for (size_t i = 0; i < block; i++)
            before += (size_t)lengths[i] * sizeof(int);
        dtype_cursor_init(&cur, flat, 1, DTYPE_BYTES);
        dtype_cursor_seek(&cur, (outer * COPIES + copy) * inner->size + before);
        assert_int_equal(dtype_cursor_next(&cur, SIZE_MAX, &disp), len);
        assert_int_equal(disp, disps[outer] * middle->extent + (ptrdiff_t)copy * stride +
                                   disps[block] * (ptrdiff_t)sizeof(int));
    }
    dtype_unref(inner);
    dtype_unref(middle);
    dtype_unref(flat);
    MPI_Type_free(&blocks);
    MPI_Type_free(&copies);
    MPI_Type_free(&nested);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact_lists_are_the_same),
        cmocka_unit_test(test_many_blocks_are_compact),
        cmocka_unit_test(test_lists_of_lists),
    };

    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests_name("dtype_lists", tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
