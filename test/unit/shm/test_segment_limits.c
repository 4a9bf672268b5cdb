/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_segment_limits.c - shm/segment where there is not enough, or somebody interferes: limits of
 * the process, directories that cannot serve or are full, signals, a process that is killed.
 *
 * Whatever changes limits, mounts or dies runs in a child process. Memory use stays below 128 MiB.
 */
#define _GNU_SOURCE 1
#include "test/support/segment_pages.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/time.h>

/* ---- limits ---- */

static int no_descriptors_child(void *arg)
{
    struct log_pipe lp;
    struct seg seg = {.fd = -1}, first;
    struct rlimit lim;
    char text[1024], expected[64];
    (void)arg;

    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    CHILD_CHECK(seg_create("", page, &lp.log, &first) == MRMA_SUCCESS);
    struct seg_name name = seg_name_of(&first);
    CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &lim) == 0);
    int next = dup(0);
    CHILD_CHECK(next >= 0 && close(next) == 0);
    lim.rlim_cur = (rlim_t)next;
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &lim) == 0);

    snprintf(expected, sizeof expected, "the limit is %d (ulimit -n)", next);
    CHILD_CHECK(seg_create("", page, &lp.log, &seg) == MRMA_ERR_OTHER);
    log_text(&lp, text, sizeof text);
    CHILD_CHECK(strstr(text, expected) != NULL &&
                strstr(text, "too few file descriptors: ") != NULL);
    CHILD_CHECK(seg_create("/", page, &lp.log, &seg) == MRMA_ERR_OTHER);
    CHILD_CHECK(strstr(log_text(&lp, text, sizeof text), "ulimit -n") != NULL);
    CHILD_CHECK(seg_open(&name, &lp.log, &seg) == MRMA_ERR_OTHER);
    CHILD_CHECK(strstr(log_text(&lp, text, sizeof text), "ulimit -n") != NULL);
    CHILD_CHECK(seg.fd == -1);
    seg_close(&first);
    CHILD_CHECK(seg_create("", page, &lp.log, &seg) == MRMA_SUCCESS);
    seg_close(&seg);
    return 0;
}

static void too_few_descriptors_are_named(void **state)
{
    (void)state;
    expect_child(run_child(no_descriptors_child, NULL), "");
}

static int file_size_child(void *arg)
{
    struct rlimit lim = {.rlim_cur = 8 * page, .rlim_max = 8 * page};
    struct seg seg;
    (void)arg;

    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &lim) == 0);
    CHILD_CHECK(seg_create("", 9 * page, &quiet, &seg) == MRMA_ERR_NO_MEM); /* and no SIGXFSZ */
    CHILD_CHECK(seg_create("", 8 * page, &quiet, &seg) == MRMA_SUCCESS);
    CHILD_CHECK(seg_commit(&seg, 0, 8 * page, &quiet) == MRMA_SUCCESS);
    lim.rlim_cur = 4 * page;
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &lim) == 0);
    CHILD_CHECK(seg_commit(&seg, 0, 8 * page, &quiet) == MRMA_ERR_NO_MEM);
    seg_close(&seg);
    return 0;
}

static void the_file_size_limit_is_an_error_not_a_signal(void **state)
{
    (void)state;
    expect_child(run_child(file_size_child, NULL), "");
}

static void directories_that_cannot_serve_are_named(void **state)
{
    const char *const dirs[] = {"/no/such/directory", "/proc/self/maps", "/proc", "/sys"};
    struct log_pipe lp;
    struct seg seg = {.fd = -7};
    char text[1024];
    (void)state;

    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        assert_int_equal(seg_create(dirs[i], page, &lp.log, &seg), MRMA_ERR_OTHER);
        assert_non_null(strstr(log_text(&lp, text, sizeof text), dirs[i]));
        assert_int_equal(seg.fd, -7);
    }
    log_pipe_close(&lp);
}

/* ---- a small file system ---- */

