/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analysis.h - where the time of a trace goes: a profile, a matrix, and wait states.
 *
 * The wait states are those of Scalasca, by its names, found by the standard's semantics; where an
 * archive is ours they use what the library knows (when a post was awaited, who held a lock, when
 * a target served). Some are parts of others (pattern_info's part_of): their times do not add up.
 */
#ifndef MRMA_TRACE_ANALYSIS_H
#define MRMA_TRACE_ANALYSIS_H

#include "conflicts.h"
#include "model.h"
#include "table.h"

enum pattern {
    WAIT_AT_CREATE,
    WAIT_AT_FREE,
    WAIT_AT_FENCE,
    EARLY_FENCE,
    LATE_POST,
    EARLY_WAIT,
    LATE_COMPLETE,
    LATE_NOTIFICATION,
    LOCK_CONTENTION,
    WAIT_FOR_PROGRESS,
    UNNEEDED_SYNC,
    SERIALIZED_ACCUMULATES,
    SMALL_OPERATIONS,
    CREDIT_STALLS,
    PARKED_PACKETS,
    AGENT_WAKEUPS,
    LATE_SENDER, /* the patterns of messages begin here */
    LATE_RECEIVER,
    WAIT_AT_BARRIER,
    WAIT_AT_NXN,
    LATE_BROADCAST,
    EARLY_REDUCE,
    PATTERNS
};

struct pattern_info {
    const char *key, *name;
    const char *meaning; /* a sentence */
    const char *advice;  /* a sentence */
    int part_of;         /* enum pattern, -1: none */
    bool waits;          /* its time is time that processes lose */
    bool ours_only;      /* needs what only our archives tell */
};
extern const struct pattern_info pattern_info[PATTERNS];

/* An instance is one place where a pattern was found. */
struct instance {
    uint64_t begin, end;
    uint32_t rank, cause; /* who waits, for whom; NONE: not one process */
    uint32_t win;
    uint32_t call, cause_call; /* of trace->call; NONE: none */
    uint32_t count;
    uint8_t pattern;
};

/* One function called at one place in the program. */
struct at_site {
    uint16_t call; /* enum trace_call */
    uint32_t site; /* of trace->site; NONE: not known */
    uint64_t number, ns, longest;
};

/* The struct is all zeros while it has no place. */
struct by_site {
    struct at_site *at; /* in the order in which they are found */
    size_t n, cap;
    struct table index; /* by call and site */
};

/* by_site_add adds one call, or one wait in a call, of this length. */
void by_site_add(struct by_site *by_site, uint16_t call, uint32_t site, uint64_t ns);

struct finding {
    uint64_t total;  /* ns */
    uint64_t number; /* of instances, or of what is counted */
    uint64_t of;     /* out of so many; 0: not counted that way */
    struct instance worst;
    uint64_t by_call[CALL_NAMES]; /* ns, by the call that waits */
    struct by_site by_site;       /* by the call that waits and where it stands */
    uint64_t *by_rank;            /* ns */
};

/* Calls or operations of one kind. */
struct profile {
    uint64_t calls, ns, longest;
};

struct transfers {
    uint64_t operations, bytes;
    uint64_t model_ns;            /* the time of all operations together, each from its issue to its
                                     end by the chosen model */
    uint64_t arrived, arrived_ns; /* how many are known to have arrived, and after how long */
};

struct analysis {
    const struct trace *trace;
    enum model model;
    struct finding found[PATTERNS];
    struct instance *instance;
    size_t ninstances, instances_cap;
    struct profile by_call[CALL_NAMES];
    struct by_site by_site;         /* all calls */
    struct profile *call_by_window; /* and one more for calls of no window */
    struct transfers *by_window;
    struct transfers by_path[PATHS];
    struct transfers by_op[TRACE_COMPARE_AND_SWAP + 1];
    struct transfers *matrix; /* [origin * ranks + target] */
    uint64_t *rma_ns;         /* of each rank, in calls of RMA, */
    uint64_t *other_ns;       /* and in other ones of MPI */
    uint64_t *end;            /* the end of each operation, by the chosen model */
    uint64_t writing_ns;      /* the time that the recording itself took */
    uint64_t sleeping_ns;
    uint64_t application_threads;
    uint64_t run_ns; /* length of the run times its ranks */
    struct conflicts conflicts;
};

void analyse(struct analysis *analysis, const struct trace *trace, enum model model);
void analysis_free(struct analysis *analysis);

/* can_be_seen returns whether the archive can have what the pattern needs. If it can, a pattern
 * that is not found did not occur.
 */
bool can_be_seen(const struct analysis *analysis, unsigned pattern);

/* found is called by the patterns with an instance, whose length is end - begin. An instance whose
 * length is not positive is ignored. */
void found(struct analysis *analysis, struct instance instance);

/* profile.c: everything but the patterns. Needs the epochs for the ends of transfers. */
struct epochs;
void profile(struct analysis *analysis, const struct epochs *epochs);

/* The patterns, pattern_*.c */
void find_collective(struct analysis *analysis);
void find_group(struct analysis *analysis, const struct epochs *epochs);
void find_pairs(struct analysis *analysis, const struct epochs *epochs);
void find_notified(struct analysis *analysis);
void find_locks(struct analysis *analysis);
void find_progress(struct analysis *analysis);
void find_accumulates(struct analysis *analysis);
void find_small(struct analysis *analysis);
void find_internal(struct analysis *analysis);
void find_messages(struct analysis *analysis);
void find_together(struct analysis *analysis);

/* What kind of waiting a collective operation (OTF2_CollectiveOp) brings about: WAIT_AT_BARRIER,
 * WAIT_AT_NXN, LATE_BROADCAST, EARLY_REDUCE; PATTERNS: none. */
unsigned pattern_of_together(unsigned op);

/* together_each calls each for every collective operation of a trace, with the n parts that
 * processes have in it, by rank. */
typedef void together_parts(void *data, const struct together *part, size_t n);
void together_each(const struct trace *trace, together_parts *each, void *data);

#endif
