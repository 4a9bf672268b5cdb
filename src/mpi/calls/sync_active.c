/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_active.c - fence and general active target synchronization (MPI 4.1,
 * 12.5.1 and 12.5.2).
 *
 * Asserts are checked against what each call takes (12.5.5). Groups are translated to window ranks
 * by group.c. Errors: MPI_ERR_WIN (returned by the host), _ASSERT, _GROUP, _RMA_SYNC. No state, no
 * locks.
 *
 * Neighbours: window_call.h; group.c, which translates groups; rma.h; errhan.c.
 */
#include <mpi.h>

#include "mpi/calls/argcheck.h"
#include "mpi/calls/window_call.h"

enum {
    FENCE_ASSERTS = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED,
    POST_ASSERTS = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT
};

static inline int fence(struct win_rec *rec, int assert)
{
    const int asserts = args_asserts(assert, FENCE_ASSERTS);

    traced_event(rec, (struct trace_record){.kind = TRACE_FENCE, .arg = (uint32_t)asserts});
    return likely(asserts >= 0) ? rma_fence(rec->win, asserts)
                                : args_bad_assert(assert, FENCE_ASSERTS);
}

WINDOW_ENTRY(Win_fence, TRACED_WIN(Win_fence, win), (int assert, MPI_Win win), (assert, win),
             sync_result(rec, "MPI_Win_fence", RMA_CALL_FENCE, fence(rec, assert), NO_TARGET));

/* The group may be freed as soon as the call returns. */
static inline int start(struct win_rec *rec, MPI_Group group, int assert)
{
    const int asserts = args_asserts(assert, MPI_MODE_NOCHECK);
    struct group_ranks *ranks;
    int err;

    err = likely(asserts >= 0) ? group_get(&rec->access, rec->group, group, &ranks)
                               : args_bad_assert(assert, MPI_MODE_NOCHECK);
    if (likely(err == MRMA_SUCCESS)) {
        traced_group(rec, TRACE_START, ranks->ranks, ranks->n, asserts);
        err = rma_start(rec->win, ranks->ranks, ranks->n, asserts);
        group_put(&rec->access, ranks);
    }
    return err;
}

WINDOW_ENTRY(Win_start, TRACED_WIN(Win_start, win), (MPI_Group group, int assert, MPI_Win win),
             (group, assert, win),
             sync_result(rec, "MPI_Win_start", RMA_CALL_START, start(rec, group, assert),
                         NO_TARGET));

WINDOW_ENTRY(Win_complete, TRACED_WIN(Win_complete, win), (MPI_Win win), (win),
             sync_result(rec, "MPI_Win_complete", RMA_CALL_COMPLETE, rma_complete(rec->win),
                         NO_TARGET));

static inline int post(struct win_rec *rec, MPI_Group group, int assert)
{
    const int asserts = args_asserts(assert, POST_ASSERTS);
    struct group_ranks *ranks;
    int err;

    err = likely(asserts >= 0) ? group_get(&rec->exposure, rec->group, group, &ranks)
                               : args_bad_assert(assert, POST_ASSERTS);
    if (likely(err == MRMA_SUCCESS)) {
        traced_group(rec, TRACE_POST, ranks->ranks, ranks->n, asserts);
        err = rma_post(rec->win, ranks->ranks, ranks->n, asserts);
        group_put(&rec->exposure, ranks);
    }
    return err;
}

WINDOW_ENTRY(Win_post, TRACED_WIN(Win_post, win), (MPI_Group group, int assert, MPI_Win win),
             (group, assert, win),
             sync_result(rec, "MPI_Win_post", RMA_CALL_POST, post(rec, group, assert), NO_TARGET));

WINDOW_ENTRY(Win_wait, TRACED_WIN(Win_wait, win), (MPI_Win win), (win),
             sync_result(rec, "MPI_Win_wait", RMA_CALL_WAIT, rma_wait(rec->win), NO_TARGET));

/* *flag is set only on success. */
static inline int test(struct win_rec *rec, int *flag)
{
    bool done = false;
    int err = args_place(flag, "flag");

    if (likely(err == MRMA_SUCCESS))
        err = rma_test(rec->win, &done);
    if (unlikely(err != MRMA_SUCCESS))
        return err;
    traced_event(rec, (struct trace_record){.kind = TRACE_TEST, .arg = done});
    *flag = done;
    return MRMA_SUCCESS;
}

WINDOW_ENTRY(Win_test, TRACED_WIN(Win_test, win), (MPI_Win win, int *flag), (win, flag),
             sync_result(rec, "MPI_Win_test", RMA_CALL_WAIT, test(rec, flag), NO_TARGET));
