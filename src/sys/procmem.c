/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procmem.c - cross-memory attach (procmem.h). No state, no locks. Neighbour: procmem_queue.c,
 * which gathers small transfers.
 */
#define _GNU_SOURCE 1 /* process_vm_readv */
#include "sys/procmem.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/memcheck.h"

static int fail(int32_t pid, const struct log *log, size_t bytes)
{
    const int err = errno;
    const int code = err == ESRCH    ? MRMA_ERR_PROC_FAILED
                     : err == EFAULT ? MRMA_ERR_RMA_RANGE
                                     : MRMA_ERR_OTHER;
    return log_fail(log, code, "cross-memory attach of %zu bytes with process %d: %s", bytes, pid,
                    strerror(err));
}

static void skip(struct procmem_iov *iov, size_t bytes)
{
    while (iov->n && bytes >= iov->v->iov_len) {
        bytes -= iov->v->iov_len;
        ++iov->v;
        --iov->n;
    }
    if (bytes) {
        iov->v->iov_base = (char *)iov->v->iov_base + bytes;
        iov->v->iov_len -= bytes;
    }
}

int procmem_transfer(int32_t pid, const struct log *log, bool write, struct procmem_iov local,
                     struct procmem_iov remote, size_t left)
{
    for (;;) {
        memcheck_pause();
        ssize_t got = write ? process_vm_writev(pid, local.v, local.n, remote.v, remote.n, 0)
                            : process_vm_readv(pid, local.v, local.n, remote.v, remote.n, 0);
        memcheck_resume();
        if (got < 0 || (got == 0 && left))
            return fail(pid, log, left);
        left -= (size_t)got;
        if (!left)
            return MRMA_SUCCESS;
        skip(&local, (size_t)got);
        skip(&remote, (size_t)got);
    }
}

int procmem_copy(int32_t pid, const struct log *log, bool write, void *local, uint64_t vaddr,
                 size_t len)
{
    struct iovec here = {local, len}, there = {(void *)(uintptr_t)vaddr, len};
    return procmem_transfer(pid, log, write, (struct procmem_iov){&here, 1},
                            (struct procmem_iov){&there, 1}, len);
}
