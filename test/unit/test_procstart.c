/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_procstart.c - base/procstart: the same time whoever asks, another one for a
 * process that begins later, whatever it is called.
 */
#define _GNU_SOURCE 1
#include "base_helper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/procstart.h"

/* A child with that name, which has taken it when this returns, and which stays. */
static pid_t child_called(const char *name)
{
    int up[2];
    char byte = 0;
    assert_int_equal(pipe(up), 0);
    const pid_t pid = fork();
    if (pid == 0) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_own_time),
        cmocka_unit_test(others),
        cmocka_unit_test(asked_by_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
