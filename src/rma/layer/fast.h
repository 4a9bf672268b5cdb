/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fast.h - the few instructions of the commonest calls, inline in the entry points: the only header
 * of src/rma besides rma.h that src/mpi includes.
 *
 * Contiguous put, get and accumulate on mapped memory, single instructions on its words of 8 bytes,
 * lock and unlock of a free lock, flush with nothing to do, short puts into a packet that is open,
 * and the look-up of datatypes.
 *
 * Each function does either all of the call or nothing, and says which. If it has done nothing the
 * caller goes the general way (rma.h), which also finds errors, waits, and does what is left out
 * here: it leaves the mode in which single instructions are used (path/acc_atomic.h), and uses
 * instructions where these need a fence. The functions exist because these calls would take too
 * many instructions with one more call and an operation built in memory (doc/decisions.md), and
 * because ranks that compete for a word get it the more often the less else they do. Locks: the
 * stripes; fast_put_packed takes the engine's.
 */
#ifndef MRMA_RMA_LAYER_FAST_H
#define MRMA_RMA_LAYER_FAST_H

#include "base/cpu.h"
#include "acc/acc.h"
#include "dtype/dtype_cache.h"
#include "dtype/dtype_predef.h"
#include "rma/notify/notify.h"
#include "rma/origin/pair_ops.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/copy_local.h"
#include "rma/rma.h"
#include "rma/win/full_fence.h"
#include "rma/win/target_lock.h"
#include "rma/win/win.h"

#define MRMA_INLINE static inline __attribute__((always_inline))

/* fast_find returns the address of len bytes at disp, which is not negative, of a target; NULL if
 * the target is not known to be accessible, is not mapped, or does not have these bytes. */
MRMA_INLINE char *fast_find(const struct win *w, const struct rma_target *t, int64_t disp,
                            size_t len)
{
    if (unlikely(!target_ready(w, t) ||
                 (uint64_t)disp > atomic_load_explicit(&t->fast_units, memory_order_relaxed)))
        return NULL;
    const uint64_t offset = (uint64_t)disp * t->disp_unit;
    if (unlikely(len > atomic_load_explicit(&t->fast_size, memory_order_relaxed) - offset))
        return NULL;
    return t->base + offset;
}

/* ---- put and get (MPI 4.1, 12.3.1 and 12.3.2): len contiguous bytes ---- */

/* fast_copy does what copy_whole does. False: the target may take part in so large a copy
 * (path/joint.h), and nothing was done. */
MRMA_INLINE bool fast_copy(const struct win *w, void *to, const void *from, size_t len)
{
    if (unlikely(len != 8 && len >= w->joint_min))
        return false;
    copy_whole(to, from, len);
    return true;
}

/* fast_put does MPI_Put of len contiguous bytes. False: nothing was done. */
MRMA_INLINE bool fast_put(struct win *w, const void *from, int target, int64_t disp, size_t len)
{
    char *to = fast_find(w, win_peek(w, target), disp, len);
    if (unlikely(!to || !fast_copy(w, to, from, len)))
        return false;
    win_count(w, STATS_MAPPED, len);
    win_set_dirty(w);
    return true;
}

/* fast_put_notify does MPIRMA_Put_notify of len contiguous bytes. False: nothing was done. */
MRMA_INLINE bool fast_put_notify(struct win *w, const void *from, int target, int64_t disp,
                                 size_t len, int number)
{
    const struct rma_target *t = win_peek(w, target);
    char *to = fast_find(w, t, disp, len);
    if (unlikely(!to || (unsigned)number >= notify_numbers(w)))
        return false;
    win_count(w, STATS_MAPPED, len);
    copy_whole(to, from, len);
    win_set_dirty(w);
    notify_raise(w, t, (uint32_t)number + 1);
    return true;
}

/* fast_put_packed does MPI_Put, or MPI_Rput (request), of len contiguous bytes to a target of
 * packets: its record goes into the open packet, with which a request is complete. It exists since
 * rma_put, which checks more, takes longer than writing the record. False: nothing was done. */
static inline bool fast_put_packed(struct win *w, const void *from, int target, int64_t disp,
                                   size_t len, bool request)
{
    struct rma_target *t = win_peek(w, target);
    const uint64_t offset = (uint64_t)disp * t->disp_unit;
    if (!target_ready(w, t) || len > atomic_load_explicit(&t->plain_max, memory_order_relaxed) ||
        (uint64_t)disp >> 31 || offset > t->size || len > t->size - offset ||
        !(request ? origin_put_plain_request(w, t, from, (int64_t)offset, len)
                  : origin_put_plain(w, t, from, (int64_t)offset, len)))
        return false;
    win_count(w, STATS_SHM_PACKETS + t->peer->net, len);
    return true;
}

/* fast_get does MPI_Get of len contiguous bytes. False: nothing was done. */
MRMA_INLINE bool fast_get(struct win *w, void *to, int target, int64_t disp, size_t len)
{
    const char *from = fast_find(w, win_peek(w, target), disp, len);
    if (unlikely(!from || !fast_copy(w, to, from, len)))
        return false;
    win_count(w, STATS_MAPPED, len);
    return true;
}

