/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_atomic.h - accumulates of a few aligned elements by the processor's own atomic instructions,
 * and the protocol that says when they may be used.
 *
 * An instruction and a stripe lock do not exclude each other. So every control block has a mode for
 * all accumulates on its owner's window memory. It is ATOMIC at first, and LOCKED for ever from the
 * first accumulate on that instructions cannot do (long, unaligned, pairs, complex, through the
 * kernel, brought by packets, or of a process with several threads). Windows that are only used as
 * counters stay ATOMIC. MPI gives no atomicity across windows (MPI 4.1, 12.2.1), so each window has
 * a mode of its own.
 *
 * Order of stores and loads:
 *
 *   process with an instruction           process that needs the locks
 *   A: own busy = 1                       C: target's mode = CLOSING (seq_cst)
 *      fence, or none (membarrier)           fence and membarrier(2)
 *   B: mode == ATOMIC? instruction        D: busy is 0 (acquire), once of each memory peer
 *   E: busy = 0 (release)                 F: mode = LOCKED (release)
 *                                            stripe lock, loads and stores
 *
 * There is a full fence between A and B in both forms: where the process makes none, the membarrier
 * of the other side makes it (sys/futex_event.h), since that makes every processor that runs a
 * registered process execute a full fence, wherever the process is then. One of the two fences,
 * this one and the one after C, comes first. If the one after C comes first, B reads CLOSING: the
 * process does no instruction, takes busy back, and goes on as one that needs the locks. Otherwise
 * D sees A, or a later value of that word: it waits for E, and E pairs with D, so the instruction
 * comes before all that the lock protects. An A that is too late for D has its fence after C's, and
 * reads CLOSING.
 *
 * A process that finds the mode CLOSING does C to F as well: the process that stored it may not
 * have reached its fence, so its membarrier cannot be relied on. A process that finds LOCKED
 * (acquire) pairs with F and needs nothing more. Two processes that close store the same values;
 * the mode never goes back.
 *
 * In a window a process leaves out the fence if its own event has membarrier, that is, if all peers
 * that it has met are registered, and so all of the window's. So a process that closes such a
 * window is registered, and its membarrier works. A process that is not registered calls membarrier
 * without effect, but then nobody in its windows leaves out the fence.
 *
 * The instructions are sequentially consistent, and acc_atomic_leave is a full fence behind them
 * (base/atomic.h), so nothing of them stays in a store buffer, and a flush after them needs no
 * fence, as an unlock needs none.
 *
 * Locks: none. A process has one busy word a window; its agent never sets it, and where several
 * threads call nobody does, since they would share the word: such a process uses the locks only. A
 * process may be preempted while it is busy: D yields, and gives up with MRMA_ERR_PROC_FAILED if
 * that process has died.
 */
#ifndef MRMA_RMA_PATH_ACC_ATOMIC_H
#define MRMA_RMA_PATH_ACC_ATOMIC_H

#include <string.h>

#include "rma/win/win.h"

/* win_ctl.acc_mode */
enum acc_mode { ACC_MODE_ATOMIC, ACC_MODE_CLOSING, ACC_MODE_LOCKED };
/* win.acc_way: no instructions at all; a fence between A and B; no such fence, and membarrier after
 * C */
enum acc_way { ACC_WAY_LOCKS, ACC_WAY_FENCE, ACC_WAY_MEMBARRIER };

/* More elements than that are faster under a lock. */
enum { ACC_ATOMIC_MAX = 4 };

/* acc_atomic_way returns how this process does its accumulates in w (win.acc_way). All peers of the
 * window are known. */
enum acc_way acc_atomic_way(const struct win *w);

/* acc_atomic_fits returns whether instructions can do an accumulate of len bytes, whole elements of
 * this type, at target: there are few enough, their size is one that instructions have, and they
 * are aligned. */
bool acc_atomic_fits(enum acc_type type, const void *target, size_t len);

/* acc_atomic_elements does op on the elements at target, len bytes in all, with the elements at
 * origin, each by one instruction or a loop around one. old gets the old contents; NULL: they are
 * not wanted. origin and old are packed. acc_atomic_fits is true for the operation. It is called
 * between acc_atomic_enter and acc_atomic_leave. */
void acc_atomic_elements(enum acc_op op, enum acc_type type, void *target, const void *origin,
                         void *old, size_t len);

/* acc_atomic does a contiguous accumulate of len bytes at at, on the memory of ctl's owner, by
 * instructions; with fetch the old contents go to op's result. True: it is complete at the target,
 * and does not make the window dirty, since acc_atomic_leave makes sure that the instructions leave
 * nothing in a store buffer. False: nothing was done, and acc_lock_mode and the stripes have to be
 * used. */
bool acc_atomic(struct win *w, const struct win_ctl *ctl, void *at, const struct rma_op *op,
                bool fetch, size_t len);

