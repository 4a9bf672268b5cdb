/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.h - monotonic time in nanoseconds.
 *
 * Engines take the clock as a function so that a simulation can hand in its own.
 */
#ifndef MRMA_BASE_CLOCK_H
#define MRMA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

typedef uint64_t (*clock_fn)(void);

/* clock_monotonic_ns returns the time of CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clock_monotonic_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
