/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.h - copies of memory that another process may read or change meanwhile.
 */
#ifndef MRMA_BASE_COPY_H
#define MRMA_BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* copy_whole copies len bytes that do not overlap. Aligned 4 and 8 bytes are stored at once, so
 * that a process that polls a flag in a window sees either the old or the new value. With len 0 the
 * pointers may be NULL. */
static inline void copy_whole(void *to, const void *from, size_t len)
{
    switch (len) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 0: /* MPI allows null pointers here, memcpy does not */
        break;
    default:
        memcpy(to, from, len);
    }
}

/* copy_once copies len bytes from memory that another process may change at any time. The caller
 * checks and uses the copy at to; the compiler cannot read from again instead. */
static inline void copy_once(void *to, const void *from, size_t len)
{
    memcpy(to, from, len);
    __asm__ volatile("" : : "r"(to) : "memory");
}

/* copy_once_8 returns the 8 bytes at from, which is aligned to 8, read once from memory that
 * another process may change. */
static inline uint64_t copy_once_8(const void *from)
{
    typedef uint64_t __attribute__((may_alias)) word;
    return __atomic_load_n((const word *)from, __ATOMIC_RELAXED);
}

#endif