/* acc_atomic_cas does the compare-and-swap op at at, as acc_atomic does accumulates. */
bool acc_atomic_cas(struct win *w, const struct win_ctl *ctl, void *at, const struct rma_op *op);

/* acc_atomic_leave ends what acc_atomic_enter has begun (E). */
static inline void acc_atomic_leave(struct win *w)
{
    atomic_rmw_fence(); /* a flush makes no fence for accumulates */
    atomic_store_explicit(&w->ctl->acc_busy, 0, memory_order_release);
}

/* acc_atomic_enter_membarrier is acc_atomic_enter where the window is ACC_WAY_MEMBARRIER. */
static inline bool acc_atomic_enter_membarrier(struct win *w, const struct win_ctl *ctl)
{
    atomic_store_explicit(&w->ctl->acc_busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* pairs with event_membarrier in acc_close */
    if (likely(atomic_load_explicit(&ctl->acc_mode, memory_order_acquire) == ACC_MODE_ATOMIC))
        return true;
    acc_atomic_leave(w);
    return false;
}

/* acc_atomic_enter begins the use of instructions on the memory of ctl's owner (A and B). True:
 * they may be used, and acc_atomic_leave must follow soon. False: they may never be used again. The
 * first look keeps the cost small in a window that is LOCKED. */
static inline bool acc_atomic_enter(struct win *w, const struct win_ctl *ctl)
{
    if (unlikely(w->acc_way == ACC_WAY_LOCKS ||
                 atomic_load_explicit(&ctl->acc_mode, memory_order_relaxed) != ACC_MODE_ATOMIC))
        return false;
    if (likely(w->acc_way == ACC_WAY_MEMBARRIER))
        return acc_atomic_enter_membarrier(w, ctl);
    atomic_store_explicit(&w->ctl->acc_busy, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in acc_close */
    if (likely(atomic_load_explicit(&ctl->acc_mode, memory_order_acquire) == ACC_MODE_ATOMIC))
        return true;
    acc_atomic_leave(w);
    return false;
}

typedef uint64_t acc_word __attribute__((may_alias));

/* acc_atomic_word does one of the operations that are inlined in the entry points on a word of 8
 * bytes: SUM of integers, REPLACE or NO_OP. origin, which NO_OP does not need, and old need no
 * alignment. Like the next two it is called between acc_atomic_enter and acc_atomic_leave. */
static inline void acc_atomic_word(enum acc_op op, acc_word *at, const void *origin, void *old)
{
    uint64_t value = 0, before;
    if (op != ACC_NO_OP)
        memcpy(&value, origin, sizeof value);
    if (op == ACC_SUM)
        before = __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
    else if (op == ACC_REPLACE)
        before = __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
    else
        before = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    memcpy(old, &before, sizeof before);
}

/* acc_atomic_sum_f64 adds the double at origin to the one at at, with the operands in the kernel's
 * order; old gets the old contents; NULL: they are not wanted. */
static inline void acc_atomic_sum_f64(acc_word *at, const void *origin, void *old)
{
    uint64_t before = __atomic_load_n(at, __ATOMIC_RELAXED), after;
    double value, sum;
    memcpy(&value, origin, sizeof value);
    do {
        memcpy(&sum, &before, sizeof sum);
        sum = sum + value;
        memcpy(&after, &sum, sizeof after);
    } while (
        !__atomic_compare_exchange_n(at, &before, after, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    if (old)
        memcpy(old, &before, sizeof before);
}

/* acc_atomic_cas_word stores value at at if the contents equal compare; old gets the old contents.
 * value, compare and old need no alignment. */
static inline void acc_atomic_cas_word(acc_word *at, const void *compare, const void *value,
                                       void *old)
{
    uint64_t before, after;
    memcpy(&before, compare, sizeof before);
    memcpy(&after, value, sizeof after);
    __atomic_compare_exchange_n(at, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    memcpy(old, &before, sizeof before);
}

/* acc_close is the part of acc_lock_mode for the case that the mode is not LOCKED yet (C to F). */
int acc_close(struct win *w, struct win_ctl *ctl, bool held);

/* acc_lock_mode is called before the stripes of ctl's owner are used for this window, by any
 * thread: when it returns MRMA_SUCCESS, nobody uses instructions on that memory any more. held says
 * that the caller has the engine's lock. May wait for the end of accumulates that others have
 * begun. MRMA_ERR_PROC_FAILED: a process has died in one. */
static inline int acc_lock_mode(struct win *w, struct win_ctl *ctl, bool held)
{
    /* Pairs with F. */
    if (likely(atomic_load_explicit(&ctl->acc_mode, memory_order_acquire) == ACC_MODE_LOCKED))
        return 0;
    return acc_close(w, ctl, held);
}

#endif
