/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_active.c - fence and general active target synchronization (MPI 4.1,
 * 12.5.1 and 12.5.2).
 *
 * Asserts are checked against what each call takes (12.5.5). Groups are
 * translated to window ranks by group.c. Errors: MPI_ERR_WIN (said by the host),
 * _ASSERT, _GROUP, _RMA_SYNC. No state, no locks.
 *
 * Neighbours: group.c, which translates groups; rma.h; errhan.c.
 */
#include <mpi.h>

#include "mpi/calls/argcheck.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/traced/traced.h"

enum {
    FENCE_ASSERTS = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED,
    POST_ASSERTS = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT
};

MRMA_PUBLIC int PMPI_Win_fence(int assert, MPI_Win win)
{
    TRACED_WIN(Win_fence, win);
    struct win_rec *rec = win_lookup(win);
    int err, asserts;

    if (unlikely(rec == NULL))
        return mpi_host.Win_fence(assert, win);
    asserts = args_asserts(assert, FENCE_ASSERTS);
    traced_event(rec, (struct trace_record){.kind = TRACE_FENCE, .arg = (uint32_t)asserts});
    err = likely(asserts >= 0) ? rma_fence(rec->win, asserts)
                               : args_bad_assert(assert, FENCE_ASSERTS);
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_fence", RMA_CALL_FENCE, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_fence);

/* The group may be freed as soon as the call returns. */
MRMA_PUBLIC int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    TRACED_WIN(Win_start, win);
    struct win_rec *rec = win_lookup(win);
    struct group_ranks *ranks;
    int err, asserts;

    if (unlikely(rec == NULL))
        return mpi_host.Win_start(group, assert, win);
    asserts = args_asserts(assert, MPI_MODE_NOCHECK);
    err = likely(asserts >= 0) ? group_get(&rec->access, rec->group, group, &ranks)
                               : args_bad_assert(assert, MPI_MODE_NOCHECK);
    if (likely(err == MRMA_SUCCESS)) {
        traced_group(rec, TRACE_START, ranks->ranks, ranks->n, asserts);
        err = rma_start(rec->win, ranks->ranks, ranks->n, asserts);
        group_put(&rec->access, ranks);
    }
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_start", RMA_CALL_START, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_start);

MRMA_PUBLIC int PMPI_Win_complete(MPI_Win win)
{
    TRACED_WIN(Win_complete, win);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_complete(win);
    err = rma_complete(rec->win);
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_complete", RMA_CALL_COMPLETE, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_complete);

MRMA_PUBLIC int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    TRACED_WIN(Win_post, win);
    struct win_rec *rec = win_lookup(win);
    struct group_ranks *ranks;
    int err, asserts;

    if (unlikely(rec == NULL))
        return mpi_host.Win_post(group, assert, win);
    asserts = args_asserts(assert, POST_ASSERTS);
    err = likely(asserts >= 0) ? group_get(&rec->exposure, rec->group, group, &ranks)
                               : args_bad_assert(assert, POST_ASSERTS);
    if (likely(err == MRMA_SUCCESS)) {
        traced_group(rec, TRACE_POST, ranks->ranks, ranks->n, asserts);
        err = rma_post(rec->win, ranks->ranks, ranks->n, asserts);
        group_put(&rec->exposure, ranks);
    }
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_post", RMA_CALL_POST, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_post);

MRMA_PUBLIC int PMPI_Win_wait(MPI_Win win)
{
    TRACED_WIN(Win_wait, win);
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_wait(win);
    err = rma_wait(rec->win);
    return likely(err == MRMA_SUCCESS)
               ? MPI_SUCCESS
               : sync_fail(rec, "MPI_Win_wait", RMA_CALL_WAIT, err, NO_TARGET);
}
MRMA_EXPORT_MPI(Win_wait);

/* *flag is set only on success. */
MRMA_PUBLIC int PMPI_Win_test(MPI_Win win, int *flag)
{
    TRACED_WIN(Win_test, win);
    struct win_rec *rec = win_lookup(win);
    bool done = false;
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_test(win, flag);
    err = args_place(flag, "flag");
    if (likely(err == MRMA_SUCCESS))
        err = rma_test(rec->win, &done);
    if (unlikely(err != MRMA_SUCCESS))
        return sync_fail(rec, "MPI_Win_test", RMA_CALL_WAIT, err, NO_TARGET);
    traced_event(rec, (struct trace_record){.kind = TRACE_TEST, .arg = done});
    *flag = done;
    return MPI_SUCCESS;
}
MRMA_EXPORT_MPI(Win_test);
