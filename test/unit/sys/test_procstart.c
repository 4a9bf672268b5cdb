/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_procstart.c - base/procstart: the same time whoever asks, another one for a
 * process that begins later, whatever it is called; and whether a process lives, also where the
 * kernel refuses descriptors of processes, or none is left.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "test/support/refuse.h"
#include "sys/procstart.h"

/* A child with that name, which has taken it when this returns, and which stays. */
static pid_t child_called(const char *name)
{
    int up[2];
    char byte = 0;
    assert_int_equal(pipe(up), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* where a check fails, nobody else ends it */
        prctl(PR_SET_NAME, name);
        if (write(up[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(up[1]);
    assert_int_equal(read(up[0], &byte, 1), 1);
    close(up[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(wait_child(pid), 128 + SIGKILL);
}

static void the_own_time(void **state)
{
    (void)state;
    const uint64_t own = procstart_of(0);
    assert_true(own > 0);
    assert_int_equal(procstart_of(getpid()), own);
    const struct timespec tick = {.tv_nsec = 20000000};
    nanosleep(&tick, NULL);
    assert_int_equal(procstart_of(0), own);
}

static void others(void **state)
{
    static const char *const names[] = {"plain", "with space", ") 1 2 3 (", "a) R 1 (b", ""};
    const struct timespec ticks = {.tv_nsec = 30000000};
    uint64_t last = procstart_of(0);
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        nanosleep(&ticks, NULL);
        const pid_t pid = child_called(names[i]);
        const uint64_t its = procstart_of(pid);
        assert_true(its > last); /* younger than the one before */
        assert_true(its < last + 100000);
        last = its;
        end(pid);
        assert_int_equal(procstart_of(pid), 0);
    }
}

static int ask_as_child(void *arg)
{
    const uint64_t *parents = arg;
    CHILD_CHECK(procstart_of(getppid()) == *parents);
    CHILD_CHECK(procstart_of(0) >= *parents);
    return 0;
}

static void asked_by_another(void **state)
{
    uint64_t own = procstart_of(0);
    (void)state;
    assert_int_equal(run_child(ask_as_child, &own), 0);
}

/* What procstart_lives must say of a process that lives, of a zombie, of none, and of one that has
 * got its number. */
static int judge_lives(void *watchable)
{
    int fd = -1;
    const pid_t pid = child_called("judged");
    const uint32_t began = (uint32_t)procstart_of(pid);
    const bool watched = *(bool *)watchable;
    siginfo_t info;
    CHILD_CHECK(procstart_lives(pid, began, &fd));
    CHILD_CHECK((fd >= 0) == watched);
    CHILD_CHECK(procstart_lives(pid, 0, &fd));
    int other = -1;
    CHILD_CHECK(!procstart_lives(pid, began + 1, &other) && other == -1);
    kill(pid, SIGKILL);
    CHILD_CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    CHILD_CHECK(!procstart_lives(pid, began, &fd)); /* a zombie */
    CHILD_CHECK(wait_child(pid) == 128 + SIGKILL);
    CHILD_CHECK(!procstart_lives(pid, began, &fd));
    return 0;
}

static void watched(void **state)
{
    bool watchable = true;
    (void)state;
    assert_int_equal(run_child(judge_lives, &watchable), 0);
}

static int judge_refused(void *error)
{
    bool watchable = false;
    if (refuse_call(SYS_pidfd_open, *(int *)error) != 0)
        return CHILD_SKIP;
    return judge_lives(&watchable);
}

static void pidfd_open_refused(void **state)
{
    static const int errors[] = {EPERM, ENOSYS, EMFILE};
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        int error = errors[i];
        expect_child(run_child(judge_refused, &error), "no seccomp filter here");
    }
}

static void *stay(void *arg)
{
    for (;;)
        pause();
    return arg;
}

/* A child whose first thread has ended, as its stat file says when this returns, and another lives.
 */
static pid_t child_without_first_thread(void)
{
    const struct timespec ms = {.tv_nsec = 1000000};
    char path[32], text[256];
    const char *state = NULL;
    const pid_t pid = fork();
    if (pid == 0) {
        pthread_t thread;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (pthread_create(&thread, NULL, stay, NULL))
            _exit(1);
        pthread_exit(NULL);
    }
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    do {
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(text, sizeof text, file));
        fclose(file);
        state = strrchr(text, ')');
        assert_non_null(state);
        nanosleep(&ms, NULL);
    } while (state[2] != 'Z');
    return pid;
}

/* What procstart_lives must say when this process can open nothing. */
static int judge_without_descriptors(void *arg)
{
    const pid_t live = child_called("live"), zombie = child_called("zombie"),
                headless = child_without_first_thread();
    struct rlimit limit, none;
    siginfo_t info;
    int fd = -1;
    (void)arg;
    kill(zombie, SIGKILL);
    CHILD_CHECK(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT) == 0);
    CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = limit;
    none.rlim_cur = 0;
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHILD_CHECK(open("/dev/null", O_RDONLY) < 0 && errno == EMFILE);
    CHILD_CHECK(procstart_lives(live, 0, &fd));
    CHILD_CHECK(procstart_lives(headless, 0, &fd));
    CHILD_CHECK(!procstart_lives(zombie, 0, &fd));
    CHILD_CHECK(fd == -1);
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    kill(live, SIGKILL);
    kill(headless, SIGKILL);
    CHILD_CHECK(wait_child(zombie) == 128 + SIGKILL);
    CHILD_CHECK(wait_child(live) == 128 + SIGKILL);
    CHILD_CHECK(wait_child(headless) == 128 + SIGKILL);
    CHILD_CHECK(!procstart_lives(zombie, 0, &fd));
    return 0;
}

static void no_descriptor_left(void **state)
{
    (void)state;
    assert_int_equal(run_child(judge_without_descriptors, NULL), 0);
}

static int tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_own_time),       cmocka_unit_test(others),
        cmocka_unit_test(asked_by_another),   cmocka_unit_test(watched),
        cmocka_unit_test(pidfd_open_refused), cmocka_unit_test(no_descriptor_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return run_with_skips(tests);
}
