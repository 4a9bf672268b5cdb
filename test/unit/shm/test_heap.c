/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_heap.c - shm/heap: random use with contents checked, look-up, threads,
 * and a peer that reaches an allocation by its location.
 */
#define _GNU_SOURCE 1
#include "test/support/heap_pieces.h"

#include <pthread.h>

static void random_use_keeps_contents(void **state)
{
    struct heap *heap;
    size_t allocated, committed, sum = 0;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    for (uint64_t round = 1; round <= 4; round++) {
        struct piece pieces[100] = {{NULL, 0, 0}};
        assert_true(random_use(heap, pieces, 100, 3000, round * 0x9e3779b97f4a7c15u));
        heap_usage(heap, &allocated, &committed);
        for (size_t i = sum = 0; i < 100; i++)
            sum += pieces[i].ptr != NULL ? pieces[i].size : 0;
        assert_int_equal(allocated, sum);
        assert_true(committed >= allocated);
        assert_true(free_all(heap, pieces, 100));
        heap_usage(heap, &allocated, &committed);
        assert_int_equal(allocated, 0);
        assert_true(committed <= EMPTY_MAX);
    }
    heap_destroy(heap);
}

static void every_alignment_is_kept(void **state)
{
    const size_t sizes[] = {0, 1, 100, 5000, 2 * MIB};
    struct heap *heap;
    void *ptr[5][24];
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    for (int s = 0; s < 5; s++)
        for (int a = 0; a < 24; a++) { /* 1 byte to 8 MiB */
            assert_int_equal(heap_alloc(heap, sizes[s], (size_t)1 << a, &ptr[s][a]), MRMA_SUCCESS);
            assert_int_equal((uintptr_t)ptr[s][a] % ((size_t)1 << (a < 6 ? 6 : a)), 0);
            memset(ptr[s][a], a, sizes[s]);
        }
    for (int s = 0; s < 5; s++)
        for (int a = 0; a < 24; a++) {
            if (sizes[s] > 0)
                assert_int_equal(*((unsigned char *)ptr[s][a] + sizes[s] - 1), a);
            assert_int_equal(heap_free(heap, ptr[s][a]), MRMA_SUCCESS);
        }
    assert_int_equal(heap_alloc(heap, 1, 0, &ptr[0][0]), MRMA_SUCCESS);
    assert_int_equal(heap_alloc(heap, 1, 96, &ptr[0][0]), MRMA_ERR_ARG);
    heap_destroy(heap);
}

static void empty_allocations_are_unique(void **state)
{
    struct heap *heap;
    struct heap_loc loc;
    void *a, *b;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    assert_int_equal(heap_alloc(heap, 0, 1, &a), MRMA_SUCCESS);
    assert_int_equal(heap_alloc(heap, 0, 1, &b), MRMA_SUCCESS);
    assert_non_null(a);
    assert_ptr_not_equal(a, b);
    assert_true(heap_find(heap, a, 0, &loc));
    assert_false(heap_find(heap, a, 1, &loc));
    assert_int_equal(heap_free(heap, a), MRMA_SUCCESS);
    assert_int_equal(heap_free(heap, b), MRMA_SUCCESS);
    heap_destroy(heap);
}

static void wrong_pointers_are_refused(void **state)
{
    struct log_pipe lp;
    struct heap *heap;
    struct heap_loc loc;
    char text[1024], local;
    char *small, *large;
    (void)state;

    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    assert_int_equal(heap_create("", &lp.log, &heap), MRMA_SUCCESS);
    assert_int_equal(heap_free(heap, &local), MRMA_ERR_BASE);
    assert_non_null(strstr(log_text(&lp, text, sizeof text), "MPI_Alloc_mem"));
    assert_int_equal(heap_alloc(heap, 1000, 1, (void **)&small), MRMA_SUCCESS);
    assert_int_equal(heap_alloc(heap, 3 * MIB, 1, (void **)&large), MRMA_SUCCESS);
    char *const bad[] = {small + 1,    small + 64, small + 1000, small - 64,
                         large + 4096, &local,     NULL};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(heap_free(heap, bad[i]), MRMA_ERR_BASE);
    assert_false(heap_find(heap, &local, 1, &loc));
    assert_false(heap_find(heap, NULL, 0, &loc));
    assert_false(heap_find(heap, small, SIZE_MAX, &loc));
    assert_false(heap_find(heap, small + 999, SIZE_MAX, &loc));
    assert_true(heap_find(heap, large + 3 * MIB - 1, 1, &loc));
    assert_false(heap_find(heap, large + 3 * MIB - 1, 2, &loc));
    assert_int_equal(heap_free(heap, small), MRMA_SUCCESS);
    assert_int_equal(heap_free(heap, small), MRMA_ERR_BASE);
    assert_false(heap_find(heap, small, 1, &loc));
    assert_int_equal(heap_free(heap, large), MRMA_SUCCESS);
    assert_int_equal(heap_free(heap, large), MRMA_ERR_BASE);
    heap_destroy(heap);
    log_pipe_close(&lp);
}

