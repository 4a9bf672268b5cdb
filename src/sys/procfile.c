/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procfile.c - the fields of the stat files of /proc (procfile.h). No state, no locks, no memory of
 * its own.
 */
#include "sys/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_FIELD = 2, STATE_FIELD = 3, THREADS_FIELD = 20 };

/* read_text reads the beginning of a file, as many bytes as fit with a null byte behind them; "" if
 * it cannot be read. */
static void read_text(const char *path, char *text, size_t len)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, len - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
}

/* field_of finds a field behind the command's name, which stands in parentheses and may have blanks
 * and parentheses of its own. */
static const char *field_of(const char *path, int field, char *text, size_t len)
{
    read_text(path, text, len);
    const char *at = strrchr(text, ')');
    for (int i = NAME_FIELD; at && i < field; i++)
        at = strchr(at + 1, ' ');
    return at;
}

bool procfile_stat(const char *path, int field, uint64_t *value)
{
    char text[1024];
    const char *at = field_of(path, field, text, sizeof text);
    if (!at)
        return false;
    *value = strtoull(at, NULL, 10);
    return true;
}

static bool has_program(const char *path)
{
    char text[2];
    return readlink(path, text, sizeof text) >= 0 || errno != ENOENT;
}

/* is_zombie_by_names looks only at names in /proc, for which it needs no descriptor: a zombie runs
 * no program, and has only its first thread. The directory of threads has a link for each thread,
 * and two of its own. */
static bool is_zombie_by_names(int pid)
{
    char program[32], threads[32];
    struct stat st;
    snprintf(program, sizeof program, "/proc/%d/exe", pid);
    snprintf(threads, sizeof threads, "/proc/%d/task", pid);
    return has_program("/proc/self/exe") && !has_program(program) && stat(threads, &st) == 0 &&
           st.st_nlink <= 3;
}

bool procfile_is_zombie(int pid)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const char *state = field_of(path, STATE_FIELD, text, sizeof text);
    uint64_t threads;
    if (!state)
        return is_zombie_by_names(pid);
    return (state[1] == 'Z' || state[1] == 'X') && procfile_stat(path, THREADS_FIELD, &threads) &&
           threads <= 1;
}
