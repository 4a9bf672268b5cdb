/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * small.h - finds runs of small operations that one operation could replace.
 */
#ifndef MRMA_TRACE_SMALL_H
#define MRMA_TRACE_SMALL_H

#include "analysis.h"

/* n operations of one kind, in order of time, from one rank to one target, which the same call
 * completes. */
typedef void small_run(void *data, const struct operation **list, size_t n);

/* small_runs calls each for every such run of a trace. The list is there only meanwhile. */
void small_runs(const struct trace *trace, small_run *each, void *data);

#endif
