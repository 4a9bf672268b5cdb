/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_check.h - checks which records of a file can be believed.
 */
#ifndef MRMA_TRACE_SPOOL_CHECK_H
#define MRMA_TRACE_SPOOL_CHECK_H

#include "spool_read.h"

/* spool_check finds the end of the records, marks damaged records SPOOL_DAMAGED and reports them by
 * offset. It sets n, first and last, and returns how many records are damaged. nproc is the number
 * of processes of the job. */
uint64_t spool_check(struct spool_file *file, uint32_t nproc);

#endif
