/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma.c - cross-memory attach (cma.h). No state, no locks. Neighbour: cma_queue.c,
 * which gathers small transfers.
 */
#define _GNU_SOURCE 1 /* process_vm_readv */
#include "sys/cma.h"

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

static void skip(struct cma_iov *iov, size_t bytes)
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

int cma_transfer(int32_t pid, const struct log *log, bool write, struct cma_iov local,
                 struct cma_iov remote, size_t left)
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

int cma_copy(int32_t pid, const struct log *log, bool write, void *local, uint64_t vaddr,
             size_t len)
{
    struct iovec here = {local, len}, there = {(void *)(uintptr_t)vaddr, len};
    return cma_transfer(pid, log, write, (struct cma_iov){&here, 1}, (struct cma_iov){&there, 1},
                        len);
}
