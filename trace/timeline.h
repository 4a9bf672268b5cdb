/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timeline.h - what each rank does at each time. It is in a call of RMA, or outside of all calls,
 * where it computes as far as the trace tells; and a part of a call may be a wait for another
 * rank.
 *
 * A rank with several threads computes where none of them is in a call. Activities of a rank
 * follow one another from the begin of the run to its last call; waits lie in them and do not
 * overlap. The first thread of a rank tells in which region of the program the rank computes.
 */
#ifndef MRMA_TRACE_TIMELINE_H
#define MRMA_TRACE_TIMELINE_H

#include "analysis.h"

struct activity {
    uint64_t begin, end;
    uint32_t call; /* of trace->call; NONE: it is in none */
    uint32_t kind;
};

enum does { DOES_COMPUTE, DOES_CALL, DOES_UNKNOWN }; /* the last: it was not recorded */

/* What can be compared between ranks: computation between the same two calls in the same region of
 * the program, or the same call in the same region. */
struct kind {
    enum does does;
    /* Of trace->call, one call for all that are the same: the one before a computation, NONE: it is
     * the first thing in the run, and the one behind it; or the call itself, as both. */
    uint32_t after, before;
    uint32_t region; /* the innermost of the program, of trace->region; NONE: it is in none */
};

struct waiting {
    uint64_t begin, end;
    uint64_t sum; /* ns that its rank has waited before */
    uint32_t rank, cause;
    uint32_t instance; /* of analysis->instance */
};

struct timeline {
    const struct trace *trace;
    struct activity *activity; /* by rank, then time; those of rank r from first[r] on */
    size_t *first;
    struct waiting *wait; /* by rank, then time; those of rank r from first_wait[r] on */
    size_t *first_wait;
    struct kind *kind;
    size_t nkinds, kinds_cap;
};

/* timeline_find puts together what the wait states of the analysis say. Free it with
 * timeline_free. */
void timeline_find(struct timeline *line, const struct analysis *analysis);
void timeline_free(struct timeline *line);

/* How much of begin to end the rank waits. */
uint64_t timeline_waited(const struct timeline *line, uint32_t rank, uint64_t begin, uint64_t end);

/* timeline_busy returns how much of the activity lies in begin to end and is no waiting. */
uint64_t timeline_busy(const struct timeline *line, uint32_t rank, const struct activity *activity,
                       uint64_t begin, uint64_t end);

/* timeline_at returns the index of the first activity of a rank that ends after time, or
 * line->first[rank + 1] if there is none. */
size_t timeline_at(const struct timeline *line, uint32_t rank, uint64_t time);

/* How many waits of the rank end before time: an index from line->first_wait[rank] on, behind the
 * last of them. */
size_t timeline_waits_before(const struct timeline *line, uint32_t rank, uint64_t time);

/* "computing in "update" between MPI_Win_post at halo.c:12 and MPI_Win_wait at halo.c:15", or "in
 * MPI_Win_fence at halo.c:20 in "update"", both without a region where they are in none; the caller
 * frees it. */
char *timeline_kind_text(const struct timeline *line, uint32_t kind);

#endif
