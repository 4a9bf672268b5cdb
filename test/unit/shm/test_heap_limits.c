/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_heap_limits.c - shm/heap where there is not enough: a directory that is full or fills up,
 * too few descriptors, more than there can be.
 */
#define _GNU_SOURCE 1
#include "test/support/heap_pieces.h"

#include <sys/resource.h>

static int tiny_child(void *arg)
{
    const char *dir = arg;
    struct log_pipe lp;
    struct heap *heap;
    void *ptr[64] = {NULL}, *more;
    char text[1024];
    size_t allocated, committed;
    int n = 0;

    if (!tiny_tmpfs(dir, 1 * MIB)) /* smaller than a chunk */
        return CHILD_SKIP;
    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    CHILD_CHECK(heap_create(dir, &lp.log, &heap) == MRMA_SUCCESS);
    CHILD_CHECK(heap_alloc(heap, 4 * MIB, 1, &more) == MRMA_ERR_NO_MEM);
    CHILD_CHECK(strstr(log_text(&lp, text, sizeof text), "NO_MEM") != NULL);
    while (n < 64 && heap_alloc(heap, 50000, 1, &ptr[n]) == MRMA_SUCCESS)
        memset(ptr[n++], 7, 50000); /* would be SIGBUS if it were not committed */
    CHILD_CHECK(n >= 15 && n < 21);
    CHILD_CHECK(strstr(log_text(&lp, text, sizeof text), "NO_MEM") != NULL);
    for (int i = 0; i < n; i++)
        CHILD_CHECK(heap_free(heap, ptr[i]) == MRMA_SUCCESS);
    heap_usage(heap, &allocated, &committed);
    CHILD_CHECK(allocated == 0 && committed <= 256 * KIB);
    CHILD_CHECK(heap_alloc(heap, 900 * KIB, 1, &more) == MRMA_SUCCESS); /* all room is back */
    memset(more, 1, 900 * KIB);
    CHILD_CHECK(count_entries(dir) == 0);
    heap_destroy(heap);
    return 0;
}

static void a_full_directory_is_no_mem(void **state)
{
    (void)state;
    expect_mounting_child(tiny_child);
}

/* Room for some chunks, then the directory is full in the middle of one. */
static int medium_child(void *arg)
{
    const char *dir = arg;
    struct heap *heap;
    struct piece pieces[200] = {{NULL, 0, 0}};
    size_t allocated, committed;
    int n = 0;

    if (!tiny_tmpfs(dir, 10 * MIB))
        return CHILD_SKIP;
    CHILD_CHECK(heap_create(dir, &quiet, &heap) == MRMA_SUCCESS);
    for (; n < 200; n++) {
        pieces[n] = (struct piece){.size = 100000, .fill = (unsigned char)n};
        if (heap_alloc(heap, 100000, 1, (void **)&pieces[n].ptr) != MRMA_SUCCESS)
            break;
        piece_fill(&pieces[n]);
    }
    CHILD_CHECK(n > 95 && n < 105);
    pieces[n].ptr = NULL;
    CHILD_CHECK(heap_free(heap, pieces[50].ptr) == MRMA_SUCCESS);
    CHILD_CHECK(heap_alloc(heap, 100000, 1, (void **)&pieces[50].ptr) == MRMA_SUCCESS);
    piece_fill(&pieces[50]);
    CHILD_CHECK(free_all(heap, pieces, (size_t)n));
    heap_usage(heap, &allocated, &committed);
    CHILD_CHECK(allocated == 0 && committed <= 256 * KIB);
    heap_destroy(heap);
    return 0;
}

static void a_directory_that_fills_up_keeps_what_is_there(void **state)
{
    (void)state;
    expect_mounting_child(medium_child);
}

static int descriptors_child(void *arg)
{
    struct log_pipe lp;
    struct heap *heap;
    struct rlimit lim;
    void *ptr[64];
    char text[1024];
    int n = 0, left = 0;
    (void)arg;

    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &lim) == 0);
    for (lim.rlim_cur = 0; left < 8; lim.rlim_cur++) /* inherited ones may lie between */
        left += fcntl((int)lim.rlim_cur, F_GETFD) < 0;
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &lim) == 0);
    CHILD_CHECK(heap_create("", &lp.log, &heap) == MRMA_SUCCESS);
    while (n < 64 && heap_alloc(heap, 2 * MIB, 1, &ptr[n]) == MRMA_SUCCESS)
        n++;
    CHILD_CHECK(n == left);
    CHILD_CHECK(strstr(log_text(&lp, text, sizeof text), "ulimit -n") != NULL);
    CHILD_CHECK(heap_free(heap, ptr[3]) == MRMA_SUCCESS);
    CHILD_CHECK(heap_alloc(heap, 10, 1, &ptr[3]) == MRMA_SUCCESS);   /* a chunk takes the place */
    CHILD_CHECK(heap_alloc(heap, 1000, 1, &ptr[8]) == MRMA_SUCCESS); /* and serves more */
    heap_destroy(heap);
    return 0;
}

static void too_few_descriptors_are_named(void **state)
{
    (void)state;
    expect_child(run_child(descriptors_child, NULL), "");
}

static void a_request_beyond_everything_is_no_mem(void **state)
{
    struct heap *heap;
    void *ptr = &heap;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    assert_int_equal(heap_alloc(heap, SIZE_MAX, 1, &ptr), MRMA_ERR_NO_MEM);
    assert_int_equal(heap_alloc(heap, SIZE_MAX - 100, 8192, &ptr), MRMA_ERR_NO_MEM);
    assert_int_equal(heap_alloc(heap, 1, (size_t)1 << 63, &ptr), MRMA_ERR_NO_MEM);
    assert_int_equal(heap_alloc(heap, (size_t)1 << 45, 1, &ptr), MRMA_ERR_NO_MEM);
    assert_ptr_equal(ptr, &heap); /* outputs only on success */
    assert_int_equal(heap_alloc(heap, 10, 1, &ptr), MRMA_SUCCESS);
    heap_destroy(heap);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_directory_is_no_mem),
        cmocka_unit_test(a_directory_that_fills_up_keeps_what_is_there),
        cmocka_unit_test(too_few_descriptors_are_named),
        cmocka_unit_test(a_request_beyond_everything_is_no_mem),
    };
    return cmocka_run_group_tests_name("heap limits", tests, NULL, NULL);
}

int main(void)
{
    return run_with_skips(all_tests);
}
