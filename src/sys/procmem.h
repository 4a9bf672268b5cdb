/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procmem.h - cross-memory attach: the kernel copies between this process's memory and another's
 * (process_vm_readv and process_vm_writev).
 *
 * Errors: MRMA_ERR_PROC_FAILED if the process is gone, MRMA_ERR_RMA_RANGE if it does not have the
 * memory, MRMA_ERR_OTHER if the kernel refuses; log is told. No state, no locks.
 */
#ifndef MRMA_SYS_PROCMEM_H
#define MRMA_SYS_PROCMEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/log.h"

/* Pieces of memory, for the kernel: 1024 (IOV_MAX) at most. */
struct procmem_iov {
    struct iovec *v;
    unsigned n;
};

/* Write left bytes, all of the pieces here, into all of those of process pid; or read them. Both
 * vectors change if it takes several calls: the kernel transfers less than asked when a page is
 * missing in the middle; the rest is then tried again from there, and an error says why. */
int procmem_transfer(int32_t pid, const struct log *log, bool write, struct procmem_iov local,
                     struct procmem_iov remote, size_t left);

/* The common case: one piece on each side. len > 0; vaddr is the other process's address. */
int procmem_copy(int32_t pid, const struct log *log, bool write, void *local, uint64_t vaddr,
                 size_t len);

#endif
