/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcheck.h - tells valgrind's Memcheck what it cannot see by itself.
 *
 * Memcheck follows the stores of the process that it runs. It does not see what another process
 * writes by the kernel, and takes such bytes for bytes that nobody has written. Where its header is
 * not there at build time these functions do nothing; outside valgrind they take a few
 * instructions. No state, no locks.
 */
#ifndef MRMA_BASE_MEMCHECK_H
#define MRMA_BASE_MEMCHECK_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define MEMCHECK_KNOWN 1
#endif
#endif

/* More bytes than any machine has: a window of this size stands for the whole address space. */
#define MEMCHECK_MOST ((size_t)1 << 40)

/* memcheck_runs returns whether the process runs under valgrind. */
static inline bool memcheck_runs(void)
{
#ifdef MEMCHECK_KNOWN
    return RUNNING_ON_VALGRIND;
#else
    return false;
#endif
}

/* memcheck_shared tells Memcheck that other processes write the len bytes at at from now on, so
 * that all of them may be read. */
static inline void memcheck_shared(const void *at, size_t len)
{
#ifdef MEMCHECK_KNOWN
    if (len <= MEMCHECK_MOST)
        (void)VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(at, len);
#else
    (void)at;
    (void)len;
#endif
}

/* memcheck_pause keeps errors of this thread from being reported until memcheck_resume. The reason:
 * bytes of the program go to another process as they are, also those between the members of a
 * structure, which nobody has written; the receiver is checked when it reads them. */
static inline void memcheck_pause(void)
{
#ifdef MEMCHECK_KNOWN
    VALGRIND_DISABLE_ERROR_REPORTING;
#endif
}

/* memcheck_resume ends what memcheck_pause began. */
static inline void memcheck_resume(void)
{
#ifdef MEMCHECK_KNOWN
    VALGRIND_ENABLE_ERROR_REPORTING;
#endif
}

#endif
