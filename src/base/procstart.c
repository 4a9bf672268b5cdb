/*
 * procstart.c - see procstart.h. Field 22 of /proc/PID/stat (man 5 proc).
 */
#include "base/procstart.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/procfile.h"

/* The kernel's PROC_TIME_INIT_INO: the time namespace that a machine begins with. */
#define FIRST_TIME_NAMESPACE 0xeffffffau

enum { START_FIELD = 22 };

/* Without time namespaces there is one time for all. */
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