/* ---- one word of 8 bytes (12.3.4.3 and 12.3.4.4) ---- */

/* fast_word returns an aligned word at disp of the target that an instruction may change now;
 * acc_atomic_leave must follow. NULL: it may not be changed so. It works only where no fence is
 * needed (ACC_WAY_MEMBARRIER). It reads the mode only once, so in a window that is LOCKED it costs
 * a store to the process's own line. */
MRMA_INLINE acc_word *fast_word(struct win *w, int target, int64_t disp)
{
    const struct rma_target *t = win_peek(w, target);
    char *at = fast_find(w, t, disp, sizeof(uint64_t));
    if (unlikely(!at || (uintptr_t)at % sizeof(uint64_t) || w->acc_way != ACC_WAY_MEMBARRIER))
        return NULL;
    if (unlikely(!acc_atomic_enter_membarrier(w, t->ctl)))
        return NULL;
    win_count(w, STATS_MAPPED, sizeof(uint64_t));
    return (acc_word *)(void *)at;
}

/* fast_fetch_op does MPI_Fetch_and_op on a word of 8 bytes: SUM of integers, REPLACE and NO_OP.
 * from and to need no alignment. False: nothing was done. */
MRMA_INLINE bool fast_fetch_op(struct win *w, enum acc_op op, const void *from, void *to,
                               int target, int64_t disp)
{
    acc_word *word = fast_word(w, target, disp);
    if (unlikely(!word))
        return false;
    acc_atomic_word(op, word, from, to);
    acc_atomic_leave(w);
    return true;
}

/* fast_cas does MPI_Compare_and_swap on a word of 8 bytes. value, compare and to need no alignment.
 * False: nothing was done. */
MRMA_INLINE bool fast_cas(struct win *w, const void *value, const void *compare, void *to,
                          int target, int64_t disp)
{
    acc_word *word = fast_word(w, target, disp);
    if (unlikely(!word))
        return false;
    acc_atomic_cas_word(word, compare, value, to);
    acc_atomic_leave(w);
    return true;
}

/* ---- accumulates of one contiguous datatype (12.3.4.1 and 12.3.4.2) ---- */

/* fast_acc_locked does the accumulate of n elements, len bytes, at at, under the stripe, or
 * stripes, of the target. old NULL: the old contents are not wanted. */
MRMA_INLINE void fast_acc_locked(const struct rma_target *t, struct acc_what what, char *at,
                                 const void *from, void *old, size_t n, size_t len)
{
    const struct acc_kernel *kernel = &acc_kernels[what.op][what.type];
    const uint64_t vaddr = t->vaddr + (uint64_t)(at - t->base);
    if (unlikely(!stripe_one(vaddr, len))) {
        direct_acc_piece((struct acc_at){t->peer->stripes, vaddr, at}, what, from, old, len);
        return;
    }
    struct fmutex *mx = &t->peer->stripes.at[stripe_index(vaddr)];
    fmutex_lock(mx, t->peer->stripes.self);
    if (n > 1 && old) {
        acc_fetch(what.op, what.type, at, from, old, n);
    } else if (n > 1) {
        kernel->many[cpu_wide()](at, from, n);
    } else {
        if (old)
            copy_whole(old, at, len);
        if (what.op != ACC_NO_OP)
            kernel->one(at, from);
    }
    fmutex_unlock(mx);
}

/* fast_acc_atomic does the accumulate of len bytes at at by instructions. False: these cannot be
 * used now, and nothing was done. old NULL: the old contents are not wanted. */
MRMA_INLINE bool fast_acc_atomic(struct win *w, const struct rma_target *t, struct acc_what what,
                                 char *at, const void *from, void *old, size_t len)
{
    const bool sum = what.op == ACC_SUM && what.type == ACC_F64 && len == sizeof(double) &&
                     (uintptr_t)at % sizeof(double) == 0;
    if (unlikely(w->acc_way != ACC_WAY_MEMBARRIER ||
                 (!sum && !acc_atomic_fits(what.type, at, len)) ||
                 !acc_atomic_enter_membarrier(w, t->ctl)))
        return false;
    if (sum)
        acc_atomic_sum_f64((acc_word *)(void *)at, from, old);
    else
        acc_atomic_elements(what.op, what.type, at, from, old, len);
    acc_atomic_leave(w);
    return true;
}

/* fast_acc does MPI_Accumulate or MPI_Get_accumulate of count of type, which is contiguous and the
 * type of both sides, len bytes. from is not read for NO_OP. old NULL: the old contents are not
 * wanted, and op is not NO_OP then. False: nothing was done; the operation may also be one that is
 * not allowed. */
