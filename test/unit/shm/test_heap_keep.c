/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_heap_keep.c - shm/heap: pages that nobody touches, segments of freed allocations, children
 * of fork, and what stays when the heap is left.
 */
#define _GNU_SOURCE 1
#include "test/support/shm_helper.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/err.h"
#include "shm/heap.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static const struct log quiet = {.fd = -1};
static size_t page;

/* Bytes of pages that the segment around an allocation has. */
static size_t touched(struct heap *heap, const void *at)
{
    struct heap_loc loc;
    struct stat st;

    assert_true(heap_find(heap, at, 1, &loc));
    assert_int_equal(fstat(loc.seg.fd, &st), 0);
    return (size_t)st.st_blocks * 512;
}

static char *get(struct heap *heap, size_t size)
{
    void *at = NULL;
    assert_int_equal(heap_alloc(heap, size, 64, &at), MRMA_SUCCESS);
    return at;
}

static void nothing_is_touched(void **state)
{
    const size_t sizes[] = {100, 1 * MIB, 42 * MIB, 1024 * MIB};
    struct heap *heap;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(touched(heap, get(heap, sizes[i])), 0);
    heap_destroy(heap);
}

/* A program that allocates and frees in turn gets the same memory, and the pages that it has
 * touched. */
static void a_freed_segment_is_used_again(void **state)
{
    struct heap *heap;
    struct heap_loc first, loc;
    void *aligned;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    char *at = get(heap, 42 * MIB);
    assert_true(heap_find(heap, at, 1, &first));
    for (int i = 0; i < 423; i++) {
        memset(at, i, 3 * page);
        assert_int_equal(heap_free(heap, at), MRMA_SUCCESS);
        assert_int_equal(heap_free(heap, at), MRMA_ERR_BASE); /* it is no allocation now */
        assert_false(heap_find(heap, at, 1, &loc));
        at = get(heap, 42 * MIB - (size_t)i * page);
        assert_true(heap_find(heap, at, 42 * MIB - (size_t)i * page, &loc));
        assert_false(heap_find(heap, at, 42 * MIB - (size_t)i * page + 1, &loc));
        assert_true(loc.seg.inode == first.seg.inode && touched(heap, at) <= 2 * MIB);
    }
    assert_int_equal(heap_free(heap, at), MRMA_SUCCESS);
    assert_true(
        heap_find(heap, get(heap, 20 * MIB), 1, &loc)); /* too small to take the place of 42 MiB */
    assert_true(loc.seg.inode != first.seg.inode);
    assert_int_equal(heap_alloc(heap, 30 * MIB, 2 * MIB, &aligned), MRMA_SUCCESS);
    assert_int_equal((uintptr_t)aligned % (2 * MIB), 0);
    heap_destroy(heap);
}

/* Of the process: memory shared and resident, and open descriptors. */
static size_t resident(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "RssShmem: %zu kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib * KIB;
}

/* At most 64 MiB of pages and 8 segments are kept, those freed last. */
static void what_is_kept_is_bounded(void **state)
{
    struct heap *heap;
    struct heap_loc loc;
    char *at[20];
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    const size_t before = resident();
    const int entries = count_entries("/proc/self/fd");
    for (int i = 0; i < 4; i++)
        memset(at[i] = get(heap, 24 * MIB), 1, 24 * MIB);
    assert_true(heap_find(heap, at[3], 1, &loc));
    for (int i = 0; i < 4; i++)
        assert_int_equal(heap_free(heap, at[i]), MRMA_SUCCESS);
    assert_true(resident() <= before + 64 * MIB && resident() >= before + 40 * MIB);
    assert_ptr_equal(at[0] = get(heap, 24 * MIB), at[3]);
    assert_int_equal(touched(heap, at[0]), 24 * MIB); /* the last one's pages are there */
    assert_int_equal(heap_free(heap, at[0]), MRMA_SUCCESS);
    memset(at[0] = get(heap, 100 * MIB), 1, 100 * MIB);
    assert_int_equal(heap_free(heap, at[0]), MRMA_SUCCESS);
    assert_true(resident() <= before + 64 * MIB);
    for (int i = 0; i < 20; i++)
        at[i] = get(heap, 3 * MIB);
    for (int i = 0; i < 20; i++)
        assert_int_equal(heap_free(heap, at[i]), MRMA_SUCCESS);
    assert_true(count_entries("/proc/self/fd") <= entries + 8);
    heap_destroy(heap);
    assert_int_equal(count_entries("/proc/self/fd"), entries);
    assert_true(resident() <= before);
}

/* Where pages are allocated at once, others lack what is kept. */
static int limited_child(void *arg)
{
    struct heap *heap;
    void *at;

    if (!tiny_tmpfs(arg, 8 * MIB))
        return CHILD_SKIP;
    CHILD_CHECK(heap_create(arg, &quiet, &heap) == MRMA_SUCCESS);
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(heap_alloc(heap, 5 * MIB + (size_t)i * MIB, 64, &at) == MRMA_SUCCESS);
        memset(at, 1, 5 * MIB);
        CHILD_CHECK(heap_free(heap, at) == MRMA_SUCCESS);
    }
    heap_destroy(heap);
    return 0;
}

static void in_a_limited_directory_nothing_is_kept(void **state)
{
    (void)state;
    expect_mounting_child(limited_child);
}

