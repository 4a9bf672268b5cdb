/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * causes.h - why processes wait: the subject is not the process that is waited for, but what that
 * process, or another for which it has itself waited, did longer than the processes that waited.
 *
 * Every nanosecond of waiting is charged once. A cause is what one rank did (struct kind). Its
 * cost is direct where others wait for that rank itself, and passed on where they wait for a rank
 * that was late only because of it.
 */
#ifndef MRMA_TRACE_CAUSES_H
#define MRMA_TRACE_CAUSES_H

#include "timeline.h"

struct cause {
    uint32_t rank, kind;      /* kind: of causes->line */
    double direct, passed_on; /* ns of other ranks' waiting */
    uint64_t number;          /* of activities of this kind that cost something */
    uint64_t begin, end;      /* of the activity with the largest cost, */
    double worst;             /* and that cost */
};

/* What one rank does with its time, ns. */
struct share_of_rank {
    uint64_t computes; /* outside of all calls in the trace, up to its last one */
    uint64_t waits;
    double costs; /* others' waiting that is charged to it */
};

/* What happens in a region of the program, ns. All but time is of the innermost region alone. */
struct share_of_region {
    uint64_t visits, time, longest; /* a region inside itself counts as one visit */
    uint64_t computes;              /* first threads of all ranks */
    uint64_t calls, waits;
    double costs; /* others' waiting that is charged to what is done in it */
};

struct causes {
    struct timeline line;
    struct cause *cause; /* by falling cost */
    size_t n, cap;
    struct share_of_rank *rank;
    struct share_of_region *region; /* of trace->region, and one more for what is in none */
    uint64_t waiting;               /* ns, of all ranks together */
    double unknown;                 /* of it, what is charged to nobody */
};

/* causes_find charges the waiting that an analysis has found. The analysis and its trace must
 * outlive the causes, which causes_free frees. */
void causes_find(struct causes *causes, const struct analysis *analysis);
void causes_free(struct causes *causes);

/* regions.c: what happens in each region, and in none. The caller frees it. */
struct share_of_region *regions_share(const struct analysis *analysis, const struct causes *causes);

/* cause_cost returns the whole cost of a cause, ns. */
static inline double cause_cost(const struct cause *cause)
{
    return cause->direct + cause->passed_on;
}

#endif
