/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomics.h - accumulates that the network's cards do, without a processor of the target, in
 * windows for which that was chosen at their creation (atomics_choice.h).
 *
 * In such a window the cards do all accumulates of the chosen pairs of operation and type, of all
 * processes; a process's card also does those on the process's own memory. They never fall back to
 * packets: elements that are not aligned, and operations in which the card fails, are errors.
 * Accumulates on other processes are operations that the channel does by itself, like puts and gets
 * (rdma.h); those on this process's own memory are done when the call returns.
 */
#ifndef MRMA_RMA_ORIGIN_ATOMICS_H
#define MRMA_RMA_ORIGIN_ATOMICS_H

#include "ch3/pkt.h"
#include "rma/origin/atomics_choice.h"
#include "rma/win/win.h"

/* origin_atomics_used returns whether cards do accumulates on w. */
static inline bool origin_atomics_used(const struct win *w)
{
    return w->origin_side.atomics.channel != NULL;
}

/* origin_atomics_probe tries out, on memory of its own, which of the atomic operations that the
 * channel ch offers the card of this process really does, and sets *found to these. w is the window
 * that is being created. Without the engine's lock; waits for the card, for some seconds at most
 * for each operation. */
void origin_atomics_probe(struct win *w, struct ch3_channel *ch, struct ch3_atomics *found);

/* origin_atomics_use makes the cards do the chosen accumulates from now on. Nobody has used the
 * window yet. */
void origin_atomics_use(struct win *w, struct ch3_channel *ch,
                        const struct origin_atomics_choice *choice, const struct ch3_atomics *all);

/* origin_atomics_serve returns whether the card does an accumulate or compare-and-swap, of that
 * kind, in a window where origin_atomics_used is true. */
bool origin_atomics_serve(const struct win *w, enum pkt_op_kind kind, const struct rma_op *op);

/* origin_atomic_operate does such an operation at offset of t's memory. Locks, waits and errors are
 * those of origin_rdma_operate (rdma.h), and MRMA_ERR_DISP if elements are not aligned at the
 * target. */
int origin_atomic_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                          const struct rma_op *op, int64_t offset);

/* origin_atomic_own does the same on this process's own memory, t, and waits until it is done.
 * Without the engine's lock. */
int origin_atomic_own(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                      const struct rma_op *op, int64_t offset);

#endif
