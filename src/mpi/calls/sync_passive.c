/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_passive.c - locks, flushes and MPI_Win_sync (MPI 4.1, 12.5.3 and 12.5.4).
 *
 * MPI_PROC_NULL is a valid target of operations (12.3); of these calls the standard does
 * not say it. Both hosts take it, so programs that compute their neighbours lock it
 * too: it is a lock on nobody, and nothing is done. Errors: MPI_ERR_WIN (said by the
 * host), _LOCKTYPE, _RANK, _ASSERT, _RMA_SYNC. No state, no locks of its own.
 *
 * Neighbours: rma.h; rma/layer/fast.h, the short cuts; errhan.c.
 */
#include <mpi.h>

#include "base/fault.h"
#include "mpi/calls/argcheck.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/traced/traced.h"
#include "rma/layer/fast.h"

/* What a rank that is none of the window's gives. */
static int not_a_rank(const struct win_rec *rec, int rank)
{
    return rank == MPI_PROC_NULL ? MRMA_SUCCESS : args_bad_rank(rec, "rank", rank);
}

static uint16_t traced_lock(bool exclusive, int assert)
{
    return (uint16_t)((exclusive ? TRACE_LOCK_EXCLUSIVE : TRACE_LOCK_SHARED) |
                      (assert ? TRACE_LOCK_NOCHECK : 0));
}

static __attribute__((noinline)) int lock_general(int lock_type, int rank, int assert, MPI_Win win)
{
    TRACED_TARGET(Win_lock, win, rank);
    struct win_rec *rec = win_lookup(win);
    bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
    int err, asserts;

    if (unlikely(rec == NULL))
        return mpi_host.Win_lock(lock_type, rank, assert, win);
    asserts = args_asserts(assert, MPI_MODE_NOCHECK);
    traced_event(rec, (struct trace_record){.kind = TRACE_LOCK,
                                            .peer = rank,
                                            .what = traced_lock(exclusive, assert)});
    if (unlikely(!exclusive && lock_type != MPI_LOCK_SHARED))
        err = FAULT(engine_messages(), LOCKTYPE, lock_type, MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE);
    else if (unlikely(asserts < 0))
        err = args_bad_assert(assert, MPI_MODE_NOCHECK);
    else
        err = likely(args_rank_ok(rec, rank)) ? rma_lock(rec->win, exclusive, rank, asserts)
                                              : not_a_rank(rec, rank);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS
                                       : sync_fail(rec, "MPI_Win_lock", RMA_CALL_LOCK, err, rank);
}

/* Lock and unlock have a short cut, for the window used last and a lock that is free. */
MRMA_PUBLIC int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && assert == 0 && args_rank_ok(rec, rank)) &&
        ((lock_type == MPI_LOCK_SHARED && fast_lock(rec->win, false, rank)) ||
         (lock_type == MPI_LOCK_EXCLUSIVE && fast_lock(rec->win, true, rank))))
        return MPI_SUCCESS;
    return lock_general(lock_type, rank, assert, win);
}
MRMA_EXPORT_MPI(Win_lock);

static __attribute__((noinline)) int unlock_general(int rank, MPI_Win win)
{
    TRACED_TARGET(Win_unlock, win, rank);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_unlock(rank, win);
    err = args_rank_ok(rec, rank) ? rma_unlock(rec->win, rank) : not_a_rank(rec, rank);
    traced_event(rec, (struct trace_record){.kind = TRACE_UNLOCK, .peer = rank});
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_unlock", RMA_CALL_UNLOCK, err, rank);
}

MRMA_PUBLIC int PMPI_Win_unlock(int rank, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && args_rank_ok(rec, rank) && fast_unlock(rec->win, rank)))
        return MPI_SUCCESS;
    return unlock_general(rank, win);
}
MRMA_EXPORT_MPI(Win_unlock);

MRMA_PUBLIC int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    TRACED_TARGET(Win_lock_all, win, -1);
    struct win_rec *rec = win_lookup(win);
    int err, asserts;

    if (unlikely(rec == NULL))
        return mpi_host.Win_lock_all(assert, win);
    asserts = args_asserts(assert, MPI_MODE_NOCHECK);
    traced_event(rec,
                 (struct trace_record){.kind = TRACE_LOCK,
                                       .peer = -1,
                                       .what = TRACE_LOCK_ALL | (assert ? TRACE_LOCK_NOCHECK : 0)});
    err = likely(asserts >= 0) ? rma_lock_all(rec->win, asserts)
                               : args_bad_assert(assert, MPI_MODE_NOCHECK);
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_lock_all", RMA_CALL_LOCK_ALL, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_lock_all);

MRMA_PUBLIC int PMPI_Win_unlock_all(MPI_Win win)
{
    TRACED_TARGET(Win_unlock_all, win, -1);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_unlock_all(win);
    err = rma_unlock_all(rec->win);
    traced_event(rec, (struct trace_record){.kind = TRACE_UNLOCK, .peer = -1});
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_unlock_all", RMA_CALL_UNLOCK_ALL, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_unlock_all);

static __attribute__((noinline)) int flush_general(int rank, MPI_Win win)
{
    TRACED_TARGET(Win_flush, win, rank);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_flush(rank, win);
    err = args_rank_ok(rec, rank) ? rma_flush(rec->win, rank, false) : not_a_rank(rec, rank);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS
                                       : sync_fail(rec, "MPI_Win_flush", RMA_CALL_FLUSH, err, rank);
}

/* With a short cut for the window used last. */
MRMA_PUBLIC int PMPI_Win_flush(int rank, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && args_rank_ok(rec, rank) && fast_flush(rec->win, rank)))
        return MPI_SUCCESS;
    return flush_general(rank, win);
}
MRMA_EXPORT_MPI(Win_flush);

MRMA_PUBLIC int PMPI_Win_flush_all(MPI_Win win)
{
    TRACED_TARGET(Win_flush_all, win, -1);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_flush_all(win);
    err = rma_flush_all(rec->win, false);
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_flush_all", RMA_CALL_FLUSH_ALL, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_flush_all);

static __attribute__((noinline)) int flush_local_general(int rank, MPI_Win win)
{
    TRACED_TARGET(Win_flush_local, win, rank);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_flush_local(rank, win);
    err = args_rank_ok(rec, rank) ? rma_flush(rec->win, rank, true) : not_a_rank(rec, rank);
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_flush_local", RMA_CALL_FLUSH, err, rank);
}

/* With the short cut of MPI_Win_flush. */
MRMA_PUBLIC int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && args_rank_ok(rec, rank) && fast_flush(rec->win, rank)))
        return MPI_SUCCESS;
    return flush_local_general(rank, win);
}
MRMA_EXPORT_MPI(Win_flush_local);

MRMA_PUBLIC int PMPI_Win_flush_local_all(MPI_Win win)
{
    TRACED_TARGET(Win_flush_local_all, win, -1);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_flush_local_all(win);
    err = rma_flush_all(rec->win, true);
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_flush_local_all", RMA_CALL_FLUSH_ALL, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_flush_local_all);

MRMA_PUBLIC int PMPI_Win_sync(MPI_Win win)
{
    TRACED_WIN(Win_sync, win);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_sync(win);
    err = rma_sync(rec->win);
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_sync", RMA_CALL_SYNC, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_sync);
