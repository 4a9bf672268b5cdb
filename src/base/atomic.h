/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic.h - C11 atomics plus the few words every layer needs around them.
 *
 * All shared variables are _Atomic objects accessed with an explicit memory
 * order; pairs name each other in comments ("pairs with ...").
 */
#ifndef MRMA_BASE_ATOMIC_H
#define MRMA_BASE_ATOMIC_H

#include <stdatomic.h>
#include <stdint.h>

#define MRMA_CACHE_LINE 64

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* cpu_relax tells the processor that the caller spins on a word of memory. */
static inline void cpu_relax(void)
{
    /* On x86 this is a builtin of gcc; elsewhere a compiler barrier is enough. */
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/*
 * atomic_rmw_fence stands between a sequentially consistent read-modify-write and later accesses
 * that are not sequentially consistent: everything before the fence is visible when these are made.
 * On x86 the instruction of a read-modify-write is locked, and so a full fence by itself. ARM64
 * without LSE makes a loop of LDAXR and STLXR: accesses that follow are ordered behind the load of
 * the loop, not behind its store, and C11 promises no more, since the loads below are not
 * sequentially consistent:
 *
 *   process 0                             process 1
 *   accumulate x: LDAXR x, STLXR x        accumulate y: LDAXR y, STLXR y
 *   flush; get y: LDR y                   flush; get x: LDR x
 *
 * Each LDR might be done before its own STLXR has become visible, and both gets read 0. Here the
 * fence is a DMB ISH. All other places where a read-modify-write stands before a load have a fence
 * (atomic_thread_fence) between the two, or a load that is sequentially consistent, which ARM64
 * keeps behind the STLXR (LDAR).
 */
static inline void atomic_rmw_fence(void)
{
#if defined(__x86_64__) || defined(__i386__)
    atomic_signal_fence(memory_order_seq_cst);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* seq_reached returns whether sequence number a lies at or after b, where both count modulo 2^32
 * and are less than 2^31 apart. */
static inline int seq_reached(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) >= 0;
}

#endif
