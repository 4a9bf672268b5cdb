/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_inplace.c - shm/inplace: contents stay, peers map the pages, users of touching and
 * overlapping ranges, other threads' stores, memory that is gone at the end.
 */
#define _GNU_SOURCE 1
#include "inplace_helper.h"

static void there_and_back(void **state)
{
    static const size_t sizes[] = {1, 100, 5000, 300000, 5 << 20, (65 << 20) + 5};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t len = (sizes[i] + 3 * page) / page * page;
        unsigned char *p = new_memory(len);
        for (int round = 0; round < 2; round++) {
            take(p + 100, sizes[i]);
            assert_true(intact(p, len));
            assert_true(private_bytes(p, len) < len);
            check_peer(p + 100, sizes[i]);
            inplace_drop(ip, p + 100, sizes[i]);
            assert_true(intact(p, len));
            assert_int_equal(private_bytes(p, len), len);
            assert_int_equal(inplace_bytes(ip), 0);
        }
        munmap(p, len);
    }
}

static void from_malloc(void **state)
{
    char *p[20];
    (void)state;
    for (int i = 0; i < 20; i++) {
        p[i] = malloc(1000);
        memset(p[i], i, 1000);
    }
    for (int i = 0; i < 20; i += 2)
        take(p[i], 1000);
    for (int i = 0; i < 20; i++) { /* malloc goes on with its data in the pages */
        if (i % 2)
            p[i] = realloc(p[i], 3000);
        assert_int_equal(p[i][999], i);
    }
    for (int i = 0; i < 20; i += 2) {
        check_peer((unsigned char *)p[i], 1000);
        inplace_drop(ip, p[i], 1000);
    }
    assert_int_equal(inplace_bytes(ip), 0);
    for (int i = 0; i < 20; i++) {
        p[i] = realloc(p[i], 5000);
        assert_int_equal(p[i][999], i);
        free(p[i]);
    }
}

static void users_are_counted_by_page(void **state)
{
    const size_t len = 10 * page;
    unsigned char *p = new_memory(len);
    struct heap_loc loc;
    bool some;
    (void)state;
    take(p + page, 2 * page);         /* pages 1, 2 */
    take(p + 4 * page, 2 * page);     /* 4, 5 */
    take(p + 2 * page + 5, 3 * page); /* 2 to 5 */
    assert_int_equal(inplace_bytes(ip), 5 * page);
    check_peer(p + page, 5 * page); /* one piece for peers */
    assert_false(inplace_find(ip, p, 2 * page, &loc));
    assert_false(inplace_find(ip, p + page, 5 * page + 1, &loc));
    inplace_drop(ip, p + 4 * page, 2 * page);
    inplace_drop(ip, p + page, 2 * page);
    assert_int_equal(inplace_bytes(ip), 4 * page);
    assert_int_equal(private_bytes(p, len), 6 * page);
    /* Who holds a range holds what is shared of it. */
    assert_int_equal(inplace_hold(ip, p, 4 * page, &some), MRMA_SUCCESS);
    assert_true(some);
    inplace_drop(ip, p + 2 * page + 5, 3 * page);
    assert_int_equal(inplace_bytes(ip), 2 * page); /* 2, 3 */
    /* And may take the rest, once for both. */
    assert_int_equal(inplace_take(ip, p, 4 * page, true, text, sizeof text), MRMA_SUCCESS);
    assert_int_equal(inplace_bytes(ip), 4 * page);
    check_peer(p, 4 * page);
    inplace_drop(ip, p, 4 * page);
    assert_int_equal(inplace_bytes(ip), 0);
    assert_int_equal(inplace_hold(ip, p, len, &some), MRMA_SUCCESS);
    assert_false(some);
    assert_true(intact(p, len));
    assert_int_equal(private_bytes(p, len), len);
    munmap(p, len);
}

