/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procstart.c - when a process began, and whether it lives (procstart.h).
 *
 * The kernel tells the beginning in field 22 of /proc/PID/stat (man 5 proc). A descriptor of a
 * process (pidfd) is readable when it has ended; where there is none, /proc is asked. No state, no
 * locks.
 */
#define _GNU_SOURCE 1
#include "sys/procstart.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memcheck.h"
#include "sys/procfile.h"

/* The kernel's PROC_TIME_INIT_INO: the time namespace that a machine begins with. */
#define FIRST_TIME_NAMESPACE 0xeffffffau

enum { START_FIELD = 22 };

/* A kernel without time namespaces has one time for all processes. */
static bool in_first_time_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/time", &st) != 0 || st.st_ino == FIRST_TIME_NAMESPACE;
}

uint64_t procstart_of(int pid)
{
    char path[32] = "/proc/self/stat";
    uint64_t start;
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
    return in_first_time_namespace() && procfile_stat(path, START_FIELD, &start) ? start : 0;
}

/* number_is_reused returns whether another process has the number now. It is asked after the
 * process is being watched, so it does not matter what happened before. */
static bool number_is_reused(int pid, uint32_t started)
{
    const uint32_t start = started ? (uint32_t)procstart_of(pid) : 0;
    return start && start != started;
}

/* lives_unwatched asks /proc where the kernel gives no descriptor of a process: on old kernels,
 * under some container profiles, and when this process has no descriptor left. Where there is a
 * /proc it shows a zombie; it shows that a number belongs to another process only if that process's
 * files can be opened. */
static bool lives_unwatched(int pid, uint32_t started)
{
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return false;
    return !procfile_is_zombie(pid) && !number_is_reused(pid, started);
}

/* open_pidfd opens a descriptor of the process, or returns errno. Valgrind before version 3.21 does
 * not know the system call, and complains of it. */
static bool open_pidfd(int pid, int *fd)
{
    if (memcheck_runs()) {
        errno = ENOSYS;
        return false;
    }
    *fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return *fd >= 0;
}

bool procstart_lives(int pid, uint32_t started, int *fd)
{
    if (*fd < 0) {
        if (!open_pidfd(pid, fd))
            return errno != ESRCH && lives_unwatched(pid, started);
        if (number_is_reused(pid, started)) {
            close(*fd);
            *fd = -1;
            return false;
        }
    }
    struct pollfd poll_fd = {.fd = *fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) <= 0;
}
