/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membarrier.h - whether this process may notify others without a fence, because membarrier(2) of
 * the sleeper replaces that (sys/futex_event.h).
 *
 * The process registers for it with the kernel when the library is loaded, which for a linked or
 * preloaded library is before main, while there is one thread. Where there are threads before the
 * library is loaded (by a language's run-time), and where the kernel refuses, the process notifies
 * with fences, and so do its peers on the node.
 */
#ifndef MRMA_MPI_PROCESS_MEMBARRIER_H
#define MRMA_MPI_PROCESS_MEMBARRIER_H

#include <stdbool.h>

/* membarrier_registered returns whether this process has registered with the kernel, so that it may
 * notify others without a fence. Any thread. */
bool membarrier_registered(void);

#endif