/* Nothing that threads store in the pages, next to what is taken, is lost on either way. */
static void stores_of_other_threads(void **state)
{
    unsigned char *p = new_memory(3 * page);
    uint64_t *words = (uint64_t *)(void *)p;
    struct worker w[2];
    (void)state;
    need_tracing();
    words[0] = words[page / 4 + 10] = 0;
    worker_begin(&w[0], &words[0]);
    worker_begin(&w[1], &words[page / 4 + 10]);
    for (int round = 0; round < 100; round++) {
        take(p + 100, 2 * page);
        inplace_drop(ip, p + 100, 2 * page);
    }
    worker_end(&w[0]);
    worker_end(&w[1]);
    assert_int_equal(words[0], w[0].done);
    assert_int_equal(words[page / 4 + 10], w[1].done);
    munmap(p, 3 * page);
}

static void threads_that_cannot_be_stopped(void **state)
{
    static uint64_t word;
    unsigned char *p = new_memory(3 * page);
    struct worker w;
    int fd;
    (void)state;
    need_tracing();
    worker_begin(&w, &word);
    take(p, 100);
    const pid_t tracer = hold_by_tracer(atomic_load(&w.tid), &fd);
    refused(p + page, page, "cannot be stopped");
    inplace_drop(ip, p, 100); /* stays shared, told in a note */
    assert_non_null(strstr(log_text(&lp, text, sizeof text), "stay shared memory"));
    assert_int_equal(inplace_bytes(ip), page);
    refused(p, 100, "restored before");
    (void)log_text(&lp, text, sizeof text);
    close(fd);
    assert_int_equal(wait_child(tracer), 0);
    take(p, 100);
    inplace_drop(ip, p, 100);
    assert_int_equal(inplace_bytes(ip), 0);
    assert_true(intact(p, 3 * page));
    worker_end(&w);
    munmap(p, 3 * page);
}

/* ---- what the program does with it ---- */

static void unmapped_meanwhile(void **state)
{
    unsigned char *p = new_memory(6 * page);
    (void)state;
    take(p, 6 * page);
    munmap(p + page, page);
    assert_true(mmap(p + 2 * page, page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
    p[2 * page] = 77;
    mprotect(p + 4 * page, page, PROT_READ);
    const pid_t pid = forked(); /* copies what is there */
    if (pid == 0)
        _exit(p[2 * page] != 77 || p[0] != byte_of(0));
    assert_int_equal(wait_child(pid), 0);
    inplace_drop(ip, p, 6 * page);
    assert_int_equal(inplace_bytes(ip), 0);
    assert_int_equal(p[2 * page], 77);
    assert_int_equal(private_bytes(p, 6 * page), 5 * page);
    for (size_t i = 0; i < 6 * page; i++)
        if (i / page != 1 && i / page != 2)
            assert_int_equal(p[i], byte_of(i));
    mprotect(p + 4 * page, page, PROT_READ | PROT_WRITE);
    munmap(p, 6 * page);
}

static void the_end_restores(void **state)
{
    unsigned char *p = new_memory(6 * page);
    struct inplace *other;
    (void)state;
    assert_int_equal(inplace_create("", &lp.log, &other), MRMA_SUCCESS);
    assert_int_equal(inplace_take(other, p, 3 * page, false, text, sizeof text), MRMA_SUCCESS);
    assert_int_equal(inplace_take(other, p + 2 * page, 4 * page, false, text, sizeof text),
                     MRMA_SUCCESS);
    inplace_destroy(other);
    assert_true(intact(p, 6 * page));
    assert_int_equal(private_bytes(p, 6 * page), 6 * page);
    munmap(p, 6 * page);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        INPLACE_TEST(there_and_back),
        INPLACE_TEST(from_malloc),
        INPLACE_TEST(users_are_counted_by_page),
        INPLACE_TEST(stores_of_other_threads),
        INPLACE_TEST(threads_that_cannot_be_stopped),
        INPLACE_TEST(unmapped_meanwhile),
        INPLACE_TEST(the_end_restores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return under_tsan() ? 0 : run_with_skips(all_tests);
}
