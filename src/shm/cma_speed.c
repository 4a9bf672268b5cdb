/*
 * cma_speed.c - see cma_speed.h. No state, no locks.
 */
#define _GNU_SOURCE 1 /* process_vm_readv */
#include "shm/cma_speed.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

enum { BYTES = 64 * 1024, TIMES = 4 };

static void shorter(uint64_t *best, uint64_t begin)
{
    const uint64_t took = clock_monotonic_ns() - begin;
    if (took < *best)
        *best = took;
}

struct cma_price cma_price(void)
{
    char *from = malloc(BYTES), *to = malloc(BYTES);
    uint64_t kernel = UINT64_MAX, own = UINT64_MAX;
    bool works = from && to;
    if (works)
        memset(from, 1, BYTES);
    for (int i = 0; works && i < TIMES; i++) {
        struct iovec l = {to, BYTES}, r = {from, BYTES};
        uint64_t begin = clock_monotonic_ns();
        works = process_vm_readv(getpid(), &l, 1, &r, 1, 0) == BYTES;
        shorter(&kernel, begin);
        begin = clock_monotonic_ns();
        memcpy(to, from, BYTES);
        __asm__ volatile("" : : "r"(to) : "memory"); /* it is not left out */
        shorter(&own, begin);
    }
    free(from);
    free(to);
    return works ? (struct cma_price){kernel, own} : (struct cma_price){0, 0};
}
