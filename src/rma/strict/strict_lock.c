/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict_lock.c - MPI_MODE_NOCHECK of locks, as MPIRMA_STRICT=1 checks it (strict.h).
 *
 * Holders are counted in the control block, also those that gave MPI_MODE_NOCHECK, by operations
 * that are all in one single order.
 */
#include "base/err.h"
#include "base/fault.h"
#include "rma/strict/strict_impl.h"

#define EXCLUSIVE (UINT64_C(1) << 32)

static bool lock_conflicts(const struct win *w, uint64_t others, bool exclusive)
{
    return others >= EXCLUSIVE ||
           (exclusive &&
            (others || atomic_load_explicit(&w->lead->strict_all, memory_order_seq_cst)));
}

static int nocheck_broken(const struct win *w, int rank)
{
    return FAULT(w->rma->log, NOCHECK_TAKEN, rank);
}

int strict_lock(struct win *w, struct rma_target *t, bool exclusive)
{
    if (likely(!w->strict) || !t->ctl)
        return MRMA_SUCCESS;
    const int rank = t->rank;
    const bool nocheck = t->lock == WIN_LOCK_NOCHECK;
    struct strict_target *st = &w->strict->target[rank];
    const uint64_t mine = exclusive ? EXCLUSIVE : 1;
    const uint64_t others =
        atomic_fetch_add_explicit(&t->ctl->strict_locks, mine, memory_order_seq_cst);
    if (nocheck && lock_conflicts(w, others, exclusive)) {
        atomic_fetch_sub_explicit(&t->ctl->strict_locks, mine, memory_order_seq_cst);
        return nocheck_broken(w, rank);
    }
    st->held = mine;
    st->exclusive = exclusive;
    st->nocheck = nocheck;
    return MRMA_SUCCESS;
}

int strict_check_unlock(struct win *w, struct rma_target *t)
{
    const int rank = t->rank;
    struct strict_target *st = &w->strict->target[rank];
    if (!st->held)
        return MRMA_SUCCESS;
    const uint64_t others =
        atomic_fetch_sub_explicit(&t->ctl->strict_locks, st->held, memory_order_seq_cst) - st->held;
    st->held = 0;
    return st->nocheck && lock_conflicts(w, others, st->exclusive) ? nocheck_broken(w, rank)
                                                                   : MRMA_SUCCESS;
}

/* exclusive_target returns the rank of a memory peer whose lock somebody holds exclusively, or
 * -1. */
static int exclusive_target(const struct win *w)
{
    for (int i = 0; i < w->nmemory; i++)
        if (atomic_load_explicit(&win_peek(w, w->memory_ranks[i])->ctl->strict_locks,
                                 memory_order_seq_cst) >= EXCLUSIVE)
            return w->memory_ranks[i];
    return -1;
}

int strict_lock_all(struct win *w)
{
    if (likely(!w->strict))
        return MRMA_SUCCESS;
    atomic_fetch_add_explicit(&w->lead->strict_all, 1, memory_order_seq_cst);
    const int rank = w->all_nocheck ? exclusive_target(w) : -1;
    if (rank < 0)
        return MRMA_SUCCESS;
    atomic_fetch_sub_explicit(&w->lead->strict_all, 1, memory_order_seq_cst);
    return nocheck_broken(w, rank);
}

int strict_unlock_all(struct win *w)
{
    if (likely(!w->strict))
        return MRMA_SUCCESS;
    strict_completed(w, NULL, false);
    const int rank = w->all_nocheck ? exclusive_target(w) : -1;
    atomic_fetch_sub_explicit(&w->lead->strict_all, 1, memory_order_seq_cst);
    return rank < 0 ? MRMA_SUCCESS : nocheck_broken(w, rank);
}
