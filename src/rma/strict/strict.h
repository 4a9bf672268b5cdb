/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict.h - the further checks of MPIRMA_STRICT=1: conflicting accesses (MPI 4.1, 12.7), and hints
 * (12.2.1) and asserts (12.5.5) that are not kept.
 *
 * Strict mode is a filter in the route of each target (win/path_ops.h): it checks an operation and
 * hands it on, and forgets what a flush or an unlock completes. For checks of a whole window, or of
 * a call without a target, there are functions here, which synchronization always calls and which
 * do nothing where strict mode is off (w->strict is NULL).
 *
 * It is on for a window if all its processes have it on. While it is on, no target is ever known to
 * be ready (win.h, watched), so every operation goes through its route, and every MPI_Win_fence
 * synchronizes, whatever its asserts say. Everything that is reported is certainly wrong; what
 * cannot be decided is not reported, and is listed in strict.c.
 *
 * Locks: the ranges have a mutex of their own; the thread that synchronizes calls these functions,
 * without the engine's lock unless a comment says otherwise.
 */
#ifndef MRMA_RMA_STRICT_STRICT_H
#define MRMA_RMA_STRICT_STRICT_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/rma.h"
#include "rma/win/path_ops.h"

/* strict_new turns strict mode on for the new window w: it sets w->strict, which strict_free frees.
 * MRMA_ERR_NO_MEM. */
int strict_new(struct win *w);

/* strict_free turns strict mode off for w and frees w->strict, which may be NULL and is NULL
 * afterwards. */
void strict_free(struct win *w);

/* The filter, in the routes of a window in strict mode. */
extern const struct path_ops strict_path;

/* strict_arrival returns MRMA_SUCCESS if an operation that has come by packet may be applied here,
 * or MRMA_ERR_ASSERT, with a message, while this process's MPI_MODE_NOPUT holds. kind, op and epoch
 * are as in ch3/pkt.h. In strict mode only, under the engine's lock. */
int strict_arrival(const struct win *w, unsigned kind, unsigned op, unsigned epoch);

/* strict_completed forgets the operations that were issued to t (NULL: to all targets), since they
 * are complete; if local is true, only those that read the target, since their buffers here may be
 * used again. */
void strict_completed(struct win *w, struct rma_target *t, bool local);

/* strict_fence checks the asserts of an MPI_Win_fence that begins, forgets the operations that it
 * completes, and takes MPI_MODE_NOPRECEDE out of *asserts, so that it synchronizes. If it returns
 * MRMA_ERR_ASSERT, with a message, the fence returns that when it has done everything. */
int strict_fence(struct win *w, int *asserts);

/* strict_post notes that an exposure epoch begins with these asserts, before the posts leave. Under
 * the engine's lock. */
void strict_post(struct win *w, int asserts);

/* strict_wait notes that the exposure epoch has ended. */
void strict_wait(struct win *w);

/* strict_lock notes that this process holds a lock on t, which was acquired just now, or which
 * MPI_MODE_NOCHECK made unnecessary (rma_target.lock). With that assert it checks that no other
 * process holds a lock that excludes this one. If one does, it returns MRMA_ERR_ASSERT, with a
 * message, and notes nothing, and the call is to be refused. Packet targets are not looked at. */
int strict_lock(struct win *w, struct rma_target *t, bool exclusive);

/* strict_lock_all does what strict_lock does for a lock on all targets, which is about to be
 * acquired. */
int strict_lock_all(struct win *w);

/* strict_unlock_all notes that the lock on all targets is about to be given back, and that
 * everything is complete. Where MPI_MODE_NOCHECK was given it checks as strict_lock does;
 * MPI_Win_unlock_all returns its MRMA_ERR_ASSERT when the unlock is done. */
int strict_unlock_all(struct win *w);

#endif