MRMA_INLINE bool fast_acc(struct win *w, enum acc_op op, const struct dtype *type, size_t count,
                          const void *from, void *old, int target, int64_t disp, size_t len)
{
    const struct rma_target *t = win_peek(w, target);
    const struct acc_what what = {op, (enum acc_type)type->basic};
    char *at = fast_find(w, t, disp, len);
    if (unlikely(!at || !len || what.type == ACC_NONE ||
                 (!acc_kernels[op][what.type].one && op != ACC_NO_OP)))
        return false;
    const uint32_t mode =
        atomic_load_explicit(&t->ctl->acc_mode, memory_order_acquire); /* pairs with F */
    if (mode == ACC_MODE_LOCKED)
        fast_acc_locked(t, what, at, from, old, count * type->elems, len);
    else if (!fast_acc_atomic(w, t, what, at, from, old, len))
        return false;
    win_count(w, STATS_MAPPED, len);
    return true;
}

/* ---- locks and flush (12.5.3 and 12.5.4) ---- */

/* fast_lock_hold notes that the lock on t is held, which is the first lock of an epoch or a further
 * one. */
static inline void fast_lock_hold(struct win *w, struct rma_target *t, enum win_lock lock)
{
    t->lock = (uint8_t)lock;
    if (w->nlocks++ == 0) {
        w->rma->passive++;
        atomic_store_explicit(&w->epoch.state, EPOCH_LOCK, memory_order_relaxed);
        atomic_store_explicit(&w->flush_quick, FLUSH_QUICK_READY, memory_order_relaxed);
        win_next_gen(w);
    }
    /* if it is pending the first access looks whether the puts of the last fence are in place */
    if (!w->fence_pending)
        atomic_store_explicit(&t->gen, atomic_load_explicit(&w->gen, memory_order_relaxed),
                              memory_order_relaxed);
}

/* fast_lock does MPI_Win_lock of a target whose lock is free. False: nothing was done, or undone.
 * lock_quick is set for windows in which nobody watches locks (MPIRMA_STRICT, MPIRMA_HANG_REPORT,
 * no_locks), and without packet targets; while others may take the engine's lock, or a packet lock
 * is pending, it is not tried.
 *
 * An exclusive request must look at the holders without a ticket after its own ticket is in the
 * word (win/target_lock.h: C before D). If it finds one, or a lock_all that waits, it gives the
 * lock back and goes the general way: that is as if it had locked and unlocked without
 * operations. */
MRMA_INLINE bool fast_lock(struct win *w, bool exclusive, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    const enum epoch_state now = epoch_now(&w->epoch);
    if (unlikely((now != EPOCH_NONE && now != EPOCH_LOCK) ||
                 !atomic_load_explicit(&w->lock_quick, memory_order_relaxed) ||
                 t->lock != WIN_LOCK_NONE || w->rma->lock_due))
        return false;
    if (unlikely(!lockword_try(&t->ctl->lock, exclusive)))
        return false;
    if (exclusive && unlikely(atomic_load_explicit(&t->ctl->ticketless, memory_order_seq_cst) |
                              atomic_load_explicit(&w->lead->all, memory_order_seq_cst))) {
        lockword_release(&t->ctl->lock, true);
        lock_notify(t);
        return false;
    }
    fast_lock_hold(w, t, exclusive ? WIN_LOCK_EXCLUSIVE : WIN_LOCK_SHARED);
    return true;
}

/* fast_unlock does MPI_Win_unlock of a target whose lock fast_lock has taken, or rma_lock in the
 * same way. False: nothing was done. */
MRMA_INLINE bool fast_unlock(struct win *w, int rank)
{
    struct rma_target *t = win_peek(w, rank);
    const uint8_t lock = t->lock;
    if (unlikely(epoch_now(&w->epoch) != EPOCH_LOCK ||
                 !atomic_load_explicit(&w->lock_quick, memory_order_relaxed) ||
                 (lock != WIN_LOCK_SHARED && lock != WIN_LOCK_EXCLUSIVE) || w->nsent ||
                 win_count_short_call(w)))
        return false;
    lockword_release(&t->ctl->lock, lock == WIN_LOCK_EXCLUSIVE);
    lock_notify(t);
    t->lock = WIN_LOCK_NONE;
    if (--w->nlocks == 0) {
        w->rma->passive--;
        atomic_store_explicit(&w->epoch.state, EPOCH_NONE, memory_order_relaxed);
        atomic_store_explicit(&w->flush_quick, FLUSH_QUICK_NONE, memory_order_relaxed);
        win_next_gen(w);
    } else {
        target_set_unready(w, t);
    }
    return true;
}

/* fast_flush does MPI_Win_flush, or its local form, when there is nothing to make visible: the
 * target is accessible in a passive epoch, and no store has been made since the last fence. False:
 * nothing was done. */
static inline bool fast_flush(struct win *w, int target)
{
    const struct rma_target *t = win_peek(w, target);
    return likely((w->flush_quick == FLUSH_QUICK_ALL || (w->flush_quick && target_ready(w, t))) &&
                  !atomic_load_explicit(&w->dirty, memory_order_relaxed) &&
                  !win_count_short_call(w));
}

#undef MRMA_INLINE
#endif
