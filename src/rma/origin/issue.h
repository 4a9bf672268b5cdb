/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * issue.h - the origin's side of packets: operations into open packets, and the
 * synchronization that is piggybacked on them.
 *
 * Every (window, target) has one open packet (struct pkt_target, pair.h). Functions that
 * may wait say so and are called without the engine's lock; the others are
 * called with it.
 */
#ifndef MRMA_RMA_ORIGIN_ISSUE_H
#define MRMA_RMA_ORIGIN_ISSUE_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/origin/pair.h"
#include "rma/rma.h"

/* A window is made: nothing is under way. */
void issue_init(struct win *w);

/* issue_operate puts an operation into packets, for which the rules of path_ops.operate
 * (win/path_ops.h) hold. MRMA_AGAIN: not before the target has begun its part of the epoch
 * (sync_ops.accessible); nothing has been done. May wait. */
int issue_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len);
/* issue_rdma is issue_operate for a target on the network whose window memory is registered there:
 * the channel's own put or get where that serves (rdma.h), else packets. */
int issue_rdma(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
               int64_t offset, size_t len);

/* In an active target epoch: has the target begun its part, as far as is known here? Under the
 * lock. And: wait for that; MRMA_ERR_RMA_SYNC: the target has refused it. May wait. */
bool issue_is_open(const struct rma_target *t);
int issue_await_open(struct win *w, struct rma_target *t);

/* Synchronization. */
/* The exposure epoch of this number, MPI_MODE_NOCHECK not counted, has begun for t. */
int issue_post(struct win *w, struct rma_target *t, uint32_t seq);
/* issue_fence ends a fence phase by markers: one to every packet peer, behind the phase's
 * operations. May wait. MRMA_ERR_NO_MEM, MRMA_ERR_PROC_FAILED. */
int issue_fence(struct win *w);
/* issue_phase sends the operations of the ending fence phase that have not left yet, and no
 * markers, for fences that end by counts (sync/fence_counts.h). What goes by other ways than
 * packets is done when it returns. May wait. Errors as issue_fence. */
int issue_phase(struct win *w);
/* issue_phase_next says how much went by packet in the phase that issue_phase has sent: it sets
 * *rank and *bytes of the next target that got anything, which counts as told from then on. *at is
 * NULL in the first call, and what the call before has left in it in the others. False: there are
 * no more. Under the engine's lock, which is kept from the first call to the last. */
bool issue_phase_next(struct win *w, struct pkt_target **at, int *rank, uint64_t *bytes);
/* issue_phase_end forgets which targets the phase has used. Under the engine's lock. */
void issue_phase_end(struct win *w);
/* MPI_Win_fence has begun: whether what is sent now belongs to the phase that it ends. */
void issue_closing(struct win *w, bool closing);
/* The marker to t alone, a packet peer, as sync_ops.h has it. */
int issue_marker(struct win *w, struct rma_target *t);
/* The end of an access epoch of MPI_Win_start: before the first target hears of it; to t, behind
 * the epoch's operations; when all have been told, err being what went wrong with that: what is
 * awaited of them, and the first error of these. All may wait. */
int issue_completing(struct win *w);
int issue_complete(struct win *w, struct rma_target *t);
int issue_completed(struct win *w, int err);
int issue_lock_begin(struct win *w, struct rma_target *t); /* may wait */
/* Before this thread locks one more target, in whatever window: wait until the lock that it took
 * last is granted, if that was not even asked for. So locks are acquired in the order of the calls,
 * and programs that take several in an order of their own can't deadlock. May wait. */
int issue_lock_await(struct rma *r);
/* Before MPI_Win_lock_all: wait until the locks that were given back weakly (mpirma_weak_unlock)
 * are free, since an exclusive one would wait for this process as a holder of all locks. */
int issue_await_unlocked(struct win *w);
int issue_lock_end(struct win *w, struct rma_target *t); /* may wait */
int issue_unlock_all(struct win *w);                     /* may wait */
/* t NULL: all targets. local: only until buffers may be reused. May wait. */
int issue_flush(struct win *w, struct rma_target *t, bool local);

/* Is all that was issued by packet done at the target, as far as this process knows? */
bool issue_all_done(const struct rma_target *t);

/* MPI_Win_free: take in what targets have refused of what nobody has waited for. May wait. */
int issue_confirm(struct win *w);

/* Does anybody await replies, or that large operations leave? Under the lock. */
bool issue_requests_due(const struct win *w);
/* Neither, and nothing of the window is in a send queue. Under the lock. */
bool issue_nothing_due(const struct win *w);

/* An operation has failed behind its call: the window's next synchronization returns the first such
 * error. Under the lock. */
void issue_keep_error(struct win *w, int err);
/* First error that was kept, or that a target has reported, for this window since last asked. Under
 * the lock. */
int issue_take_error(struct win *w);

/* Handlers' side. */
bool issue_got_post(struct rma_target *t, uint32_t seq); /* false: not the next one, refuse it */
void issue_got_open(struct rma_target *t, uint32_t seq, bool lock);
bool issue_got_ack(struct rma_target *t, uint32_t seq); /* false: nothing awaits it */

/* ---- ends of pairs, under the engine's lock ---- */

/* The connection to t is lost: requests of the pair, if it has any, end with an error, which the
 * window's next synchronization returns, too. */
void pair_lost(struct rma_target *t);
/* Nothing will come for the window any more: all requests of its pairs end with err. */
void pair_fail_all(struct win *w, int err);
/* The window ends: t->pkt, if there is one, is freed, with what it still awaits. */
void pair_free(struct rma_target *t);

#endif
