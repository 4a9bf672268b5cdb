/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * base_helper.h - what the unit tests of src/base and src/shm share.
 *
 * run_child runs a function in a forked process and hands back its result, for
 * tests that change limits, mount, or die. A child may not use cmocka's asserts
 * (they would jump back into a copy of the test runner): it uses CHILD_CHECK and
 * returns. log_to_pipe and log_text catch what the code under test says. Programs
 * with tests that may be skipped run under run_with_skips.
 */
#ifndef MRMA_TEST_BASE_HELPER_H
#define MRMA_TEST_BASE_HELPER_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"

#define CHILD_SKIP 77

#define CHILD_CHECK(condition)                                                          \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: in the child: %s (errno %d)\n", __FILE__, __LINE__, \
                    #condition, errno);                                                 \
            return 1;                                                                   \
        }                                                                               \
    } while (0)

/* Exit code of the child; 128 + signal if one ended it. */
static inline int wait_child(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline int run_child(int (*body)(void *arg), void *arg)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(body(arg));
    return pid < 0 ? -1 : wait_child(pid);
}

/* For a child's result that may say that the system does not offer what is needed. */
static inline void expect_child(int result, const char *why_skipped)
{
    if (result == CHILD_SKIP) {
        print_message("# skipped: %s\n", why_skipped);
        skip();
    }
    assert_int_equal(result, 0);
}

/* Run a program's tests in a child and pass its output on. cmocka's TAP says
 * "not ok ... # SKIP" for a skipped test, which harnesses rightly count as a
 * failure; it becomes "ok ... # SKIP", with the reason that expect_child gave. */
static inline int run_with_skips(int (*tests)(void))
{
    char line[1024], reason[1024] = "";
    int fd[2];

    fflush(stdout);
    if (pipe(fd) != 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[1], 1);
        close(fd[0]), close(fd[1]);
        exit(tests());
    }
    close(fd[1]);
    FILE *in = fdopen(fd[0], "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "# skipped: ", 11) == 0)
            strcpy(reason, line + 10);
        else if (strncmp(line, "not ok ", 7) == 0 && strstr(line, " # SKIP") != NULL)
            printf("%s:%s\n", line + 4, reason);
        else
            puts(line);
        fflush(stdout);
    }
    if (in != NULL)
        fclose(in);
    return pid < 0 ? 1 : wait_child(pid);
}

struct log_pipe {
    struct log log;
    int fd[2];
};

static inline void log_to_pipe(struct log_pipe *lp, enum log_level level)
{
    if (pipe2(lp->fd, O_CLOEXEC | O_NONBLOCK) != 0)
        abort();
    log_init(&lp->log, level, lp->fd[1], "test");
}

/* What was logged since the last call; "" if nothing. */
static inline const char *log_text(struct log_pipe *lp, char *buf, size_t len)
{
    ssize_t n = read(lp->fd[0], buf, len - 1);
    buf[n > 0 ? n : 0] = '\0';
    return buf;
}

static inline void log_pipe_close(struct log_pipe *lp)
{
    close(lp->fd[0]);
    close(lp->fd[1]);
}

/* A small, fast, seeded generator: runs repeat. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
