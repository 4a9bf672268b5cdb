/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * misses.h - how many loads and stores of this process miss the last cache, where the kernel and
 * the machine count them.
 */
#ifndef BENCH_RMA_MISSES_H
#define BENCH_RMA_MISSES_H

#include <stddef.h>

/* A counter, or -1 with the reason in the buffer. Closed by close(). */
int misses_open(char *reason, size_t len);

/* Misses since the counter was opened; negative if it cannot be read. */
double misses_read(int counter);

#endif
