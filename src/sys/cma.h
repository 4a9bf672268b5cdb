/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma.h - cross-memory attach: the kernel copies between this process's memory and another's
 * (process_vm_readv and process_vm_writev).
 *
 * Errors: MRMA_ERR_PROC_FAILED if the process is gone, MRMA_ERR_RMA_RANGE if it does not have the
 * memory, MRMA_ERR_OTHER if the kernel refuses; log is told. No state, no locks.
 */
#ifndef MRMA_SYS_CMA_H
#define MRMA_SYS_CMA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/log.h"

/* Pieces of memory for the kernel, at most 1024 (IOV_MAX). */
struct cma_iov {
    struct iovec *v;
    unsigned n;
};

/* cma_transfer writes left bytes, which are all pieces of local, into all pieces of remote, which
 * are addresses of process pid; if write is false it reads remote into local. Both vectors change
 * if several calls are needed: the kernel transfers less than asked for when a page is missing in
 * the middle; the function then tries the rest again, and that call's error says why. Returns
 * MRMA_SUCCESS or an error of the list above (logged). */
int cma_transfer(int32_t pid, const struct log *log, bool write, struct cma_iov local,
                 struct cma_iov remote, size_t left);

/* cma_copy is cma_transfer with one piece of len bytes, more than 0, on each side; vaddr is the
 * other process's address. */
int cma_copy(int32_t pid, const struct log *log, bool write, void *local, uint64_t vaddr,
             size_t len);

#endif
