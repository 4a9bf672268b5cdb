/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tsan_libc.h - copies and frees that ThreadSanitizer sees.
 *
 * It judges them where it intercepts the C library's functions, and cannot tell there the calls of
 * this library from the hosts', which are not to be judged (test/run/mpiexec.sh). So a build with
 * it includes this file in front of every source, and says what is read and written beside the
 * call.
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

/* seen_memcpy is memcpy, and tells ThreadSanitizer what is read and written. */
static inline void *seen_memcpy(void *to, const void *from, size_t len)
{
    if (len) {
        __tsan_read_range((void *)from, len);
        __tsan_write_range(to, len);
    }
    return memcpy(to, from, len);
}

/* seen_memset is memset, and tells ThreadSanitizer what is written. */
static inline void *seen_memset(void *at, int byte, size_t len)
{
    if (len)
        __tsan_write_range(at, len);
    return memset(at, byte, len);
}

/* seen_free is free, and tells ThreadSanitizer that the memory is written. */
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
