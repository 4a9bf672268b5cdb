/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epochs.c - the ways to synchronize one operation, see epochs.h.
 *
 * In the passive kinds rank 1 does nothing and waits in the driver's collective
 * call: a target that polls. Fence epochs follow each other directly: one fence
 * an operation.
 */
#define _GNU_SOURCE 1
#include "bench/rma/epochs.h"

const char *const sync_name[SYNC_KINDS + 1] = {"lock", "flush", "lock_all", "burst",
                                               "pscw", "fence", NULL};

static int epochs_begin(void *arg)
{
    struct epochs *e = arg;

    if (e->sync == SYNC_FENCE)
        return MPI_Win_fence(MPI_MODE_NOPRECEDE, e->win);
    if (e->rank != 0)
        return MPI_SUCCESS;
    if (e->sync == SYNC_FLUSH)
        return MPI_Win_lock(MPI_LOCK_SHARED, EPOCHS_TARGET, 0, e->win);
    if (e->sync == SYNC_LOCK_ALL || e->sync == SYNC_BURST)
        return MPI_Win_lock_all(0, e->win);
    return MPI_SUCCESS;
}

static int epochs_end(void *arg)
{
    struct epochs *e = arg;

    if (e->sync == SYNC_FENCE)
        return MPI_Win_fence(MPI_MODE_NOSUCCEED, e->win);
    if (e->rank != 0)
        return MPI_SUCCESS;
    if (e->sync == SYNC_FLUSH)
        return MPI_Win_unlock(EPOCHS_TARGET, e->win);
    if (e->sync == SYNC_LOCK_ALL || e->sync == SYNC_BURST)
        return MPI_Win_unlock_all(e->win);
    return MPI_SUCCESS;
}

void epochs_init(struct epochs *e, enum sync_kind sync, MPI_Win win, MPI_Comm pair,
                 int (*run)(void *epochs, long n), void *arg)
{
    MPI_Group both;
    int peer;

    *e = (struct epochs){.sync = sync, .win = win, .run = run, .arg = arg};
    MPI_Comm_rank(pair, &e->rank);
    peer = 1 - e->rank;
    MPI_Comm_group(pair, &both);
    MPI_Group_incl(both, 1, &peer, &e->peer);
    MPI_Group_free(&both);
}

void epochs_free(struct epochs *e)
{
    MPI_Group_free(&e->peer);
}

struct work epochs_work(struct epochs *e)
{
    return (struct work){.begin = epochs_begin,
                         .run = e->run,
                         .end = epochs_end,
                         .arg = e,
                         .per_run = e->sync == SYNC_BURST ? SYNC_BURST_OPS : 1};
}

int epochs_once(struct epochs *e)
{
    int rc = epochs_begin(e);

    if (!rc)
        rc = e->run(e, 1);
    return rc ? rc : epochs_end(e);
}
