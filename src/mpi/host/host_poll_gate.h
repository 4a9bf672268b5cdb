/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll_gate.h - lets one thread at a time poll the engine from within MPICH's progress. The
 * thread that ends this knows when nobody polls any more, and may then destroy the engine.
 *
 * The polling thread may hold locks of MPICH, and threads that hold locks of this library may wait
 * for these in calls of MPICH. So the poll neither calls MPI nor waits for a lock: it tries the
 * engine's, as rma_host_poll does.
 *
 * Where one thread alone may call MPI, that thread also ends this, and needs no order with itself:
 * it is the gate's owner, and pays for two plain stores a round instead of an atomic exchange.
 * Other threads that come, such as users of UCX of their own, do not enter.
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

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

/* All zero: nobody is inside. */
struct host_poll_gate {
    _Atomic bool busy;
    _Atomic uintptr_t owner; /* the thread that alone may enter; 0: any thread may */
};

/* host_poll_gate_own makes the calling thread the owner, or, if any thread may enter, nobody. It is
 * called before the word says yes. */
static inline void host_poll_gate_own(struct host_poll_gate *gate, bool any)
{
    atomic_store_explicit(&gate->owner, any ? 0 : (uintptr_t)pthread_self(), memory_order_relaxed);
}

/* host_poll_gate_enter returns whether this thread may look at the word: no other thread is inside,
 * and neither is this one, from within its own poll. C. */
static inline bool host_poll_gate_enter(struct host_poll_gate *gate)
{
    const uintptr_t owner = atomic_load_explicit(&gate->owner, memory_order_relaxed);
    if (owner) {
        if (owner != (uintptr_t)pthread_self() ||
            atomic_load_explicit(&gate->busy, memory_order_relaxed))
            return false;
        atomic_store_explicit(&gate->busy, true, memory_order_relaxed);
        return true;
    }
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
