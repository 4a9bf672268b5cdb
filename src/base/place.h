/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.h - where and how soon a helping thread runs: near the process's main thread, and
 * ahead of threads that compute.
 *
 * All of it is advice to the kernel. What it does not take changes nothing.
 */
#ifndef MRMA_BASE_PLACE_H
#define MRMA_BASE_PLACE_H

#include <stdint.h>

struct place {
    int cpu;            /* the calling thread is kept on it; -1: on none in particular */
    uint64_t looked_ns; /* clock when place_follow_main looked last; 0: never */
};

/* Ask for short time slices: a thread that wakes up with those goes ahead of one that computes
 * (Linux 6.12 and later; the share of the processor is the same). For the calling thread. */
void place_short_slices(void);

/* Keep the calling thread on the processor that the process's main thread is on or was last on, as
 * long as no more than most threads of the machine want to run; else let it run wherever the
 * process's other threads may. Looks at most once in PLACE_LOOK_NS of the clock now. */
enum { PLACE_LOOK_NS = 10000000 };
void place_follow_main(struct place *p, uint64_t now, unsigned most);

#endif
