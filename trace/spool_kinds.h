/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_kinds.h - what the fields of each kind of record can be, whatever stands before and after:
 * for the reader of damaged files, and for the test of what the library records.
 */
#ifndef MRMA_TRACE_SPOOL_KINDS_H
#define MRMA_TRACE_SPOOL_KINDS_H

#include <stdbool.h>

#include "trace/spool.h"

/* Which window a record of a kind is about. */
enum spool_window {
    SPOOL_NO_WINDOW,   /* none, or maybe none */
    SPOOL_SOME_WINDOW, /* one that this process may not have made yet, or has freed already */
    SPOOL_OPEN_WINDOW  /* one that this process has made and not freed */
};
enum spool_window spool_window_of(unsigned kind);

/* spool_fields_good returns whether the fields of a record, other than one of TRACE_RANKS, can be
 * those of its kind, which is known, in a job of nproc processes. */
bool spool_fields_good(const struct trace_record *r, uint32_t nproc);

#endif
