/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoch.h - which access and exposure epoch a window is in at this process.
 *
 * MPI 4.1, 12.5: one table of states and events decides what may follow what;
 * doc/protocol.md shows the same table. Exposure (post/wait) is a state of its own,
 * since a process may be origin and target at once.
 */
#ifndef MRMA_RMA_WIN_EPOCH_H
#define MRMA_RMA_WIN_EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum epoch_state {
    EPOCH_NONE,
    EPOCH_FENCE,      /* after a fence that may be followed by operations */
    EPOCH_FENCE_USED, /* the same, and operations have been issued */
    EPOCH_PSCW,
    EPOCH_LOCK, /* one or more targets locked */
    EPOCH_LOCK_ALL,
    EPOCH_STATES
};

enum epoch_event {
    EPOCH_EV_FENCE,      /* MPI_Win_fence */
    EPOCH_EV_FENCE_LAST, /* MPI_Win_fence with MPI_MODE_NOSUCCEED */
    EPOCH_EV_OP,         /* an operation */
    EPOCH_EV_START,
    EPOCH_EV_COMPLETE,
    EPOCH_EV_LOCK,
    EPOCH_EV_UNLOCK_LAST, /* MPI_Win_unlock of the only locked target */
    EPOCH_EV_LOCK_ALL,
    EPOCH_EV_UNLOCK_ALL,
    EPOCH_EV_FREE, /* MPI_Win_free */
    EPOCH_EVENTS
};

struct epoch {
    _Atomic(enum epoch_state) state; /* changed under the engine's lock, read without it */
    bool exposed;                    /* between MPI_Win_post and MPI_Win_wait */
};

/* epoch_now returns the state. With or without the engine's lock. */
static inline enum epoch_state epoch_now(const struct epoch *ep)
{
    return atomic_load_explicit(&ep->state, memory_order_relaxed);
}

/* epoch_is_passive returns whether this is a passive target epoch. */
static inline bool epoch_is_passive(const struct epoch *ep)
{
    return epoch_now(ep) == EPOCH_LOCK || epoch_now(ep) == EPOCH_LOCK_ALL;
}

/* epoch_event applies an event. MRMA_SUCCESS: the state has moved; MRMA_ERR_RMA_SYNC: the event is
 * not allowed here, and the state is as it was. Under the engine's lock. */
int epoch_event(struct epoch *ep, enum epoch_event ev);

/* epoch_allows returns whether epoch_event would succeed. Nothing changes. */
bool epoch_allows(const struct epoch *ep, enum epoch_event ev);

#endif