/* ---- children ---- */

static pid_t forked(struct heap *heap)
{
    heap_fork_prepare(heap);
    const pid_t pid = fork();
    if (pid == 0)
        heap_fork_child(heap);
    else
        heap_fork_parent(heap);
    return pid;
}

static bool all_bytes(const char *at, int value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (at[i] != value)
            return false;
    return true;
}

struct family {
    struct heap *heap;
    char *small, *large, *freed;
    int go;
};

static int child_of_fork(const struct family *f)
{
    char byte;
    void *at;

    CHILD_CHECK(read(f->go, &byte, 1) == 1); /* the parent has stored */
    CHILD_CHECK(all_bytes(f->small, 1, 1000) && all_bytes(f->large, 2, 5 * page));
    CHILD_CHECK(all_bytes(f->large + 5 * page, 0, 100 * page));
    memset(f->small, 11, 1000);
    memset(f->large, 12, 8 * MIB);
    CHILD_CHECK(heap_free(f->heap, f->small) == MRMA_SUCCESS &&
                heap_free(f->heap, f->large) == MRMA_SUCCESS);
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(heap_alloc(f->heap, 8 * MIB, 64, &at) == MRMA_SUCCESS);
        memset(at, 13, 8 * MIB);
        CHILD_CHECK(heap_alloc(f->heap, 500 * KIB, 64, &at) == MRMA_SUCCESS);
        memset(at, 13, 500 * KIB);
    }
    heap_destroy(f->heap);
    return 0;
}

static void a_child_has_copies(void **state)
{
    struct family f;
    int go[2];
    (void)state;

    assert_int_equal(pipe(go), 0);
    f.go = go[0];
    assert_int_equal(heap_create("", &quiet, &f.heap), MRMA_SUCCESS);
    memset(f.small = get(f.heap, 1000), 1, 1000);
    memset(f.large = get(f.heap, 8 * MIB), 2, 5 * page);
    memset(f.freed = get(f.heap, 9 * MIB), 3, 9 * MIB);
    assert_int_equal(heap_free(f.heap, f.freed), MRMA_SUCCESS);
    const size_t before = touched(f.heap, f.large);
    const pid_t pid = forked(f.heap);
    if (pid == 0)
        _exit(child_of_fork(&f));
    assert_int_equal(touched(f.heap, f.large), before); /* copying has touched nothing */
    memset(f.small, 21, 1000);
    memset(f.large + page, 22, 20 * page);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(wait_child(pid), 0);
    assert_true(all_bytes(f.small, 21, 1000) && all_bytes(f.large, 2, page) &&
                all_bytes(f.large + page, 22, 20 * page));
    assert_true(all_bytes(f.large + 21 * page, 0, 8 * MIB - 21 * page));
    assert_ptr_equal(get(f.heap, 9 * MIB), f.freed);
    assert_true(all_bytes(f.freed, 3, 9 * MIB)); /* nor has the child stored in what is kept */
    heap_destroy(f.heap);
    close(go[0]), close(go[1]);
}

/* ---- the end ---- */

static void left_allocations_stay(void **state)
{
    struct heap *heap;
    const int entries = count_entries("/proc/self/fd");
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    char *small = get(heap, 1000), *large = get(heap, 8 * MIB), *freed = get(heap, 9 * MIB);
    memset(small, 1, 1000);
    memset(large, 2, 8 * MIB);
    assert_int_equal(heap_free(heap, freed), MRMA_SUCCESS);
    heap_leave(heap);
    assert_int_equal(count_entries("/proc/self/fd"), entries);
    assert_true(all_bytes(small, 1, 1000) && all_bytes(large, 2, 8 * MIB));
    memset(small, 3, 1000);
    memset(large, 4, 8 * MIB);
    const pid_t pid = fork();
    if (pid == 0) {
        memset(small, 5, 1000);
        memset(large, 6, 8 * MIB);
        _exit(0);
    }
    assert_int_equal(wait_child(pid), 0);
    assert_true(all_bytes(small, 3, 1000) && all_bytes(large, 4, 8 * MIB));
}

/* What may still take memory: not what a segment that is used again has already. */
static void untouched_bytes_are_known(void **state)
{
    struct heap *heap;
    char *at;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    at = get(heap, 32 * MIB);
    assert_int_equal(heap_untouched(heap, at, 32 * MIB), 32 * MIB);
    memset(at, 1, 8 * MIB);
    assert_int_equal(heap_untouched(heap, at, 32 * MIB), 32 * MIB - touched(heap, at));
    memset(at, 1, 24 * MIB);
    assert_int_equal(heap_free(heap, at), MRMA_SUCCESS);
    at = get(heap, 20 * MIB);
    assert_int_equal(heap_untouched(heap, at, 20 * MIB), 0);
    assert_int_equal(heap_untouched(heap, get(heap, 1000), 1000), 0);
    heap_destroy(heap);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_touched),
        cmocka_unit_test(a_freed_segment_is_used_again),
        cmocka_unit_test(untouched_bytes_are_known),
        cmocka_unit_test(what_is_kept_is_bounded),
        cmocka_unit_test(in_a_limited_directory_nothing_is_kept),
        cmocka_unit_test(a_child_has_copies),
        cmocka_unit_test(left_allocations_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    return run_with_skips(all_tests);
}
