/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * index.h - the calls and doings of a trace by rank, to look up what a process did at some time.
 */
#ifndef MRMA_TRACE_INDEX_H
#define MRMA_TRACE_INDEX_H

#include "model.h"

/* Spans of time that do not overlap, in order, with the sum of all before each. */
struct spans {
    struct span {
        uint64_t begin, end, before;
    } * span;
    size_t n, cap;
};

/* spans_add adds a span. Spans come in order of their begin, and may overlap. */
void spans_add(struct spans *spans, uint64_t begin, uint64_t end);

/* spans_overlap returns how much of the time from begin to end the spans cover. */
uint64_t spans_overlap(const struct spans *spans, uint64_t begin, uint64_t end);

/* For each rank, when one of its threads was in a call of RMA (what: INDEX_CALLS), or, also, one of
 * them served packets (INDEX_BUSY), or when one wrote the trace (INDEX_WRITING). Free each span
 * list, then the array. */
enum { INDEX_CALLS, INDEX_BUSY, INDEX_WRITING };
struct spans *spans_of_ranks(const struct trace *trace, int what);
void spans_free(struct spans *spans, uint32_t n);

/* Doings of one kind, sorted by rank, then peer, then begin. */
struct doings {
    const struct doing **doing;
    size_t n;
};
struct doings doings_by_rank(const struct trace *trace, unsigned kind);

/* doings_first returns the first thing that rank did for peer at this window not before begin, or
 * NULL if there is none. */
const struct doing *doings_first(const struct doings *doings, uint32_t rank, uint32_t peer,
                                 uint32_t win, uint64_t begin);

#endif
