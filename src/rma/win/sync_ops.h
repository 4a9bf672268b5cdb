/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_ops.h - synchronization with one target, as a table of functions.
 *
 * There are two: by signals in control blocks that both processes map (sync/by_memory.c), or by
 * packets (sync/by_packets.c). Which of them serves a target is decided with its path, when the
 * target is made, and it is the same at both ends of a pair. From then on the calls of an epoch
 * (src/rma/sync) and what tells of lost processes (progress/lost.c) go through the target's table.
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
    /* The first access to t in the present epoch, which includes t: wait until the target may be
     * accessed, unless what is sent to it waits there, or operations on it wait here
     * (path/deferred.h). */
    int (*access)(struct win *w, struct rma_target *t);
    /* In an active target epoch: may operations be carried out on t now? Once they may, this stays
     * so to the epoch's end. Under the engine's lock. And: wait until they may, which a trace
     * shows; also MRMA_ERR_RMA_SYNC: t has refused the epoch. */
    bool (*accessible)(const struct win *w, const struct rma_target *t);
    int (*await)(struct win *w, struct rma_target *t);

    /* An exposure epoch has begun: let t know. Under the engine's lock. */
    int (*post)(struct win *w, struct rma_target *t);
    /* The access epoch to t ends: let it know, behind all operations of the epoch. May wait. The
     * caller waits for what is not done at its return (issue_completed). */
    int (*complete)(struct win *w, struct rma_target *t);
    /* Has t ended its access epoch to the present exposure? With or without the engine's lock. */
    bool (*completed)(const struct rma_target *t);
    /* It has, and the exposure ends: bring what t has left for this process to its place. */
    void (*take)(struct win *w, struct rma_target *t);

    /* The present fence phase ends: let t know, behind all operations of the phase, unless the
     * barrier of the node does that. Under the engine's lock, which it gives back while it waits.
     */
    int (*end_phase)(struct win *w, struct rma_target *t);

    /* The lock that rma_target.lock says; exclusive is what was asked for, also with
     * MPI_MODE_NOCHECK. May wait. */
    int (*lock)(struct win *w, struct rma_target *t, bool exclusive);
    /* Complete everything at t, and give the lock back. May wait. Errors of operations, too. */
    int (*unlock)(struct win *w, struct rma_target *t);
    /* In an epoch of lock_all, before the first access to t, or where loads and stores to t may
     * follow the call at once: hold t's lock. May wait. */
    int (*lock_all)(struct win *w, struct rma_target *t);

    /* This process has entered a barrier of that kind (enum barrier_kind), with the error err; t
     * waits for it there. */
    int (*enter)(struct win *w, struct rma_target *t, int kind, int err);

    /* The process of rank is lost: let t know. Under the engine's lock. */
    void (*tell_lost)(struct win *w, struct rma_target *t, int rank);
};

#endif
