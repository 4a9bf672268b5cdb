/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll_gate.h - lets one thread at a time poll the engine from within MPICH's progress. The
 * thread that ends this knows when nobody polls any more, and may then destroy the engine.
 *
 * The polling thread may hold locks of MPICH, and threads that hold locks of this library may wait
 * for these in calls of MPICH. So the poll neither calls MPI nor waits for a lock: it tries the
 * engine's, as rma_host_poll_network does.
 *
 * A word of the file that uses the gate says whether to poll; it is written and read with
 * sequential consistency:
 *
 *   thread that ends                       thread in a call of MPICH
 *   A: the word says no                    C: enter
 *   B: wait until nobody is inside         D: the word says yes? poll the engine
 *                                          E: leave (release)
 *
 * A to D are in the one order of sequentially consistent operations. If D comes before A, then C
 * comes before B, and B waits until it reads E, behind the poll. If D comes behind A, it does
 * not touch the engine.
 */
#ifndef MRMA_MPI_HOST_HOST_POLL_GATE_H
#define MRMA_MPI_HOST_HOST_POLL_GATE_H

#include <sched.h>
#include <stdbool.h>

#include "base/atomic.h"

/* All zero: nobody is inside. */
struct host_poll_gate {
    _Atomic bool busy;
};

/* host_poll_gate_enter returns whether this thread may look at the word: no other thread is inside,
 * and neither is this one, from within its own poll. C. */
static inline bool host_poll_gate_enter(struct host_poll_gate *gate)
{
    return !atomic_exchange_explicit(&gate->busy, true, memory_order_seq_cst);
}

/* host_poll_gate_leave ends what host_poll_gate_enter has begun. E. */
static inline void host_poll_gate_leave(struct host_poll_gate *gate)
{
    atomic_store_explicit(&gate->busy, false, memory_order_release);
}

/* host_poll_gate_wait waits until no thread is inside that may have entered before the word said
 * no. A thread inside waits for nobody. B. */
static inline void host_poll_gate_wait(struct host_poll_gate *gate)
{
    while (atomic_load_explicit(&gate->busy, memory_order_seq_cst))
        sched_yield();
}

#endif
