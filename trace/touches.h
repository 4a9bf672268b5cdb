/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * touches.h - two accesses to the same bytes, which may come at the same time: is the outcome
 * defined all the same (MPI 4.1, 12.7), and do locks keep them apart? conflicts.c asks this of all
 * accesses that nothing orders.
 */
#ifndef MRMA_TRACE_TOUCHES_H
#define MRMA_TRACE_TOUCHES_H

#include "conflicts.h"
#include "model.h"
#include "table.h"

/* An access to some bytes. */
struct touch {
    uint32_t op; /* of trace->op, or the number of a message (order.h) */
    uint8_t kind, acc_op, type;
    bool is_message;
};

struct own_lock;

/* What is known of a trace for these questions. */
struct touches {
    const struct trace *trace;
    struct table same_op; /* windows whose accumulate_ops is same_op */
    struct own_lock
        *own_lock; /* locks of processes on themselves, by rank, then in order of time */
    size_t nown_locks;
};

/* An actor tells which process makes an access, of an operation or of a message, where in the
 * program, and when. */
struct actor {
    uint64_t time;
    uint32_t rank, call, completer;
};

/* touches_begin makes what is known of the trace; touches_end frees it. */
void touches_begin(struct touches *all, const struct trace *trace);
void touches_end(struct touches *all);

/* touch_actor returns who makes the access. */
struct actor touch_actor(const struct trace *trace, const struct touch *touch);

/* touch_at_target returns whether the access is one at an operation's target; otherwise it is one
 * to a buffer. */
bool touch_at_target(const struct touch *touch);

/* touch_only_reads returns whether the access changes nothing. */
bool touch_only_reads(const struct touch *touch);

/* touch_elements_agree returns whether the elements of two atomic operations that both access the
 * byte at this address are the same there. Atomic operations are atomic element by element (MPI
 * 4.1, 12.7.1): those whose elements overlap only in part are not atomic with respect to each
 * other. */
bool touch_elements_agree(const struct trace *trace, const struct operation *a,
                          const struct operation *b, uint64_t address);

/* touches_compatible returns whether both accesses, to the byte at this address, could be at the
 * same time and the outcome would still be defined. What messages do to each other is not looked
 * at. */
bool touches_compatible(const struct touches *all, const struct touch *a, const struct touch *b,
                        uint64_t address);

/* touches_excluded returns whether locks keep the two accesses apart. */
bool touches_excluded(const struct touches *all, const struct touch *a, const struct touch *b);

#endif
