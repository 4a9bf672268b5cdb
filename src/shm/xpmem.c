/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xpmem.c - see xpmem.h. libxpmem's functions are called through pointers; their types are those of
 * its header, which is not needed to build this.
 *
 * State: the pointers, written once. The library is never unloaded, since it holds the descriptor
 * by which the module knows this process.
 */
#include "shm/xpmem.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/err.h"

#define LIBXPMEM "libxpmem.so.0"
#define DEVICE "/dev/xpmem" /* which libxpmem opens */
#define PROBE_WORD UINT64_C(0x6d70692d726d6178)

/* xpmem.h of libxpmem: segments and permits are 64-bit numbers, and a result of -1 is an error. */
enum { READ_WRITE = 2, PERMIT_MODE = 1, OWNER_ONLY = 0600 };

struct place {
    int64_t permit;
    off_t offset; /* in the segment */
};

struct shm_xpmem {
    int (*version)(void);
    int64_t (*make)(void *at, size_t size, int permit_type, void *permit_value);
    int (*remove)(int64_t segment);
    int64_t (*get)(int64_t segment, int flags, int permit_type, void *permit_value);
    int (*release)(int64_t permit);
    void *(*attach)(struct place place, size_t size, void *at);
    int (*detach)(void *at);
    uint64_t page;
};

/* reason returns errno, or another error if errno is 0 after a failure. */
static int reason(void)
{
    return errno ? errno : EIO;
}

static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_all(struct shm_xpmem *x, void *library)
{
    return find(library, "xpmem_version", &x->version) && find(library, "xpmem_make", &x->make) &&
           find(library, "xpmem_remove", &x->remove) && find(library, "xpmem_get", &x->get) &&
           find(library, "xpmem_release", &x->release) &&
           find(library, "xpmem_attach", &x->attach) && find(library, "xpmem_detach", &x->detach);
}

static int load(struct shm_xpmem *x, char *why, size_t len)
{
    void *library = dlopen(LIBXPMEM, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        snprintf(why, len, "%s", dlerror());
        return MRMA_ERR_OTHER;
    }
    const bool complete = find_all(x, library);
    (void)dlclose(library);
    if (!complete) {
        snprintf(why, len, LIBXPMEM " lacks a function");
        return MRMA_ERR_OTHER;
    }
    if (x->version() < 0) {
        snprintf(why, len,
                 "xpmem_version: %s (is the module loaded, may this user open /dev/xpmem?)",
                 strerror(reason()));
        return MRMA_ERR_OTHER;
    }
    return MRMA_SUCCESS;
}

/* try_own attaches a page of this process itself. */
static int try_own(struct shm_xpmem *x, char *why, size_t len)
{
    uint64_t *word =
        mmap(NULL, x->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (word == MAP_FAILED)
        return MRMA_ERR_NO_MEM;
    *word = PROBE_WORD;
    const uint64_t segment = shm_xpmem_make(x, word, sizeof *word);
    const char *const call = segment ? "xpmem_get or xpmem_attach" : "xpmem_make";
    const int error =
        segment ? shm_xpmem_probe(x, segment, (uint64_t)(uintptr_t)word, PROBE_WORD) : reason();
    shm_xpmem_remove(x, segment);
    munmap(word, x->page);
    if (!error)
        return MRMA_SUCCESS;
    snprintf(why, len, "%s: %s", call,
             error < 0 ? "another memory is there than was meant" : strerror(error));
    return MRMA_ERR_OTHER;
}

int shm_xpmem_open(bool anyway, struct shm_xpmem **out, char *why, size_t len)
{
    if (!anyway && access(DEVICE, F_OK) != 0) {
        snprintf(why, len, DEVICE ": %s", strerror(reason()));
        return MRMA_ERR_OTHER;
    }
    struct shm_xpmem *x = calloc(1, sizeof *x);
    snprintf(why, len, "no memory");
    if (!x)
        return MRMA_ERR_NO_MEM;
    x->page = (uint64_t)sysconf(_SC_PAGESIZE);
    int err = load(x, why, len);
    if (!err)
        err = try_own(x, why, len);
    if (err) {
        free(x);
        return err;
    }
    *out = x;
    return MRMA_SUCCESS;
}

void shm_xpmem_close(struct shm_xpmem *x)
{
    free(x);
}

int shm_xpmem_version(const struct shm_xpmem *x)
{
    return x->version();
}

/* pages returns how many bytes the pages of [vaddr, vaddr+len) have, and sets *first to the first
 * of them. */
static size_t pages(const struct shm_xpmem *x, uint64_t vaddr, uint64_t len, uint64_t *first)
{
    *first = vaddr & ~(x->page - 1);
    return (size_t)((vaddr + len - *first + x->page - 1) & ~(x->page - 1));
}

uint64_t shm_xpmem_make(const struct shm_xpmem *x, const void *ptr, size_t len)
{
    uint64_t first;
    const size_t size = pages(x, (uint64_t)(uintptr_t)ptr, len, &first);
    errno = 0;
    const int64_t segment =
        x->make((void *)(uintptr_t)first, size, PERMIT_MODE, (void *)(uintptr_t)OWNER_ONLY);
    return segment > 0 ? (uint64_t)segment : 0;
}

void shm_xpmem_remove(const struct shm_xpmem *x, uint64_t segment)
{
    if (segment)
        (void)x->remove((int64_t)segment);
}

int shm_xpmem_attach(const struct shm_xpmem *x, uint64_t segment, uint64_t vaddr, uint64_t len,
                     struct shm_xpmem_map *map)
{
    uint64_t first;
    const size_t size = pages(x, vaddr, len, &first);
    errno = 0;
    const int64_t permit = x->get((int64_t)segment, READ_WRITE, PERMIT_MODE, NULL);
    if (permit <= 0)
        return reason();
    void *at = x->attach((struct place){.permit = permit}, size, NULL);
    if (!at || at == MAP_FAILED) {
        const int error = reason();
        (void)x->release(permit);
        return error;
    }
    *map =
        (struct shm_xpmem_map){.permit = permit, .pages = at, .at = (char *)at + (vaddr - first)};
    return 0;
}

void shm_xpmem_detach(const struct shm_xpmem *x, const struct shm_xpmem_map *map)
{
    (void)x->detach(map->pages);
    (void)x->release(map->permit);
}

int shm_xpmem_probe(const struct shm_xpmem *x, uint64_t segment, uint64_t vaddr, uint64_t expected)
{
    struct shm_xpmem_map map;
    const int error = shm_xpmem_attach(x, segment, vaddr, sizeof expected, &map);
    if (error)
        return error;
    uint64_t value;
    memcpy(&value, map.at, sizeof value);
    shm_xpmem_detach(x, &map);
    return value == expected ? 0 : -1;
}
