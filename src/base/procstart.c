/*
 * procstart.c - see procstart.h. Field 22 of /proc/PID/stat (man 5 proc), counted from
 * behind the command's name, in which there may be anything.
 */
#include "base/procstart.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel's PROC_TIME_INIT_INO: the time namespace that a machine begins with. */
#define FIRST_TIME_NAMESPACE 0xeffffffau

enum { NAME_FIELD = 2, START_FIELD = 22 };

/* Without time namespaces there is one time for all. */
static bool in_first_time_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/time", &st) != 0 || st.st_ino == FIRST_TIME_NAMESPACE;
}

uint64_t procstart_of(int pid)
{
    char path[32] = "/proc/self/stat", text[1024];
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int fd = in_first_time_namespace() ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    const ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = NAME_FIELD; at && field < START_FIELD; field++)
        if ((at = strchr(at, ' ')) != NULL)
            at++;
    return at ? strtoull(at, NULL, 10) : 0;
}
