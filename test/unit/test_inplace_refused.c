/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_inplace_refused.c - shm/inplace: memory that cannot become shared stays as it is, all of it,
 * with the reason.
 */
#define _GNU_SOURCE 1
#include "inplace_helper.h"

#include <sys/resource.h>

/* Sanitizers' own mlock does nothing. */
static void lock_page(const void *at)
{
    assert_int_equal(syscall(SYS_mlock, at, page), 0);
}

static char static_data[100000] = {1};
static char static_bss[100000];

static void refused_kinds(void **state)
{
    const size_t len = 4 * page;
    char on_stack[100];
    unsigned char *p = new_memory(len);
    (void)state;
    refused(on_stack, sizeof on_stack, "stack");
    refused(static_data, sizeof static_data, "static memory");
    refused(static_bss, sizeof static_bss, "static memory");
    lock_page(p + page);
    refused(p, len, "locked");
    assert_int_equal(syscall(SYS_munlock, p, len), 0);
    assert_int_equal(mprotect(p + page, page, PROT_READ), 0);
    refused(p, len, "read and written");
    assert_int_equal(mprotect(p, len, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(madvise(p + page, page, MADV_DONTFORK), 0);
    refused(p, len, "not given to children");
    assert_int_equal(madvise(p, len, MADV_DOFORK), 0);
    munmap(p + 3 * page, page);
    refused(p, len, "not mapped");
    refused(p, SIZE_MAX - (uintptr_t)p, "address space");
    assert_true(intact(p, 3 * page));
    take(p, 3 * page);
    inplace_drop(ip, p, 3 * page);
    munmap(p, len);
    p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    refused(p, len, "shared memory");
    munmap(p, len);
    const int fd = open("/proc/self/exe", O_RDONLY);
    p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    refused(p, page, "not anonymous");
    munmap(p, page);
    close(fd);
}

/* Neither the beginning nor the end stays when the middle is refused. */
static void all_or_nothing(void **state)
{
    const size_t len = 9 * page;
    unsigned char *p = new_memory(len);
    (void)state;
    take(p + 2 * page, page);
    lock_page(p + 6 * page);
    take(p + 4 * page, page);
    refused(p, len, "locked");
    assert_int_equal(inplace_bytes(ip), 2 * page);
    assert_int_equal(private_bytes(p, len), 7 * page);
    inplace_drop(ip, p + 2 * page, page);
    inplace_drop(ip, p + 4 * page, page);
    assert_true(intact(p, len));
    munmap(p, len);
}

static int no_room_child(void *arg)
{
    const struct rlimit lim = {1 << 20, 1 << 20};
    unsigned char *p =
        mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct inplace *here;
    memset(p, 7, 8 * page);
    if (arg) {
        if (!tiny_tmpfs(arg, 4 * page))
            return CHILD_SKIP;
    } else {
        CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &lim) == 0);
    }
    CHILD_CHECK(inplace_create(arg ? arg : "", &lp.log, &here) == MRMA_SUCCESS);
    CHILD_CHECK(inplace_take(here, p, 8 * page, false, text, sizeof text) == MRMA_ERR_NO_MEM);
    CHILD_CHECK(strstr(text, arg ? "no room" : "ulimit -f") != NULL);
    CHILD_CHECK(inplace_bytes(here) == 0 && p[0] == 7 && p[8 * page - 1] == 7);
    if (arg) { /* what fits is had, and given back */
        for (int i = 0; i < 10; i++) {
            CHILD_CHECK(inplace_take(here, p, 3 * page, false, text, sizeof text) == MRMA_SUCCESS);
            inplace_drop(here, p, 3 * page);
        }
    }
    inplace_destroy(here);
    return 0;
}

static void no_room(void **state)
{
    (void)state;
    expect_child(run_child(no_room_child, NULL), "");
    expect_mounting_child(no_room_child);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        INPLACE_TEST(refused_kinds),
        INPLACE_TEST(all_or_nothing),
        INPLACE_TEST(no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return under_tsan() ? 0 : run_with_skips(all_tests);
}
