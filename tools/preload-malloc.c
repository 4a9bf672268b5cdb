/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * preload-malloc.c - malloc and its kin, whose large blocks peers on the node can map.
 *
 * mpi-rma-run --share-malloc preloads it. Blocks from a threshold on come from a shared heap
 * (src/shm/page_heap.h), so that windows over them are mapped; smaller ones, and all that the heap
 * cannot give, come from the next malloc behind this one, which is the C library's. The address of
 * a block tells which of the two it is from. Where the next malloc is another's, or the program's
 * own malloc stands in front of this one, nothing is shared: all calls are passed on.
 *
 * Order at the start: the first call of any function here finds the next malloc (next_malloc.h);
 * the first large block reads the environment and makes the heap. No lock is held while symbols are
 * looked up, since the dynamic linker has a lock of its own, under which it allocates. What the
 * heap itself allocates while it works comes from the C library, so no thread enters it twice.
 *
 * Nothing ends: blocks may be freed by whatever runs last. Neighbours: page_heap.h; malloc_calls.h,
 * by which libmpi-rma finds which memory is shared; mpi-rma-run.
 */
#define _GNU_SOURCE 1 /* RTLD_DEFAULT, environ */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/conf.h"
#include "base/err.h"
#include "base/log.h"
#include "shm/malloc_calls.h"
#include "shm/page_heap.h"
#include "tools/next_malloc.h"

#define PUBLIC __attribute__((visibility("default")))
#define LEAST_THRESHOLD ((size_t)64)
#define USUAL_THRESHOLD ((size_t)128 << 10) /* glibc's own, from which blocks are mappings */
#define RANGE ((size_t)2 << 40)

enum { STATE_NEW, STATE_ON, STATE_OFF };
static _Atomic int state = STATE_NEW;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER; /* around what follows */
static struct conf conf;
static struct log messages;
static const char *reason = "no large block has been asked for"; /* why nothing is shared */
static struct page_heap *heap;

/* Written before the state is on. Before, no address is in the range. */
static _Atomic uintptr_t range_at;
static _Atomic size_t range_size;
static _Atomic size_t threshold = LEAST_THRESHOLD; /* from which on a block may be shared */

#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
OF_THREAD bool inside;     /* in the heap, or in the start */
OF_THREAD bool was_called; /* a large block was asked for meanwhile */

/* ---- the start ---- */

static void fork_prepare(void)
{
    inside = true;
    page_heap_fork_prepare(heap);
}

static void fork_parent(void)
{
    page_heap_fork_parent(heap);
    inside = false;
}

static void fork_child(void)
{
    page_heap_fork_child(heap);
    inside = false;
}

/* first_text keeps the first text of an error, which say_once writes. */
static char held[LOG_HELD];

static bool first_text(int fault, const char *text)
{
    (void)fault;
    if (held[0] == '\0')
        snprintf(held, sizeof held, "%s", text);
    return true;
}

/* stands_first returns whether the program's calls of malloc come here. Addresses do not tell: that
 * of a program at a fixed address is a place in the program itself. So malloc is called. */
static bool stands_first(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "malloc"), *back = dlsym(RTLD_DEFAULT, "free");
    void *(*first)(size_t size);
    void (*give_back)(void *ptr);

    memcpy(&first, &symbol, sizeof first);
    memcpy(&give_back, &back, sizeof give_back);
    was_called = false;
    give_back(first(LEAST_THRESHOLD));
    return was_called;
}

/* why_off returns why nothing is to be shared, or NULL. Not under a lock: symbols are looked up. */
static const char *why_off(struct conf *c)
{
    char msg[512];

    (void)next_malloc();
    if (next_malloc_is_foreign())
        return "another library replaces the C library's malloc";
    if (!stands_first())
        return "another malloc, of the program or of a library, stands in front";
    if (conf_load(c, getenv, msg, sizeof msg) != MRMA_SUCCESS)
        return "a variable of the environment is not understood";
    if (c->disable)
        return "MPIRMA_DISABLE is set";
    return c->share_malloc != 0 ? NULL : "MPIRMA_SHARE_MALLOC is not set";
}