static void neighbours_join_again(void **state)
{
    struct heap *heap;
    void *ptr[1000], *big;
    size_t allocated, before, after;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(heap_alloc(heap, 2000, 1, &ptr[i]), MRMA_SUCCESS);
    heap_usage(heap, &allocated, &before);
    /* Free all but the last in an order that joins to both sides. */
    for (int i = 0; i < 999; i += 2)
        assert_int_equal(heap_free(heap, ptr[i]), MRMA_SUCCESS);
    for (int i = 1; i < 999; i += 2)
        assert_int_equal(heap_free(heap, ptr[i]), MRMA_SUCCESS);
    /* Now one free block: requests that need most of it fit without growth. */
    assert_int_equal(heap_alloc(heap, 1 * MIB, 1, &big), MRMA_SUCCESS);
    assert_ptr_equal(big, ptr[0]);
    heap_usage(heap, &allocated, &after);
    assert_int_equal(after, before);
    assert_int_equal(allocated, 1 * MIB + 2000);
    heap_destroy(heap);
}

static void pages_are_committed_as_needed_and_given_back(void **state)
{
    struct heap *heap;
    void *first, *ptr[64];
    size_t allocated, committed;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    heap_usage(heap, &allocated, &committed);
    assert_true(committed <= 256 * KIB);
    assert_int_equal(heap_alloc(heap, 100, 1, &first), MRMA_SUCCESS);
    heap_usage(heap, &allocated, &committed);
    assert_true(allocated == 100 && committed > 0 && committed <= 512 * KIB);
    for (int i = 0; i < 64; i++)
        assert_int_equal(heap_alloc(heap, 256 * KIB, 1, &ptr[i]), MRMA_SUCCESS);
    heap_usage(heap, &allocated, &committed);
    assert_true(committed >= 16 * MIB && committed <= 17 * MIB);
    for (int i = 63; i >= 0; i--)
        assert_int_equal(heap_free(heap, ptr[i]), MRMA_SUCCESS);
    heap_usage(heap, &allocated, &committed);
    assert_true(committed <= EMPTY_MAX + 3 * MIB);
    assert_int_equal(heap_free(heap, first), MRMA_SUCCESS);
    heap_usage(heap, &allocated, &committed);
    assert_true(allocated == 0 && committed <= EMPTY_MAX);
    assert_int_equal(heap_alloc(heap, 100, 1, &first), MRMA_SUCCESS);
    memset(first, 1, 100);
    heap_destroy(heap);
}

/* ---- threads ---- */

struct worker {
    struct heap *heap;
    pthread_t thread;
    uint64_t seed;
    bool ok;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    struct piece pieces[40] = {{NULL, 0, 0}};

    w->ok = random_use(w->heap, pieces, 40, 1500, w->seed) && free_all(w->heap, pieces, 40);
    return NULL;
}

static void threads_share_the_heap(void **state)
{
    struct worker workers[4];
    struct heap *heap;
    size_t allocated, committed;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    for (uint64_t i = 0; i < 4; i++) {
        workers[i] = (struct worker){.heap = heap, .seed = 1000 + i * 77777};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_true(workers[i].ok);
    }
    heap_usage(heap, &allocated, &committed);
    assert_int_equal(allocated, 0);
    assert_true(committed <= EMPTY_MAX);
    heap_destroy(heap);
}

/* ---- a peer ---- */

struct found {
    struct heap_loc small, large;
};

