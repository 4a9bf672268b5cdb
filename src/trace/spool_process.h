/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_process.h - what the head of a file (spool.h) says about the process that writes it.
 */
#ifndef MRMA_TRACE_SPOOL_PROCESS_H
#define MRMA_TRACE_SPOOL_PROCESS_H

#include "trace/spool.h"

/* spool_process_describe sets in head the program's name, the process's number, its machine's name
 * and the processors on which it may run. What the kernel does not tell stays as it is. */
void spool_process_describe(struct spool_head *head);

#endif
