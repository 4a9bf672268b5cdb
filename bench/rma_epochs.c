/*
 * rma_epochs.c - the ways to synchronize one operation, see rma_bench.h.
 *
 * In the passive kinds rank 1 does nothing and waits in the driver's collective
 * call: an attentive target. Fence epochs follow each other directly: one fence
 * an operation.
 */
#define _GNU_SOURCE 1
#include "rma_bench.h"

#define TARGET 1

const char *const sync_name[SYNC_KINDS + 1] = {"lock", "flush", "lock_all", "burst", "pscw", "fence", NULL};

static int epochs_begin(void *arg)
{
    struct epochs *e = arg;

    if (e->sync == SYNC_FENCE)
        return MPI_Win_fence(MPI_MODE_NOPRECEDE, e->win);
    if (e->rank != 0)
        return MPI_SUCCESS;
    if (e->sync == SYNC_FLUSH)
        return MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, e->win);
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
        return MPI_Win_unlock(TARGET, e->win);
    if (e->sync == SYNC_LOCK_ALL || e->sync == SYNC_BURST)
        return MPI_Win_unlock_all(e->win);
    return MPI_SUCCESS;
}

static int origin_lock(struct epochs *e, long n)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        rc = MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, e->win);
        if (!rc)
            rc = e->op(e->arg);
        if (!rc)
            rc = MPI_Win_unlock(TARGET, e->win);
    }
    return rc;
}

static int origin_flush(struct epochs *e, long n, int ops)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        for (int j = 0; j < ops && !rc; j++)
            rc = e->op(e->arg);
        if (!rc)
            rc = MPI_Win_flush(TARGET, e->win);
    }
    return rc;
}

static int both_pscw(struct epochs *e, long n)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        if (e->rank == 0) {
            rc = MPI_Win_start(e->peer, 0, e->win);
            if (!rc)
                rc = e->op(e->arg);
            if (!rc)
                rc = MPI_Win_complete(e->win);
        } else {
            rc = MPI_Win_post(e->peer, 0, e->win);
            if (!rc)
                rc = MPI_Win_wait(e->win);
        }
    }
    return rc;
}

static int both_fence(struct epochs *e, long n)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        if (e->rank == 0)
            rc = e->op(e->arg);
        if (!rc)
            rc = MPI_Win_fence(0, e->win);
    }
    return rc;
}

static int epochs_run(void *arg, long n)
{
    struct epochs *e = arg;

    if (e->sync == SYNC_PSCW)
        return both_pscw(e, n);
    if (e->sync == SYNC_FENCE)
        return both_fence(e, n);
    if (e->rank != 0)
        return MPI_SUCCESS;
    if (e->sync == SYNC_LOCK)
        return origin_lock(e, n);
    return origin_flush(e, n, e->sync == SYNC_BURST ? SYNC_BURST_OPS : 1);
}

void epochs_init(struct epochs *e, enum sync_kind sync, MPI_Win win, MPI_Comm pair, int (*op)(void *arg),
                 void *arg)
{
    MPI_Group both;
    int peer;

    *e = (struct epochs){.sync = sync, .win = win, .op = op, .arg = arg};
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
                         .run = epochs_run,
                         .end = epochs_end,
                         .arg = e,
                         .per_run = e->sync == SYNC_BURST ? SYNC_BURST_OPS : 1};
}

int epochs_once(struct epochs *e)
{
    int rc = epochs_begin(e);

    if (!rc)
        rc = epochs_run(e, 1);
    return rc ? rc : epochs_end(e);
}
