/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * misses.c - see misses.h; perf_event_open(2).
 */
#define _GNU_SOURCE 1
#include "bench/rma/misses.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int misses_open(char *reason, size_t len)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_CACHE_MISSES,
                                   .exclude_hv = 1};
    int counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

    if (counter < 0) { /* the kernel's own part may be closed to us */
        attr.exclude_kernel = 1;
        counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    }
    if (counter < 0)
        snprintf(reason, len, "cache misses are not counted here: %s", strerror(errno));
    return counter;
}

double misses_read(int counter)
{
    uint64_t value;

    if (read(counter, &value, sizeof(value)) != (ssize_t)sizeof(value))
        return -1;
    return (double)value;
}
