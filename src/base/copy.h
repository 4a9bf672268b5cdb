/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.h - copies of what another process may see or change meanwhile.
 */
#ifndef MRMA_BASE_COPY_H
#define MRMA_BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copy len bytes. Aligned 4 and 8 bytes are one store, so that who polls a
 * flag in a window sees the old or the new value. */
static inline void copy_whole(void *to, const void *from, size_t len)
{
    switch (len) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 0: /* memcpy may not be given the null pointers that MPI allows here */
        break;
    default:
        memcpy(to, from, len);
    }
}

/* From memory that another process may change at any time: what is checked and used afterwards is
 * what to has got, since the compiler may not read from again instead. */
static inline void copy_once(void *to, const void *from, size_t len)
{
    memcpy(to, from, len);
    __asm__ volatile("" : : "r"(to) : "memory");
}

/* The same for 8 aligned bytes, which stay in a register. */
static inline uint64_t copy_once_8(const void *from)
{
    typedef uint64_t __attribute__((may_alias)) word;
    return __atomic_load_n((const word *)from, __ATOMIC_RELAXED);
}

#endif
