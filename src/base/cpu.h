/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu.h - what this processor can do beyond what the compiler assumes.
 *
 * The library is built for the oldest processor of its kind. A function marked CPU_WIDE is compiled
 * for one with wide vectors (AVX2; no fused multiply-add, which would give other bits), and is
 * called only where cpu_wide() says so. Elsewhere the mark means nothing and the answer is no.
 */
#ifndef MRMA_BASE_CPU_H
#define MRMA_BASE_CPU_H

#include <stdbool.h>

#if defined(__x86_64__)
#define CPU_WIDE __attribute__((target("avx2")))
#else
#define CPU_WIDE
#endif

/* cpu_wide returns whether this processor has AVX2. It costs a load and a test: the answer was
 * found when the program began. */
static inline bool cpu_wide(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

#endif
