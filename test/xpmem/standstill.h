/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standstill.h - run a function while every other thread of this process stands still.
 *
 * For what must not be interleaved with other threads' loads and stores, such as replacing the
 * pages under an address range. Threads that others have made (the host's, a runtime's) are
 * stopped like any, wherever they are; a system call that one of them waits in goes on waiting, or
 * ends with EINTR where the kernel does not restart it after a stop.
 */
#ifndef MRMA_TEST_XPMEM_STANDSTILL_H
#define MRMA_TEST_XPMEM_STANDSTILL_H

#include <stddef.h>

/* Run fn(arg). It must not take locks, allocate or wait: who holds a lock may stand still. It may
 * run in another process that shares this one's memory, so of system calls only those are of use
 * that change memory. MRMA_SUCCESS if it has run. Else MRMA_ERR_OTHER, why in text of len bytes,
 * and it has not begun: the threads cannot be stopped (no permission to trace, a debugger has them,
 * one does not come to a stop within a second). */
int standstill_run(void (*fn)(void *arg), void *arg, char *text, size_t len);

#endif
