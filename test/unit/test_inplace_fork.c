/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_inplace_fork.c - shm/inplace: a child of fork has copies of what is shared, as of any other
 * memory.
 */
#define _GNU_SOURCE 1
#include "inplace_helper.h"

#include <sys/resource.h>

static void a_child_has_copies(void **state)
{
    const size_t len = 600 * page;
    unsigned char *p = new_memory(len);
    char *q = malloc(100);
    int go[2];
    char byte;
    (void)state;
    strcpy(q, "before");
    assert_int_equal(pipe(go), 0);
    take(p + 10, len - 20);
    take(q, 100);
    const pid_t pid = forked();
    if (pid == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) != 0) /* the parent has stored */
            _exit(1);
        if (!intact(p, len) || strcmp(q, "before") != 0 || private_bytes(p, len) != len ||
            inplace_bytes(ip) != 0)
            _exit(2);
        memset(p, 1, len);
        strcpy(q, "child");
        free(q);
        q = malloc(100);
        if (fork() == 0) /* a grandchild is like any */
            _exit(p[5] == 1 ? 0 : 3);
        int status;
        wait(&status);
        _exit(WEXITSTATUS(status));
    }
    p[50] ^= 1;
    strcpy(q, "parent");
    close(go[1]);
    assert_int_equal(wait_child(pid), 0);
    p[50] ^= 1;
    assert_true(intact(p, len));
    assert_string_equal(q, "parent");
    check_peer(p + 10, len - 20); /* still shared with them */
    inplace_drop(ip, p + 10, len - 20);
    inplace_drop(ip, q, 100);
    munmap(p, len);
    free(q);
    close(go[0]);
}

/* Without memory for copies the child at least changes nothing in the parent. */
static int no_copies_child(void *arg)
{
    const size_t len = 256 * page;
    unsigned char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rlimit lim = {0, RLIM_INFINITY};
    (void)arg;
    memset(p, 7, len);
    CHILD_CHECK(inplace_take(ip, p, len, false, text, sizeof text) == MRMA_SUCCESS);
    unsigned long pages;
    FILE *f = fopen("/proc/self/statm", "r");
    CHILD_CHECK(f != NULL && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    lim.rlim_cur = (pages + 64) * page;
    CHILD_CHECK(setrlimit(RLIMIT_AS, &lim) == 0);
    const pid_t pid = forked();
    if (pid == 0) {
        const bool same = p[0] == 7 && p[len - 1] == 7;
        memset(p, 1, len);
        _exit(!same);
    }
    CHILD_CHECK(wait_child(pid) == 0);
    CHILD_CHECK(p[0] == 7 && p[len - 1] == 7);
    return 0;
}

static void no_memory_for_copies(void **state)
{
    (void)state;
    expect_child(run_child(no_copies_child, NULL), "");
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        INPLACE_TEST(a_child_has_copies),
        INPLACE_TEST(no_memory_for_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return under_tsan() ? 0 : run_with_skips(all_tests);
}
