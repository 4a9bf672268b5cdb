/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_check.h - which records of a file can be believed.
 */
#ifndef MRMA_TRACE_SPOOL_CHECK_H
#define MRMA_TRACE_SPOOL_CHECK_H

#include "spool_read.h"

/* Finds the end of the records, marks the damaged ones SPOOL_DAMAGED and reports them by offset;
 * sets n, first and last. Returns how many are damaged. nproc: of the job. */
uint64_t spool_check(struct spool_file *file, uint32_t nproc);

#endif
