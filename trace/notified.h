/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.h - finds which operation has raised the last of the notifications that a process
 * takes.
 *
 * Notifications have no names, so they are counted: operations with that number, to that target
 * and, where a source is named, of that origin, are taken in the order in which they are issued.
 * What a process takes of one source, and what it takes of any source, are counted apart, as the
 * library does.
 */
#ifndef MRMA_TRACE_NOTIFIED_H
#define MRMA_TRACE_NOTIFIED_H

#include "model.h"

/* notified_last returns for each of trace->taking the index of that operation, NONE: it is not in
 * the trace. The caller frees it. */
uint32_t *notified_last(const struct trace *trace);

#endif
