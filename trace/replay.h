/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.h - runs processes again on a simulated clock: each works, reaches events, awaits events
 * that others reach, and asks for locks. How long it waits follows from that.
 */
#ifndef MRMA_TRACE_REPLAY_H
#define MRMA_TRACE_REPLAY_H

#include "model.h"

enum step_kind {
    STEP_WORK,    /* ns pass; where ref is not NONE and the process has not waited since its last
                     work, play->unwaited[ref] if that is less */
    STEP_REACH,   /* event ref is reached by one more of those that must */
    STEP_AWAIT,   /* until event ref is reached by all that reach it */
    STEP_REQUEST, /* lock ref is asked for; one process goes on meanwhile */
    STEP_GRANTED, /* until lock ref is granted */
    STEP_RELEASE  /* lock ref is given back */
};

struct step {
    uint64_t ns;
    uint32_t ref;
    uint8_t kind;
};

/* One use of a lock by one process. Those of a target are granted in the order in which they are
 * asked for. */
struct replayed_lock {
    uint32_t win, target; /* target NONE: all, which is shared */
    bool exclusive;
};

struct play {
    struct step *step;
    size_t *first; /* of rank r: steps first[r] to first[r + 1] */
    uint32_t nranks;
    size_t nevents;
    const struct replayed_lock *lock;
    size_t nlocks;
    size_t nwindows;
    const uint64_t *unwaited;
};

/* replay returns when the last process has done its steps, ns from the begin; UINT64_MAX: some wait
 * for each other for ever. An event that nobody reaches is awaited by nobody. */
uint64_t replay(const struct play *play);

#endif