static int tiny_child(void *arg)
{
    const char *dir = arg;
    struct log_pipe lp;
    struct seg a, b;
    char text[1024];

    if (!tiny_tmpfs(dir, 4 * MIB))
        return CHILD_SKIP;
    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    CHILD_CHECK(seg_create(dir, 5 * MIB, &lp.log, &a) == MRMA_ERR_NO_MEM);
    CHILD_CHECK(strstr(log_text(&lp, text, sizeof text), "4194304") != NULL);

    CHILD_CHECK(seg_create(dir, 4 * MIB, &lp.log, &a) == MRMA_SUCCESS);
    CHILD_CHECK(seg_create(dir, 4 * MIB, &lp.log, &b) == MRMA_SUCCESS);
    CHILD_CHECK(seg_commit(&a, 0, 3 * MIB, &lp.log) == MRMA_SUCCESS);
    CHILD_CHECK(seg_commit(&b, 0, 2 * MIB, &lp.log) == MRMA_ERR_NO_MEM);
    CHILD_CHECK(strstr(log_text(&lp, text, sizeof text), "do not fit") != NULL);
    seg_decommit(&b, 0, b.size);
    CHILD_CHECK(seg_commit(&b, MIB, MIB, &lp.log) == MRMA_SUCCESS);
    memset(a.base, 1, 3 * MIB); /* full now, and yet no SIGBUS */
    memset((char *)b.base + MIB, 1, MIB);
    CHILD_CHECK(seg_commit(&b, 0, page, &lp.log) == MRMA_ERR_NO_MEM);
    seg_close(&a);
    CHILD_CHECK(seg_commit(&b, 0, b.size, &lp.log) == MRMA_SUCCESS);
    memset(b.base, 2, b.size);
    CHILD_CHECK(count_entries(dir) == 0);
    seg_close(&b);
    return 0;
}

static void a_full_directory_is_an_error_not_a_signal(void **state)
{
    (void)state;
    expect_mounting_child(tiny_child);
}

/* ---- signals ---- */

static unsigned alarms;

static void on_alarm(int sig)
{
    (void)sig;
    alarms++;
}

/* A profiler's timer, faster than a large fallocate: it must end nevertheless. */
static int timer_child(void *arg)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    struct itimerval every = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
    struct seg seg;

    if (!tiny_tmpfs(arg, 128 * MIB))
        return CHILD_SKIP;
    CHILD_CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHILD_CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(seg_create(arg, 96 * MIB, &quiet, &seg) == MRMA_SUCCESS);
        CHILD_CHECK(seg_commit(&seg, 0, seg.size, &quiet) == MRMA_SUCCESS);
        CHILD_CHECK(pages_in_use(&seg) == seg.size / page);
        seg_decommit(&seg, 0, seg.size);
        CHILD_CHECK(pages_in_use(&seg) == 0);
        seg_close(&seg);
    }
    CHILD_CHECK(alarms > 0);
    return 0;
}

static void signals_do_not_disturb_a_commit(void **state)
{
    (void)state;
    expect_mounting_child(timer_child);
}

/* Creates and closes segments until it is killed. */
static void churn(const char *dir, int ready)
{
    struct seg segs[4];

    if (write(ready, "", 1) != 1)
        _exit(1);
    for (;;) {
        for (int i = 0; i < 4; i++)
            if (seg_create(dir, 16 * page, &quiet, &segs[i]) != MRMA_SUCCESS ||
                seg_commit(&segs[i], 0, 16 * page, &quiet) != MRMA_SUCCESS)
                _exit(2);
        for (int i = 0; i < 4; i++)
            seg_close(&segs[i]);
    }
}

static int kill_child(void *arg)
{
    const char *dir = arg;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    struct statfs before, after;
    int ready[2];
    char byte;

    if (!tiny_tmpfs(dir, 8 * MIB))
        return CHILD_SKIP;
    CHILD_CHECK(statfs(dir, &before) == 0);
    for (int round = 0; round < 100; round++) {
        CHILD_CHECK(pipe(ready) == 0);
        pid_t pid = fork();
        if (pid == 0)
            churn(dir, ready[1]);
        CHILD_CHECK(pid > 0 && read(ready[0], &byte, 1) == 1);
        usleep((useconds_t)(next_random(&seed) % 2000));
        CHILD_CHECK(kill(pid, SIGKILL) == 0);
        CHILD_CHECK(wait_child(pid) == 128 + SIGKILL);
        close(ready[0]), close(ready[1]);
        CHILD_CHECK(count_entries(dir) == 0);
    }
    CHILD_CHECK(statfs(dir, &after) == 0);
    CHILD_CHECK(after.f_bfree == before.f_bfree && after.f_ffree == before.f_ffree);
    return 0;
}

static void nothing_is_left_after_sigkill(void **state)
{
    (void)state;
    expect_mounting_child(kill_child);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few_descriptors_are_named),
        cmocka_unit_test(the_file_size_limit_is_an_error_not_a_signal),
        cmocka_unit_test(directories_that_cannot_serve_are_named),
        cmocka_unit_test(a_full_directory_is_an_error_not_a_signal),
        cmocka_unit_test(signals_do_not_disturb_a_commit),
        cmocka_unit_test(nothing_is_left_after_sigkill),
    };
    page = (size_t)sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests_name("segment limits", tests, NULL, NULL);
}

int main(void)
{
    return run_with_skips(all_tests);
}
