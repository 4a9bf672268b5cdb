/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.h - the one clock of the benchmarks: monotonic nanoseconds.
 */
#ifndef BENCH_COMMON_CLOCK_H
#define BENCH_COMMON_CLOCK_H

#include <time.h>

static inline double clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#endif
