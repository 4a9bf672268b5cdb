/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * populate.c - makes the pages of memory at once (populate.h).
 *
 * Memory of segments gets huge pages by itself only where the system's setting says so
 * (shmem_enabled). A user who asks for pages at once wants the fastest ones: MADV_COLLAPSE makes
 * huge pages of existing pages whatever the setting, and fills them; it needs a page to begin with.
 * If it is refused, only the pages stay small. No state, no locks.
 */
#define _GNU_SOURCE 1
#include "sys/populate.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"

#define HUGE_PAGE ((uintptr_t)2 << 20)
#define POPULATE_WRITE 23 /* madvise(2), Linux 5.14; newer than many headers */
#define COLLAPSE 25       /* Linux 6.1; likewise */

/* touch makes a store that changes nothing, whoever else stores there. */
static void touch(uintptr_t at)
{
    (void)atomic_fetch_or_explicit((_Atomic unsigned char *)at, 0, memory_order_relaxed);
}

/* make_huge makes one call for all pages, since each call waits for every processor. */
static void make_huge(uintptr_t from, uintptr_t end)
{
    from = (from + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    end &= ~(HUGE_PAGE - 1);
    if (from >= end)
        return;
    for (uintptr_t p = from; p < end; p += HUGE_PAGE)
        touch(p);
    (void)madvise((void *)from, end - from, COLLAPSE);
}

int populate_pages(void *at, size_t len)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t lo = (uintptr_t)at & ~(page - 1), end = (uintptr_t)at + len;

    if (len == 0)
        return MRMA_SUCCESS;
    make_huge(lo, end);
    while (madvise((void *)lo, end - lo, POPULATE_WRITE) != 0) {
        if (errno == EINTR || errno == EAGAIN)
            continue;
        if (errno != EINVAL) /* older kernels do not know the request */
            return MRMA_ERR_NO_MEM;
        for (uintptr_t p = (uintptr_t)at; p < end; p = (p & ~(page - 1)) + page)
            touch(p);
        return MRMA_SUCCESS;
    }
    return MRMA_SUCCESS;
}
