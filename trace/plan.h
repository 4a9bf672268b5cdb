/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h - a recorded run as steps that can be replayed, as it was or with something changed.
 *
 * What a rank does stays as long as it was: the computation between calls, and of each call the
 * time that is no waiting for another rank. Waiting is not kept but comes from what the calls wait
 * for by the standard and by what the library does:
 *
 *     creation, free, fence    until all ranks of the window are in theirs
 *     MPI_Win_complete         until the targets are in MPI_Win_post whose memory it accesses for
 *                              operations that had to be put off
 *     MPI_Win_wait             until all its origins are in MPI_Win_complete
 *     taking notifications     until the last of them is issued
 *     a lock                   until those are given back that exclude it, in order of requests
 *     a receive                until its message's send has begun
 *     a send                   until its receive has begun, where it waits for that
 *     a collective operation   until those have come whose data it needs: all, or its root
 *
 * A call that has waited in the recorded run, and in a changed one need not, takes no longer than
 * those of its place that have not waited. All other waiting, as for the progress of a target,
 * stays as long as it was.
 */
#ifndef MRMA_TRACE_PLAN_H
#define MRMA_TRACE_PLAN_H

#include "epochs.h"
#include "replay.h"
#include "timeline.h"

/* What happens inside a call: a wait, which was from begin to end, or a moment. */
struct happening {
    uint64_t begin, end;
    uint32_t call;
    uint32_t ref; /* an event or a lock */
    uint8_t kind; /* enum step_kind */
};

struct plan {
    const struct trace *trace;
    const struct timeline *line;
    struct epochs epochs;
    struct happening *happening; /* by call, then time */
    size_t nhappenings, happenings_cap;
    size_t *first_happening;    /* of each call */
    size_t *activity;           /* of each call, SIZE_MAX: none, it is not outermost */
    struct replayed_lock *lock; /* of each lock_use of the trace */
    bool *is_replayed;          /* whether that lock_use is */
    uint32_t *group; /* of each call that has waited, of plan->unwaited; NONE: it has not */
    uint64_t
        *unwaited; /* how long calls of a group are that have not waited; UINT64_MAX: all have */
    size_t nmeetings;
    uint64_t measured; /* ns to the end of the last call */
};

/* A pair of calls: call waits for other. */
struct link {
    uint32_t call, other;
};

/* By call; links_sort sorts them and leaves out what is there twice. */
struct links {
    struct link *link;
    size_t n, cap;
};
void links_add(struct links *links, uint32_t call, uint32_t other);
void links_sort(struct links *links);
void links_free(struct links *links);

/* links_of returns the first link of a call, or links->n if it has none. */
size_t links_of(const struct links *links, uint32_t call);

/* What is otherwise than in the recorded run; NULL: nothing. */
struct change {
    uint64_t *work; /* of each activity, how long it is itself; UINT64_MAX: as long as it was */
    size_t *order;  /* the activities in another order, each within its rank */
    bool *shared;   /* of each lock_use: it is a shared one */
    /* Fences that are MPI_Win_complete, wait, post and start: whose completes each waits for.
     * Which calls wait for posts, each with the fence in which the post is. */
    bool *pairwise; /* of each call */
    struct links completes, posts;
};
void change_free(struct change *change);

/* The waiting in the timeline must have been found in the same analysis. plan_free frees a plan. */
void plan_make(struct plan *plan, const struct analysis *analysis, const struct timeline *line);
void plan_free(struct plan *plan);

/* plan_replay returns how long the run is with this change, ns; UINT64_MAX: ranks wait for each
 * other for ever. */
uint64_t plan_replay(const struct plan *plan, const struct change *change);

/* plan_work returns how long an activity was itself, without what the plan takes for waiting. */
uint64_t plan_work(const struct plan *plan, size_t activity);

/* plan_waits_for_post returns the call in which an operation waits for the post of its target, if
 * the call that completes it is this one; NONE: in none. */
uint32_t plan_waits_for_post(const struct operation *op, uint32_t complete);

#endif
