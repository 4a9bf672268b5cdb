/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * next_malloc.c - see next_malloc.h.
 */
#define _GNU_SOURCE 1 /* RTLD_NEXT, dladdr */
#include "tools/next_malloc.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* The C library's functions by the names that nobody replaces. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *ptr, size_t size);
void *__libc_memalign(size_t align, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);
void __libc_free(void *ptr);

/* While symbols are looked up. */
static const struct allocator c_library = {
    .malloc = __libc_malloc,
    .calloc = __libc_calloc,
    .realloc = __libc_realloc,
    .memalign = __libc_memalign,
    .aligned_alloc = __libc_memalign,
    .valloc = __libc_valloc,
    .pvalloc = __libc_pvalloc,
    .free = __libc_free,
};

const struct allocator *_Atomic next_malloc_known;

static struct allocator behind; /* the allocator; written once */
static bool foreign;            /* it is not the C library's */

/* The thread is looking for it. */
static __thread __attribute__((tls_model("initial-exec"))) bool looking_up;

static void *next_symbol(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static bool of_c_library(const void *function)
{
    Dl_info there, libc;

    return dladdr(function, &there) != 0 && dladdr((const void *)__libc_free, &libc) != 0 &&
           there.dli_fbase == libc.dli_fbase;
}

static_assert(sizeof(struct allocator) == 10 * sizeof(void *), "find_behind has ten names");

/* A function that the next library lacks is the C library's. */
static void find_behind(struct allocator *found)
{
    static const char *const names[] = {
        "malloc", "calloc",  "realloc",        "memalign",           "aligned_alloc",
        "valloc", "pvalloc", "posix_memalign", "malloc_usable_size", "free"};
    void *at[sizeof names / sizeof *names];

    memcpy(at, &c_library, sizeof at);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *symbol = next_symbol(names[i]);
        if (symbol != NULL)
            at[i] = symbol;
    }
    memcpy(found, at, sizeof at);
}

/* next_malloc_find may run in several threads at once, all of which write the same. */
const struct allocator *next_malloc_find(void)
{
    struct allocator found;
    const int saved = errno;

    if (looking_up)
        return &c_library;
    looking_up = true;
    find_behind(&found);
    foreign = !of_c_library(*(void **)&found.malloc);
    behind = found;
    looking_up = false;
    errno = saved;
    atomic_store_explicit(&next_malloc_known, &behind,
                          memory_order_release); /* pairs with the load in next_malloc */
    return &behind;
}

bool next_malloc_is_foreign(void)
{
    return foreign;
}

bool next_malloc_is_sought(void)
{
    return looking_up;
}
