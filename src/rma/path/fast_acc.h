/*
 * fast_acc.h - contiguous accumulates of one datatype on mapped memory, inline in the entry points
 * (MPI 4.1, 12.3.4.1 and 12.3.4.2).
 *
 * As in fast.h each does all of the call or nothing and says so, and the caller then goes the
 * general way (op.c), which finds the errors and does what is left out here: to leave the mode in
 * which single instructions do (acc_atomic.h), and instructions where they need a fence.
 *
 * A small accumulate costs hardly more than its two or one locked instructions here: a stripe is
 * taken and given back, or one instruction does.
 */
#ifndef MRMA_RMA_PATH_FAST_ACC_H
#define MRMA_RMA_PATH_FAST_ACC_H

#include "base/cpu.h"
#include "rma/acc/acc_table.h"
#include "rma/path/fast.h"

/* The elements under their stripe, or stripes. */
static inline __attribute__((always_inline)) void fast_acc_locked(
    const struct rma_target *t, const struct acc_kernel *kernel, enum acc_op op, enum acc_type type,
    char *at, const void *from, void *old, size_t n, size_t len)
{
    const uint64_t vaddr = t->vaddr + (uint64_t)(at - t->base);
    if (unlikely(!stripe_one(vaddr, len))) {
        direct_acc_piece((struct acc_at){t->peer->stripes, vaddr, at}, (struct acc_what){op, type},
                         from, old, len);
        return;
    }
    struct fmutex *mx = &t->peer->stripes.at[stripe_index(vaddr)];
    fmutex_lock(mx, t->peer->stripes.self);
    if (n > 1 && old) {
        acc_fetch(op, type, at, from, old, n);
    } else if (n > 1) {
        kernel->many[cpu_wide()](at, from, n);
    } else {
        if (old)
            copy_whole(old, at, len);
        if (op != ACC_NO_OP)
            kernel->one(at, from);
    }
    fmutex_unlock(mx);
}

/* By instructions, if they can be used now. */
static inline __attribute__((always_inline)) bool fast_acc_atomic(
    struct win *w, const struct rma_target *t, enum acc_op op, enum acc_type type, char *at,
    const void *from, void *old, size_t len)
{
    const bool sum = op == ACC_SUM && type == ACC_F64 && len == sizeof(double) &&
                     (uintptr_t)at % sizeof(double) == 0;
    if (unlikely(w->acc_way != ACC_WAY_LIGHT || (!sum && !acc_atomic_fits(type, at, len)) ||
                 !acc_atomic_enter_light(w, t->ctl)))
        return false;
    if (sum)
        acc_atomic_sum_f64((acc_word *)(void *)at, from, old);
    else
        acc_atomic_elements(op, type, at, from, old, len);
    acc_atomic_leave(w);
    return true;
}

/* count of type, which is contiguous, are len bytes; from is not looked at for NO_OP; old NULL: not
 * wanted, and then op is not NO_OP. What is not allowed is not done. */
static inline __attribute__((always_inline)) bool fast_acc(struct win *w, enum acc_op op,
                                                           const struct dtype *type, size_t count,
                                                           const void *from, void *old, int target,
                                                           int64_t disp, size_t len)
{
    struct rma_target *t = win_peek(w, target);
    const enum acc_type basic = (enum acc_type)type->basic;
    const struct acc_kernel *kernel = &acc_kernels[op][basic];
    if (unlikely(!target_ready(w, t) || (uint64_t)disp > t->fast_units || !len ||
                 basic == ACC_NONE || (!kernel->one && op != ACC_NO_OP)))
        return false;
    const uint64_t offset = (uint64_t)disp * t->disp_unit;
    if (unlikely(len > t->fast_size - offset))
        return false;
    char *at = t->base + offset;
    const uint32_t mode =
        atomic_load_explicit(&t->ctl->acc_mode, memory_order_acquire); /* pairs with F */
    if (mode == ACC_MODE_LOCKED)
        fast_acc_locked(t, kernel, op, basic, at, from, old, count * type->elems, len);
    else if (!fast_acc_atomic(w, t, op, basic, at, from, old, len))
        return false;
    win_count(w, PATH_MAPPED, len);
    return true;
}

#endif
