/*
 * strict.h - what MPIRMA_STRICT=1 checks besides: conflicting accesses (MPI 4.1,
 * 12.7), hints (12.2.1) and asserts (12.5.5) that are not kept.
 *
 * w->strict is NULL where that is off, and every call here stands behind a test of
 * it. While it is on no target is ever known to be ready (target_set_ready), so
 * every operation comes through op.c, and every MPI_Win_fence synchronizes,
 * whatever its asserts say. It is on for a window if all its processes have it on.
 * What is reported is wrong for certain; what cannot be decided is not reported
 * and listed in strict.c.
 *
 * Locks: the ranges have a mutex of their own; the calls from synchronization are
 * made by the thread that synchronizes, without the engine's lock unless said.
 */
#ifndef MRMA_RMA_STRICT_STRICT_H
#define MRMA_RMA_STRICT_STRICT_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/rma.h"
#include "rma/strict/strict_ranges.h"

struct strict;
struct rma_target;

int strict_new(struct win *w); /* sets w->strict; MRMA_ERR_NO_MEM */
void strict_free(struct win *w);

/* An operation of valid arguments at byte offset of t's memory, about to be performed;
 * remembered if the answer is MRMA_SUCCESS. MRMA_ERR_RMA_CONFLICT, MRMA_ERR_OP
 * (which_accumulate_ops does not have it), MRMA_ERR_ASSERT (the target has said that no put
 * will come). Accumulates: kind STRICT_ACC, op->op ACC_OP_NONE for compare-and-swap. */
int strict_op(struct win *w, struct rma_target *t, enum strict_kind kind, const struct rma_op *op,
              int64_t offset);

/* May a packet's operation be applied here? MRMA_ERR_ASSERT while MPI_MODE_NOPUT holds.
 * kind and epoch as in ch3/pkt.h. Under the engine's lock. */
int strict_arrival(const struct win *w, unsigned kind, unsigned op, unsigned epoch);

/* What was issued to t (NULL: to everybody) is complete, or complete here. */
void strict_completed(struct win *w, struct rma_target *t);
void strict_completed_local(struct win *w, struct rma_target *t);

/* Called as MPI_Win_fence begins, and when it is done. The first returns
 * MRMA_ERR_ASSERT for what the fence shall return after all has been done. */
int strict_fence(struct win *w, int asserts);
void strict_fence_done(struct win *w, int asserts);

/* Exposure begins with these asserts, before anybody is told; it ends. */
void strict_post(struct win *w, int asserts);
void strict_wait(struct win *w);

/* A lock has been acquired, or not because of MPI_MODE_NOCHECK; MRMA_ERR_ASSERT refuses
 * that. Before it is released; MRMA_ERR_ASSERT is for unlock to return when done. */
int strict_lock(struct win *w, struct rma_target *t, bool exclusive, bool nocheck);
int strict_unlock(struct win *w, struct rma_target *t);
int strict_lock_all(struct win *w, bool nocheck);
int strict_unlock_all(struct win *w);

#endif
