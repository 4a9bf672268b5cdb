/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_assisted_copy.c - puts and gets by the kernel (rma/path/assisted_copy.c) of many small
 * pieces: contents, and how many entries of vectors they cost, each of which takes the kernel as
 * long as copying a KiB.
 *
 * The peer is this process. process_vm_writev and _readv of the library are the linker's __wrap_
 * functions here, which count.
 */
#define _GNU_SOURCE 1
#include "test/support/count_assisted.h"
#include "test/support/pkt_helper.h"

#include <unistd.h>

#include "rma/path/assisted_copy.h"

enum { PIECES = 1 << 20 };

static struct dtype *bytes_apart(size_t n, ptrdiff_t stride)
{
    const struct dtype_run run = {.len = 1, .stride = stride, .n = n};
    const struct dtype form = {.size = n,
                               .extent = (ptrdiff_t)n * stride,
                               .basic = ACC_BYTE,
                               .elems = n,
                               .runs = &run,
                               .nruns = 1,
                               .eruns = &run,
                               .neruns = 1};
    struct dtype *type;
    assert_int_equal(dtype_create(&form, &type), MRMA_SUCCESS);
    return type;
}

static struct rma_peer here;
static unsigned char *sparse, *packed; /* a byte in every third; all together */

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 7 + i / 251);
}

/* The pieces as one instance of a type of all of them, or as a count of instances of one. */
static struct rma_op pieces_op(const struct dtype *each, const struct dtype *byte, bool put)
{
    const size_t count = PIECES / each->size;
    struct rma_op op = {.ocount = count, .otype = each, .tcount = PIECES, .ttype = byte};
    if (put) {
        op.oaddr = sparse;
    } else {
        op.raddr = sparse;
        op.rcount = count;
        op.rtype = each;
    }
    return op;
}

static void fill(unsigned char *at, size_t step, bool with_pattern)
{
    for (size_t i = 0; i < PIECES; i++)
        at[i * step] = with_pattern ? pattern(i) : 0;
}

/* Pieces of this process against a contiguous target: hundreds of bytes for each entry. */
static void own_pieces(const struct dtype *each)
{
    const struct dtype byte = dtype_basic(ACC_BYTE);
    struct rma_op op = pieces_op(each, &byte, true);
    fill(sparse, 3, true);
    fill(packed, 1, false);
    entries = calls = 0;
    assert_int_equal(assisted_put(&here, NULL, (uintptr_t)packed, &op), MRMA_SUCCESS);
    assert_true(entries < PIECES / 256);
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(packed[i], pattern(i));
    op = pieces_op(each, &byte, false);
    memset(sparse, 0x5a, 3 * PIECES);
    entries = calls = 0;
    assert_int_equal(assisted_get(&here, NULL, (uintptr_t)packed, &op), MRMA_SUCCESS);
    assert_true(entries < PIECES / 256);
    for (size_t i = 0; i < PIECES; i++)
        assert_true(sparse[3 * i] == pattern(i) && sparse[3 * i + 1] == 0x5a);
}

/* Pieces on both sides, cut differently: an entry for each of the target's, and vectors that are
 * full. */
static void pieces_of_both(void)
{
    struct dtype *mine = bytes_apart(PIECES, 3), *its = bytes_apart(PIECES / 4, 2);
    struct rma_op op = {.oaddr = sparse, .ocount = 1, .otype = mine, .tcount = 4, .ttype = its};
    unsigned char *target = calloc(2, PIECES);
    fill(sparse, 3, true);
    entries = calls = 0;
    assert_int_equal(assisted_put(&here, NULL, (uintptr_t)target, &op), MRMA_SUCCESS);
    assert_true(entries <= PIECES + calls && calls <= PIECES / 256);
    for (size_t i = 0; i < PIECES; i++)
        assert_true(target[2 * i] == pattern(i) && target[2 * i + 1] == 0);
    free(target);
    dtype_unref(mine);
    dtype_unref(its);
}

static void test_pieces(void **state)
{
    struct dtype *all = bytes_apart(PIECES, 3), *one = bytes_apart(1, 3);
    (void)state;
    here.pid = getpid();
    sparse = malloc(3 * PIECES);
    packed = malloc(PIECES);
    own_pieces(all);
    own_pieces(one);
    pieces_of_both();
    free(sparse);
    free(packed);
    dtype_unref(all);
    dtype_unref(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces)};
    return cmocka_run_group_tests_name("assisted_copy", tests, NULL, NULL);
}
