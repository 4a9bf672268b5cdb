/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * next_malloc.h - the allocator behind the one of preload-malloc.c, mostly the C library's.
 *
 * The first call finds it, by dlsym. That may allocate, which is then the C library's by its other
 * names (__libc_malloc). No locks: several threads may look at once, and write the same.
 */
#ifndef MRMA_TOOLS_NEXT_MALLOC_H
#define MRMA_TOOLS_NEXT_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/atomic.h"

struct allocator {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t n, size_t size);
    void *(*realloc)(void *ptr, size_t size);
    void *(*memalign)(size_t align, size_t size);
    void *(*aligned_alloc)(size_t align, size_t size);
    void *(*valloc)(size_t size);
    void *(*pvalloc)(size_t size);
    int (*posix_memalign)(void **out, size_t align, size_t size);
    size_t (*usable)(void *ptr);
    void (*free)(void *ptr);
};

/* The allocator when it is complete; NULL before. */
extern const struct allocator *_Atomic next_malloc_known;

/* next_malloc_find finds the allocator. While the calling thread is looking for it already, that is
 * the C library's, whose posix_memalign and usable are NULL. errno is kept. */
const struct allocator *next_malloc_find(void);

/* next_malloc returns the allocator. */
static inline const struct allocator *next_malloc(void)
{
    const struct allocator *a = atomic_load_explicit(&next_malloc_known, memory_order_acquire);

    return likely(a != NULL) ? a : next_malloc_find();
}

/* next_malloc_is_foreign returns whether the allocator is another library's than the C library. It
 * must have been found. */
bool next_malloc_is_foreign(void);

/* next_malloc_is_sought returns whether the calling thread is in next_malloc_find. */
bool next_malloc_is_sought(void);

#endif
