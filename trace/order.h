/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.h - which accesses of a trace come before which others by what the processes have done, and
 * not only by the time at which they happened.
 *
 * The steps of a trace are walked in the order of time, with a vector clock for each rank
 * (clocks.h). An access begins where its operation is issued, or, at the target, where that has
 * come to its exposure epoch, if that is later. It ends where the standard completes it. The buffer
 * of a message is accessed from the call that begins the message to the return of the one in which
 * it is complete (MPI 4.1, 3.2 and 3.7.2). An access comes before another one if the process at
 * which the other begins has learnt of its end by then.
 *
 * Who learns from whom: at fences, creation and end of a window all from all; the target's
 * MPI_Win_wait from its origins' MPI_Win_complete; who gets a lock from those that held it before
 * and exclude it; a fetching operation from those that updated the same place before; MPI_Win_sync
 * from what has come into the process's memory, and from the MPI_Win_sync of others; who takes
 * notifications from who raised them; and by calls of the host's functions (host_calls.h). Where it
 * cannot be told which message or which notification it was, it may be any that was there in time:
 * accesses are rather taken for ordered than for unordered. So what this finds unordered is, and
 * some that is may be missed.
 */
#ifndef MRMA_TRACE_ORDER_H
#define MRMA_TRACE_ORDER_H

#include "clocks.h"
#include "epochs.h"
#include "model.h"
#include "table.h"

/* Where an operation is complete: each 0 until then. */
struct op_end {
    uint32_t remote; /* at the target, by the clock of the origin, or of the target (at_target) */
    uint32_t local;  /* at the origin, by its clock */
    uint32_t taken;  /* at the target, which takes its notification, by its clock */
    bool at_target;
};

struct order;

/* Called for each operation in which accesses begin, and for each message, with the clock of who
 * does it then. Messages are numbered: those of trace->sending, then those of trace->receiving. */
struct order_calls {
    void (*local)(void *arg, uint32_t op, const uint32_t *clock);
    void (*target)(void *arg, uint32_t op, const uint32_t *clock);
    void (*message)(void *arg, uint32_t message, const uint32_t *clock);
    void *arg;
};

/* order_walk goes through the whole trace. What it is told in calls may look into *order
 * (order_before, order_epoch) as long as it is in there. */
void order_walk(const struct trace *trace, const struct epochs *epochs,
                const struct order_calls *calls, struct order **order);

/* order_before returns whether the access of an operation, at its target or in the buffers of its
 * origin, has ended before somebody with this clock begins another one. */
bool order_before(const struct order *order, uint32_t op, bool at_target, const uint32_t *clock);

/* order_message_before returns whether the buffer of a message is no longer used when somebody with
 * this clock begins another access: its call or its request is complete, or, of one that is sent,
 * its receive is. */
bool order_message_before(const struct order *order, uint32_t message, const uint32_t *clock);

/* order_end returns the time of the call that ends the access; UINT64_MAX: none does. */
uint64_t order_end(const struct order *order, uint32_t op, bool at_target);

/* order_closing returns that call for the access at the target; NONE: none does. */
uint32_t order_closing(const struct order *order, uint32_t op);

/* order_epoch returns the call that has begun the epoch of an operation that has been issued; NONE:
 * it is not known. */
uint32_t order_epoch(const struct order *order, uint32_t op);

#endif
