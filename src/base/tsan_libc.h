/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tsan_libc.h - copies and frees that ThreadSanitizer sees.
 *
 * ThreadSanitizer checks copies and frees where it intercepts the C library's functions. There it
 * cannot tell this library's calls from those of the hosts, which are not to be checked
 * (test/run/mpiexec.sh). So a build with ThreadSanitizer includes this file in front of every
 * source, and reports beside each call what it reads and writes.
 */
#ifndef MRMA_BASE_TSAN_LIBC_H
#define MRMA_BASE_TSAN_LIBC_H

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* ThreadSanitizer's function: this thread reads len bytes at at. */
void __tsan_read_range(void *at, unsigned long len);

/* ThreadSanitizer's function: this thread writes len bytes at at. */
void __tsan_write_range(void *at, unsigned long len);

/* seen_memcpy does memcpy, and tells ThreadSanitizer what is read and written. */
static inline void *seen_memcpy(void *to, const void *from, size_t len)
{
    if (len) {
        __tsan_read_range((void *)from, len);
        __tsan_write_range(to, len);
    }
    return memcpy(to, from, len);
}

/* seen_memset does memset, and tells ThreadSanitizer what is written. */
static inline void *seen_memset(void *at, int byte, size_t len)
{
    if (len)
        __tsan_write_range(at, len);
    return memset(at, byte, len);
}

/* seen_free does free, and tells ThreadSanitizer that the memory is written. */
static inline void seen_free(void *at)
{
    if (at)
        __tsan_write_range(at, malloc_usable_size(at));
    free(at);
}

#define memcpy(...) seen_memcpy(__VA_ARGS__)
#define memset(...) seen_memset(__VA_ARGS__)
#define free(...) seen_free(__VA_ARGS__)

#endif
