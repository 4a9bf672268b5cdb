/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcheck.h - what valgrind's Memcheck cannot see by itself, said to it.
 *
 * Memcheck follows the stores of the process that it runs. What another process writes by the
 * kernel it does not see, and takes for bytes that nobody has written. Where its header is not
 * there at build time these functions do nothing; outside valgrind they take a few instructions.
 * No state, no locks.
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

/* More bytes than any machine has: such a window stands for all of the address space. */
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

/* memcheck_shared says that other processes write the len bytes at at from now on, so that all of
 * them may be read. */
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

/* memcheck_pause keeps this thread's errors from being reported until memcheck_resume: bytes of the
 * program go to another process as they are, also those between the members of a structure, which
 * nobody has written, and the receiver judges what it reads. */
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