/* start_heap is called with the lock. */
static const char *start_heap(const struct conf *c)
{
    size_t size;

    conf = *c;
    log_init(&messages, conf.log_level, 2, "libmpi-rma-malloc");
    messages.hold = first_text;
    if (page_heap_create(conf.segment_dir, &messages, RANGE, &heap) != MRMA_SUCCESS)
        return "there is no address space for shared memory";
    if (pthread_atfork(fork_prepare, fork_parent, fork_child) != 0)
        return "the C library takes no more handlers for forks";
    const uintptr_t at = (uintptr_t)page_heap_range(heap, &size);
    atomic_store_explicit(&range_at, at, memory_order_relaxed);
    /* the size is zero until now; pairs with the load in is_shared */
    atomic_store_explicit(&range_size, size, memory_order_release);
    return NULL;
}

static void start(void)
{
    struct conf c;
    const char *why = why_off(&c);

    pthread_mutex_lock(&starting);
    if (atomic_load_explicit(&state, memory_order_relaxed) == STATE_NEW) {
        if (why == NULL)
            why = start_heap(&c);
        reason = why;
        const size_t least = why != NULL           ? SIZE_MAX
                             : c.share_malloc == 1 ? USUAL_THRESHOLD
                                                   : (size_t)c.share_malloc;
        atomic_store_explicit(&threshold, least < LEAST_THRESHOLD ? LEAST_THRESHOLD : least,
                              memory_order_relaxed);
        /* pairs with the load in is_on */
        atomic_store_explicit(&state, why == NULL ? STATE_ON : STATE_OFF, memory_order_release);
    }
    pthread_mutex_unlock(&starting);
}

/* is_on returns whether blocks are shared. The first call decides, once the C library has set up
 * the environment. */
static bool is_on(void)
{
    int now = atomic_load_explicit(&state, memory_order_acquire);

    if (unlikely(now == STATE_NEW) && environ != NULL && !inside && !next_malloc_is_sought()) {
        inside = true;
        start();
        inside = false;
        now = atomic_load_explicit(&state, memory_order_acquire);
    }
    return now == STATE_ON;
}

/* ---- shared blocks ---- */

static inline bool is_shared(const void *ptr)
{
    const size_t size = atomic_load_explicit(&range_size, memory_order_acquire);

    return unlikely((uintptr_t)ptr - atomic_load_explicit(&range_at, memory_order_relaxed) < size);
}

static inline bool is_large(size_t size)
{
    return unlikely(size >= atomic_load_explicit(&threshold, memory_order_relaxed));
}

/* say_once tells of the first block that the heap could not give. */
static void say_once(size_t size)
{
    static _Atomic bool said;

    if (atomic_exchange_explicit(&said, true, memory_order_relaxed))
        return;
    log_msg(&messages, LOG_LEVEL_WARN,
            "a block of %zu bytes is not shared: %s. It comes from the C library's malloc, as do "
            "others for which there is no room. This is said once in a process",
            size, held);
}

/* share returns a shared block, or NULL. errno is kept. */
static void *share(size_t size, size_t align, bool zero)
{
    const int saved = errno;
    void *block = NULL;

    if (inside) {
        was_called = true;
        return NULL;
    }
    if (is_on() && is_large(size)) {
        inside = true;
        block = page_heap_alloc(heap, size, align, zero);
        if (block == NULL && size <= (size_t)PTRDIFF_MAX)
            say_once(size);
        inside = false;
    }
    errno = saved;
    return block;
}

static void bad_pointer(const char *function, const void *ptr)
{
    log_msg(&messages, LOG_LEVEL_ERROR, "%s: %p is not the start of a block, or it was freed",
            function, ptr);
    abort();
}

static void free_shared(void *ptr)
{
    const int saved = errno;
    const bool was_inside = inside;

    inside = true;
    if (!page_heap_free(heap, ptr))
        bad_pointer("free", ptr);
    inside = was_inside;
    errno = saved;
}

static size_t shared_size(const void *ptr, const char *function)
{
    const size_t size = page_heap_size(heap, ptr);

    if (size == 0)
        bad_pointer(function, ptr);
    return size;
}

/* copy_to moves old_size or size bytes, the smaller number, to a new block; NULL stays NULL. */
static void *copy_to(void *block, size_t size, const void *old, size_t old_size)
{
    return block == NULL ? NULL : memcpy(block, old, size < old_size ? size : old_size);
}

