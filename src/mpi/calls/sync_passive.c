/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_passive.c - locks, flushes and MPI_Win_sync (MPI 4.1, 12.5.3 and 12.5.4).
 *
 * MPI_PROC_NULL is a valid target of operations (12.3); the standard does not say so for these
 * calls. Both hosts accept it, so programs that compute their neighbours lock it, too: that is a
 * lock on no process, and nothing is done. Errors: MPI_ERR_WIN (returned by the host), _LOCKTYPE,
 * _RANK, _ASSERT, _RMA_SYNC. No state, no locks of its own.
 *
 * Neighbours: window_call.h; rma.h; rma/layer/fast.h, the short cuts; errhan.c.
 */
#include <mpi.h>

#include "base/fault.h"
#include "mpi/calls/argcheck.h"
#include "mpi/calls/window_call.h"
#include "rma/layer/fast.h"

/* not_a_rank returns the result for a rank that the window does not have. */
static int not_a_rank(const struct win_rec *rec, int rank)
{
    return rank == MPI_PROC_NULL ? MRMA_SUCCESS : args_bad_rank(rec, rank);
}

static uint16_t traced_lock(bool exclusive, int assert)
{
    return (uint16_t)((exclusive ? TRACE_LOCK_EXCLUSIVE : TRACE_LOCK_SHARED) |
                      (assert ? TRACE_LOCK_NOCHECK : 0));
}

static inline int lock(struct win_rec *rec, int lock_type, int rank, int assert)
{
    const bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
    const int asserts = args_asserts(assert, MPI_MODE_NOCHECK);

    traced_event(rec, (struct trace_record){.kind = TRACE_LOCK,
                                            .peer = rank,
                                            .what = traced_lock(exclusive, assert)});
    if (unlikely(!exclusive && lock_type != MPI_LOCK_SHARED))
        return FAULT(engine_messages(), LOCKTYPE, lock_type, MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE);
    if (unlikely(asserts < 0))
        return args_bad_assert(assert, MPI_MODE_NOCHECK);
    return likely(args_rank_ok(rec, rank)) ? rma_lock(rec->win, exclusive, rank, asserts)
                                           : not_a_rank(rec, rank);
}

WINDOW_GENERAL(Win_lock, TRACED_TARGET(Win_lock, win, rank),
               (int lock_type, int rank, int assert, MPI_Win win), (lock_type, rank, assert, win),
               sync_result(rec, "MPI_Win_lock", RMA_CALL_LOCK, lock(rec, lock_type, rank, assert),
                           rank));

/* Lock and unlock have a short cut, for the window used last and a lock that is free. */
MRMA_PUBLIC int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && assert == 0 && args_rank_ok(rec, rank)) &&
        ((lock_type == MPI_LOCK_SHARED && fast_lock(rec->win, false, rank)) ||
         (lock_type == MPI_LOCK_EXCLUSIVE && fast_lock(rec->win, true, rank))))
        return MPI_SUCCESS;
    return Win_lock_general(lock_type, rank, assert, win);
}
MRMA_EXPORT_MPI(Win_lock);

static inline int unlock(struct win_rec *rec, int rank)
{
    const int err = args_rank_ok(rec, rank) ? rma_unlock(rec->win, rank) : not_a_rank(rec, rank);

    traced_event(rec, (struct trace_record){.kind = TRACE_UNLOCK, .peer = rank});
    return err;
}

WINDOW_GENERAL(Win_unlock, TRACED_TARGET(Win_unlock, win, rank), (int rank, MPI_Win win),
               (rank, win),
               sync_result(rec, "MPI_Win_unlock", RMA_CALL_UNLOCK, unlock(rec, rank), rank));

MRMA_PUBLIC int PMPI_Win_unlock(int rank, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && args_rank_ok(rec, rank) && fast_unlock(rec->win, rank)))
        return MPI_SUCCESS;
    return Win_unlock_general(rank, win);
}
MRMA_EXPORT_MPI(Win_unlock);

static inline int lock_all(struct win_rec *rec, int assert)
{
    const int asserts = args_asserts(assert, MPI_MODE_NOCHECK);

    traced_event(rec,
                 (struct trace_record){.kind = TRACE_LOCK,
                                       .peer = -1,
                                       .what = TRACE_LOCK_ALL | (assert ? TRACE_LOCK_NOCHECK : 0)});
    return likely(asserts >= 0) ? rma_lock_all(rec->win, asserts)
                                : args_bad_assert(assert, MPI_MODE_NOCHECK);
}

WINDOW_ENTRY(Win_lock_all, TRACED_TARGET(Win_lock_all, win, -1), (int assert, MPI_Win win),
             (assert, win),
             sync_result(rec, "MPI_Win_lock_all", RMA_CALL_LOCK_ALL, lock_all(rec, assert),
                         NO_TARGET));

static inline int unlock_all(struct win_rec *rec)
{
    const int err = rma_unlock_all(rec->win);

    traced_event(rec, (struct trace_record){.kind = TRACE_UNLOCK, .peer = -1});
    return err;
}

WINDOW_ENTRY(Win_unlock_all, TRACED_TARGET(Win_unlock_all, win, -1), (MPI_Win win), (win),
             sync_result(rec, "MPI_Win_unlock_all", RMA_CALL_UNLOCK_ALL, unlock_all(rec),
                         NO_TARGET));

static inline int flush(struct win_rec *rec, int rank, bool local)
{
    return args_rank_ok(rec, rank) ? rma_flush(rec->win, rank, local) : not_a_rank(rec, rank);
}

WINDOW_GENERAL(Win_flush, TRACED_TARGET(Win_flush, win, rank), (int rank, MPI_Win win), (rank, win),
               sync_result(rec, "MPI_Win_flush", RMA_CALL_FLUSH, flush(rec, rank, false), rank));

/* With a short cut for the window used last. */
MRMA_PUBLIC int PMPI_Win_flush(int rank, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && args_rank_ok(rec, rank) && fast_flush(rec->win, rank)))
        return MPI_SUCCESS;
    return Win_flush_general(rank, win);
}
MRMA_EXPORT_MPI(Win_flush);

WINDOW_ENTRY(Win_flush_all, TRACED_TARGET(Win_flush_all, win, -1), (MPI_Win win), (win),
             sync_result(rec, "MPI_Win_flush_all", RMA_CALL_FLUSH_ALL,
                         rma_flush_all(rec->win, false), NO_TARGET));

WINDOW_GENERAL(Win_flush_local, TRACED_TARGET(Win_flush_local, win, rank), (int rank, MPI_Win win),
               (rank, win),
               sync_result(rec, "MPI_Win_flush_local", RMA_CALL_FLUSH, flush(rec, rank, true),
                           rank));

/* With the short cut of MPI_Win_flush. */
MRMA_PUBLIC int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && args_rank_ok(rec, rank) && fast_flush(rec->win, rank)))
        return MPI_SUCCESS;
    return Win_flush_local_general(rank, win);
}
MRMA_EXPORT_MPI(Win_flush_local);

WINDOW_ENTRY(Win_flush_local_all, TRACED_TARGET(Win_flush_local_all, win, -1), (MPI_Win win), (win),
             sync_result(rec, "MPI_Win_flush_local_all", RMA_CALL_FLUSH_ALL,
                         rma_flush_all(rec->win, true), NO_TARGET));

WINDOW_ENTRY(Win_sync, TRACED_WIN(Win_sync, win), (MPI_Win win), (win),
             sync_result(rec, "MPI_Win_sync", RMA_CALL_SYNC, rma_sync(rec->win), NO_TARGET));
