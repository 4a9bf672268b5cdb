/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record_parts.h - writes records that are no struct trace_record (spool.h): texts, lists of
 * ranks, objects and accesses, each in as many records as it needs.
 */
#ifndef MRMA_TRACE_RECORD_PARTS_H
#define MRMA_TRACE_RECORD_PARTS_H

#include "trace/record.h"

/* trace_add_ranks records n ranks that belong to the record that the calling thread has added
 * before, which has the same time. */
void trace_add_ranks(struct trace *tr, uint64_t time, const int *ranks, int n);

/* trace_add_name records the name of a function of MPI that has no number in enum trace_call: what
 * is its number in TRACE_ENTER and TRACE_LEAVE. The name is cut to fit. */
void trace_add_name(struct trace *tr, uint16_t what, const char *name);

/* trace_add_object records an object in the memory of this process, with its path. Its time and
 * kind are set here. */
void trace_add_object(struct trace *tr, const struct trace_object *object, const char *path);

/* trace_add_text records a text that belongs to the record that the calling thread has added
 * before, which has the same time. */
void trace_add_text(struct trace *tr, uint64_t time, const char *text);

/* trace_add_access records memory of the operation or the window that the calling thread has
 * recorded before. Its kind is set here, its time is the caller's. */
void trace_add_access(struct trace *tr, const struct trace_access *access);

#endif
