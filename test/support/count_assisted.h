/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count_assisted.h - system calls of cross-memory attach, and the entries of their vectors, counted
 * in a program that is linked with --wrap=process_vm_readv,--wrap=process_vm_writev. _GNU_SOURCE
 * first.
 */
#ifndef MRMA_TEST_COUNT_ASSISTED_H
#define MRMA_TEST_COUNT_ASSISTED_H

#include <stdatomic.h>
#include <sys/uio.h>

static _Atomic unsigned long entries, calls;

#define COUNTED(name)                                                                              \
    ssize_t __real_##name(pid_t pid, const struct iovec *local, unsigned long nlocal,              \
                          const struct iovec *remote, unsigned long nremote, unsigned long flags); \
    ssize_t __wrap_##name(pid_t pid, const struct iovec *local, unsigned long nlocal,              \
                          const struct iovec *remote, unsigned long nremote, unsigned long flags); \
    ssize_t __wrap_##name(pid_t pid, const struct iovec *local, unsigned long nlocal,              \
                          const struct iovec *remote, unsigned long nremote, unsigned long flags)  \
    {                                                                                              \
        calls++;                                                                                   \
        entries += nlocal + nremote;                                                               \
        return __real_##name(pid, local, nlocal, remote, nremote, flags);                          \
    }
COUNTED(process_vm_writev)
COUNTED(process_vm_readv)

#endif
