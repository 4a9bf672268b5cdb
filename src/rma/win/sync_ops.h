/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_ops.h - synchronization with one target, as a table of functions.
 *
 * There are two: by signals in control blocks that both processes map (sync/by_memory.c), or by
 * packets (sync/by_packets.c). Which of them serves a target is decided with its path, when the
 * target is made, and it is the same at both ends of a pair. From then on the calls of an epoch
 * (src/rma/sync), and the reports of lost processes (progress/lost.c), go through the target's
 * table.
 *
 * Rules for all entries
 * - They are called by application threads, without the engine's lock, unless they say otherwise.
 *   Those that may wait say so.
 * - The target exists (it has a peer), and every entry is there.
 * - They return enum mrma_err; those that wait return MRMA_ERR_PROC_FAILED where a process is lost.
 */
#ifndef MRMA_RMA_WIN_SYNC_OPS_H
#define MRMA_RMA_WIN_SYNC_OPS_H

#include <stdbool.h>
#include <stdint.h>

struct rma_target;
struct win;

struct sync_ops {
    /* access is called for the first access to t in the present epoch, which includes t: it waits
     * until the target may be accessed, unless operations may be sent to t and wait there, or may
     * wait here (path/deferred.h). May wait. */
    int (*access)(struct win *w, struct rma_target *t);

    /* accessible returns, in an active target epoch, whether operations may be carried out on t
     * now. Once the result is true it stays true to the epoch's end. Under the engine's lock. */
    bool (*accessible)(const struct win *w, const struct rma_target *t);

    /* await waits until accessible would return true; a trace shows the wait. It may return
     * MRMA_ERR_RMA_SYNC, too: t has refused the epoch. May wait. */
    int (*await)(struct win *w, struct rma_target *t);

    /* post notes that an exposure epoch of this process for t has begun, and lets t know, at once
     * or, where t does not wait for that, with what it is told next. Under the engine's lock. */
    int (*post)(struct win *w, struct rma_target *t);

    /* complete lets t know that the access epoch to it ends, behind all operations of the epoch.
     * The caller waits for operations that are not done when complete returns
     * (origin_complete_end). May wait. */
    int (*complete)(struct win *w, struct rma_target *t);

    /* completed returns whether t has ended its access epoch to the present exposure of this
     * process. With or without the engine's lock. */
    bool (*completed)(const struct rma_target *t);

    /* take copies what t has left for this process in stages to its place. It is called once, when
     * t has completed its access epoch and the exposure epoch ends. */
    void (*take)(struct win *w, struct rma_target *t);

    /* end_phase lets t know that the present fence phase ends, behind all operations of the phase,
     * unless the barrier of the node does that. Under the engine's lock, which it gives up while it
     * waits. */
    int (*end_phase)(struct win *w, struct rma_target *t);

    /* lock takes the lock on t that rma_target.lock names; exclusive says what the program has
     * asked for, also with MPI_MODE_NOCHECK. May wait. */
    int (*lock)(struct win *w, struct rma_target *t, bool exclusive);

    /* unlock completes everything at t, and gives the lock back. It returns errors of operations,
     * too. May wait. */
    int (*unlock)(struct win *w, struct rma_target *t);

    /* lock_all takes t's lock in an epoch of MPI_Win_lock_all, before the first access to t, or
     * where loads and stores to t may follow the call at once. May wait. */
    int (*lock_all)(struct win *w, struct rma_target *t);

    /* enter lets t, which waits for this, know that this process has entered a barrier of that kind
     * (enum barrier_kind), with the error err. */
    int (*enter)(struct win *w, struct rma_target *t, int kind, int err);

    /* tell_lost lets t know that the process of rank is lost. Under the engine's lock. */
    void (*tell_lost)(struct win *w, struct rma_target *t, int rank);
};

#endif