static int peer_child(void *arg)
{
    struct found *f = arg;
    struct seg seg;

    CHILD_CHECK(seg_open(&f->small.seg, NULL, &seg) == MRMA_SUCCESS);
    CHILD_CHECK(strcmp((char *)seg.base + f->small.offset, "small") == 0);
    strcpy((char *)seg.base + f->small.offset, "peer's");
    seg_close(&seg);
    CHILD_CHECK(seg_open(&f->large.seg, NULL, &seg) == MRMA_SUCCESS);
    CHILD_CHECK(strcmp((char *)seg.base + f->large.offset, "large") == 0);
    strcpy((char *)seg.base + f->large.offset, "PEER'S");
    seg_close(&seg);
    return 0;
}

static void a_peer_reaches_an_allocation(void **state)
{
    struct heap *heap;
    struct found f;
    char *pad, *small, *large;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    assert_int_equal(heap_alloc(heap, 70000, 1, (void **)&pad), MRMA_SUCCESS);
    assert_int_equal(heap_alloc(heap, 1000, 1, (void **)&small), MRMA_SUCCESS);
    assert_int_equal(heap_alloc(heap, 2 * MIB, 64 * KIB, (void **)&large), MRMA_SUCCESS);
    strcpy(small + 100, "small");
    strcpy(large + 2 * MIB - 10, "large");
    assert_true(heap_find(heap, small + 100, 10, &f.small));
    assert_true(heap_find(heap, large + 2 * MIB - 10, 10, &f.large));
    expect_child(run_child(peer_child, &f), "");
    assert_string_equal(small + 100, "peer's");
    assert_string_equal(large + 2 * MIB - 10, "PEER'S");
    heap_destroy(heap);
}

/* A small block, and a large one that has a segment of its own. */
static void pinned_memory_is_not_used_again(void **state)
{
    const size_t sizes[] = {1000, 2 * MIB};
    struct heap_loc loc;
    struct heap *heap;
    void *ptr, *other, *again;
    (void)state;

    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(heap_alloc(heap, sizes[i], 1, &ptr), MRMA_SUCCESS);
        assert_true(heap_pin(heap, (char *)ptr + 10, 100));
        assert_true(heap_pin(heap, ptr, sizes[i]));
        assert_false(heap_pin(heap, ptr, sizes[i] + 1));
        assert_int_equal(heap_free(heap, ptr), MRMA_SUCCESS);
        assert_int_equal(heap_free(heap, ptr), MRMA_ERR_BASE);
        assert_false(heap_find(heap, ptr, 1, &loc));
        assert_false(heap_pin(heap, ptr, 1));
        heap_unpin(heap, (char *)ptr + 10);
        assert_int_equal(heap_alloc(heap, sizes[i], 1, &other), MRMA_SUCCESS);
        assert_ptr_not_equal(other, ptr);
        memset(ptr, 1, sizes[i]); /* still there */
        heap_unpin(heap, ptr);
        assert_int_equal(heap_alloc(heap, sizes[i], 1, &again), MRMA_SUCCESS);
        assert_ptr_equal(again, ptr);
        assert_int_equal(heap_free(heap, other), MRMA_SUCCESS);
        assert_true(heap_pin(heap, again, 1)); /* unpinned before it is freed */
        heap_unpin(heap, again);
        assert_int_equal(heap_free(heap, again), MRMA_SUCCESS);
    }
    heap_destroy(heap);
}

static void destroying_frees_what_was_forgotten(void **state)
{
    struct heap *heap;
    void *ptr;
    int before = dup(0), after;
    (void)state;

    close(before);
    assert_int_equal(heap_create("", &quiet, &heap), MRMA_SUCCESS);
    for (int i = 0; i < 100; i++)
        assert_int_equal(heap_alloc(heap, (size_t)i * 30000, 1, &ptr), MRMA_SUCCESS);
    heap_destroy(heap);
    heap_destroy(NULL);
    after = dup(0);
    close(after);
    assert_int_equal(before, after); /* no descriptor is left */
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_use_keeps_contents),
        cmocka_unit_test(every_alignment_is_kept),
        cmocka_unit_test(empty_allocations_are_unique),
        cmocka_unit_test(wrong_pointers_are_refused),
        cmocka_unit_test(neighbours_join_again),
        cmocka_unit_test(pages_are_committed_as_needed_and_given_back),
        cmocka_unit_test(threads_share_the_heap),
        cmocka_unit_test(a_peer_reaches_an_allocation),
        cmocka_unit_test(pinned_memory_is_not_used_again),
        cmocka_unit_test(destroying_frees_what_was_forgotten),
    };
    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}

int main(void)
{
    return run_with_skips(all_tests);
}
