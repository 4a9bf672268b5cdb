/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_atomic.h - accumulates of a few aligned elements by the processor's own atomic instructions,
 * and the protocol that says when they may be used.
 *
 * An instruction and a stripe lock do not exclude each other. So every control block has a mode for
 * all accumulates on its owner's window memory: ATOMIC at first, LOCKED for ever from the first
 * accumulate on that instructions cannot do (long, unaligned, pairs, complex, through the kernel,
 * brought by packets, or of a process with several threads). Windows that only count stay ATOMIC.
 * MPI gives no atomicity across windows (MPI 4.1, 12.2.1), hence a mode a window.
 *
 * Order of stores and loads:
 *
 *   process with an instruction           process that needs the locks
 *   A: own busy = 1                       C: target's mode = CLOSING (seq_cst)
 *      fence, or none (light)                fence and membarrier(2)
 *   B: mode == ATOMIC? instruction        D: busy is 0 (acquire), once of each memory peer
 *   E: busy = 0 (release)                 F: mode = LOCKED (release)
 *                                            stripe lock, loads and stores
 *
 * There is a full fence between A and B in either form: the light form takes it from the membarrier
 * of the other side (sys/event.h), which makes every processor that runs a registered process
 * execute one wherever it is then. Of this fence and the one after C one comes first. If it is the
 * one after C, B reads CLOSING: no instruction, busy is taken back, and the process goes on as one
 * that needs the locks. Otherwise D sees A, or a later value of that word: it waits for E, and E
 * pairs with D, so the instruction comes before all that the lock protects. An A that is too late
 * for D has its fence after C's, and reads CLOSING.
 *
 * Who finds the mode CLOSING does C to F as well: the one who stored it may not have reached its
 * fence, so its membarrier cannot be relied on. Who finds LOCKED (acquire) pairs with F and needs
 * nothing more. Two that close store the same values; the mode never goes back.
 *
 * A process is light in a window if its own event is, that is if all peers it has met are
 * registered, the window's among them. So whoever closes such a window is registered and its
 * membarrier works. A process that is not registered makes the call in vain, but then nobody in its
 * windows is light.
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
/* win.acc_way: no instructions at all, a fence between A and B, the light form */
enum acc_way { ACC_WAY_LOCKS, ACC_WAY_FENCE, ACC_WAY_LIGHT };

/* More elements than that are faster under a lock. */
enum { ACC_ATOMIC_MAX = 4 };

/* How this process does its accumulates; when all peers of the window are known. */
void acc_atomic_init(struct win *w);

/* The element by one instruction, or a loop around one; old NULL: not wanted.
 * Requires acc_atomic_fits. */
void acc_atomic_apply(enum acc_op op, enum acc_type type, void *target, const void *origin,
                      void *old);
bool acc_atomic_fits(enum acc_type type, const void *target, size_t len);
/* All elements of len bytes; origin and old are packed. Between acc_atomic_enter and
 * acc_atomic_leave. */
void acc_atomic_elements(enum acc_op op, enum acc_type type, void *target, const void *origin,
                         void *old, size_t len);

/* Do a contiguous accumulate of len bytes at at, or the compare-and-swap, on the
 * memory of ctl's owner. False: nothing was done, acc_lock_mode and stripes.
 * Complete at the target when they return: acc_atomic_leave sees to it that the
 * instructions leave nothing in a store buffer, so they do not make the window dirty. */
bool acc_atomic(struct win *w, const struct win_ctl *ctl, void *at, const struct rma_op *op,
                bool fetch, size_t len);
bool acc_atomic_cas(struct win *w, const struct win_ctl *ctl, void *at, const struct rma_op *op);

/* Around the instructions: A and B, then E. False: not now, nor ever after. The first
 * look keeps a window that is LOCKED for good from paying for the rest. */
static inline void acc_atomic_leave(struct win *w)
{
    atomic_rmw_fence(); /* a flush makes none for accumulates */
    atomic_store_explicit(&w->ctl->acc_busy, 0, memory_order_release);
}

/* A and B where the window is ACC_WAY_LIGHT. */
static inline bool acc_atomic_enter_light(struct win *w, const struct win_ctl *ctl)
{
    atomic_store_explicit(&w->ctl->acc_busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* pairs with event_light_barrier in acc_close */
    if (likely(atomic_load_explicit(&ctl->acc_mode, memory_order_acquire) == ACC_MODE_ATOMIC))
        return true;
    acc_atomic_leave(w);
    return false;
}

static inline bool acc_atomic_enter(struct win *w, const struct win_ctl *ctl)
{
    if (unlikely(w->acc_way == ACC_WAY_LOCKS ||
                 atomic_load_explicit(&ctl->acc_mode, memory_order_relaxed) != ACC_MODE_ATOMIC))
        return false;
    if (likely(w->acc_way == ACC_WAY_LIGHT))
        return acc_atomic_enter_light(w, ctl);
    atomic_store_explicit(&w->ctl->acc_busy, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in acc_close */
    if (likely(atomic_load_explicit(&ctl->acc_mode, memory_order_acquire) == ACC_MODE_ATOMIC))
        return true;
    acc_atomic_leave(w);
    return false;
}

/* The three inlined in the entry points, on a word of 8 bytes: SUM of integers, REPLACE
 * or NO_OP; SUM of a double; compare-and-swap. */
typedef uint64_t acc_word __attribute__((may_alias));

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

/* The operands in the kernel's order; old NULL: not wanted. */
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

static inline void acc_atomic_cas_word(acc_word *at, const void *compare, const void *value,
                                       void *old)
{
    uint64_t before, after;
    memcpy(&before, compare, sizeof before);
    memcpy(&after, value, sizeof after);
    __atomic_compare_exchange_n(at, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    memcpy(old, &before, sizeof before);
}

/* To be called before the stripes of ctl's owner are used for this window; from any thread; held:
 * it has the engine's lock. MRMA_ERR_PROC_FAILED. */
int acc_close(struct win *w, struct win_ctl *ctl, bool held);
static inline int acc_lock_mode(struct win *w, struct win_ctl *ctl, bool held)
{
    /* Pairs with F. */
    if (likely(atomic_load_explicit(&ctl->acc_mode, memory_order_acquire) == ACC_MODE_LOCKED))
        return 0;
    return acc_close(w, ctl, held);
}

#endif
