/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern.h - contents that tell a byte's place and which transfer brought it.
 */
#ifndef BENCH_RMA_PATTERN_H
#define BENCH_RMA_PATTERN_H

#include <stddef.h>

/* Write the n bytes of the pattern that seed names. */
void pattern_fill(void *at, size_t n, unsigned seed);

/* The first of n bytes that is not the pattern's, n if there is none. */
size_t pattern_check(const void *at, size_t n, unsigned seed);

#endif