static void *resize_shared(void *ptr, size_t size)
{
    const size_t old_size = shared_size(ptr, "realloc");
    const int saved = errno;
    bool done = false;
    void *block;

    if (size == 0) {
        free_shared(ptr);
        return NULL;
    }
    if (is_large(size) && !inside) {
        inside = true;
        done = page_heap_resize(heap, ptr, size);
        inside = false;
    }
    errno = saved;
    if (done)
        return ptr;
    block = copy_to(malloc(size), size, ptr, old_size);
    if (block != NULL)
        free_shared(ptr);
    return block;
}

/* ---- the functions ---- */

static bool is_power(size_t align)
{
    return align != 0 && (align & (align - 1)) == 0;
}

PUBLIC void *malloc(size_t size)
{
    void *block = is_large(size) ? share(size, 1, false) : NULL;

    return likely(block == NULL) ? next_malloc()->malloc(size) : block;
}

PUBLIC void *calloc(size_t n, size_t size)
{
    size_t bytes;
    void *block = NULL;

    if (likely(!__builtin_mul_overflow(n, size, &bytes)) && is_large(bytes))
        block = share(bytes, 1, true);
    return likely(block == NULL) ? next_malloc()->calloc(n, size) : block;
}

PUBLIC void *realloc(void *ptr, size_t size)
{
    if (ptr == NULL)
        return malloc(size);
    if (is_shared(ptr))
        return resize_shared(ptr, size);
    void *block = is_large(size) && next_malloc()->usable != NULL ? share(size, 1, false) : NULL;
    if (likely(block == NULL))
        return next_malloc()->realloc(ptr, size);
    copy_to(block, size, ptr, next_malloc()->usable(ptr));
    next_malloc()->free(ptr);
    return block;
}

PUBLIC void *reallocarray(void *ptr, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(ptr, bytes);
}

PUBLIC void *memalign(size_t align, size_t size)
{
    void *block = is_large(size) && is_power(align) ? share(size, align, false) : NULL;

    return block == NULL ? next_malloc()->memalign(align, size) : block;
}

PUBLIC void *aligned_alloc(size_t align, size_t size)
{
    void *block = is_large(size) && is_power(align) ? share(size, align, false) : NULL;

    return block == NULL ? next_malloc()->aligned_alloc(align, size) : block;
}

PUBLIC int posix_memalign(void **out, size_t align, size_t size)
{
    void *block = NULL;

    if (is_large(size) && is_power(align) && align % sizeof(void *) == 0)
        block = share(size, align, false);
    if (block == NULL)
        return next_malloc()->posix_memalign(out, align, size);
    *out = block;
    return 0;
}

PUBLIC void *valloc(size_t size)
{
    void *block = is_large(size) ? share(size, 1, false) : NULL;

    return block == NULL ? next_malloc()->valloc(size) : block;
}

PUBLIC void *pvalloc(size_t size)
{
    void *block = is_large(size) ? share(size, 1, false) : NULL;

    return block == NULL ? next_malloc()->pvalloc(size) : block;
}

PUBLIC size_t malloc_usable_size(void *ptr)
{
    if (is_shared(ptr))
        return shared_size(ptr, "malloc_usable_size");
    return next_malloc()->usable(ptr);
}

PUBLIC void free(void *ptr)
{
    if (is_shared(ptr))
        free_shared(ptr);
    else
        next_malloc()->free(ptr);
}

/* Of C23. A C library that has them would free the block itself. */
PUBLIC void free_sized(void *ptr, size_t size);
PUBLIC void free_aligned_sized(void *ptr, size_t align, size_t size);

void free_sized(void *ptr, size_t size)
{
    (void)size;
    free(ptr);
}

void free_aligned_sized(void *ptr, size_t align, size_t size)
{
    (void)align;
    (void)size;
    free(ptr);
}

/* ---- for libmpi-rma ---- */

static const char *why_not(void)
{
    return is_on() ? NULL : reason;
}

static bool find(const void *ptr, size_t len, struct heap_loc *loc)
{
    return is_shared(ptr) && page_heap_find(heap, ptr, len, loc);
}

static bool pin(const void *ptr, size_t len)
{
    return is_shared(ptr) && page_heap_pin(heap, ptr, len);
}

static bool unpin(const void *ptr)
{
    if (!is_shared(ptr))
        return false;
    page_heap_unpin(heap, ptr);
    return true;
}

PUBLIC extern const struct malloc_calls mpirma_malloc_calls;
const struct malloc_calls mpirma_malloc_calls = {
    .version = MALLOC_CALLS_VERSION, .why_not = why_not, .find = find, .pin = pin, .unpin = unpin};
