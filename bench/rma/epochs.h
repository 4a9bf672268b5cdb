/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epochs.h - epochs of one operation between rank 0 (origin) and rank 1 (target)
 * of a pair, in every way to synchronize it.
 *
 * The loops are inlined where the operation is named, so that it is called directly: on
 * some processors a call through a pointer costs more than what is to be measured.
 */
#ifndef BENCH_RMA_EPOCHS_H
#define BENCH_RMA_EPOCHS_H

#include <mpi.h>

#include "bench/rma/bench.h"

#define EPOCHS_TARGET 1
#define EPOCHS_INLINE inline __attribute__((always_inline))
#define SYNC_BURST_OPS 16

enum sync_kind {
    SYNC_LOCK,     /* lock, operation, unlock */
    SYNC_FLUSH,    /* operation, flush in a lock epoch */
    SYNC_LOCK_ALL, /* operation, flush in a lock_all epoch */
    SYNC_BURST,    /* 16 operations, flush in a lock_all epoch */
    SYNC_PSCW,     /* start, operation, complete / post, wait */
    SYNC_FENCE,    /* operation, fence */
    SYNC_KINDS
};
extern const char *const sync_name[SYNC_KINDS + 1];

struct epochs {
    enum sync_kind sync;
    MPI_Win win;
    int rank; /* in the pair */
    MPI_Group peer;
    int (*run)(void *epochs, long n);
    void *arg;
};

/* One operation from rank 0 to rank 1; arg is that of the epochs. An MPI error code. */
typedef int (*epochs_op)(void *arg);

/* run: a function that is epochs_loop with its operation. The peer group is made from
 * the pair; free with epochs_free. */
void epochs_init(struct epochs *e, enum sync_kind sync, MPI_Win win, MPI_Comm pair,
                 int (*run)(void *epochs, long n), void *arg);
void epochs_free(struct epochs *e);
/* The work whose parts these epochs are. */
struct work epochs_work(struct epochs *e);
/* One epoch with one operation, for checks; an MPI error code. */
int epochs_once(struct epochs *e);

static EPOCHS_INLINE int epochs_lock(const struct epochs *e, long n, epochs_op op)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        rc = MPI_Win_lock(MPI_LOCK_SHARED, EPOCHS_TARGET, 0, e->win);
        if (!rc)
            rc = op(e->arg);
        if (!rc)
            rc = MPI_Win_unlock(EPOCHS_TARGET, e->win);
    }
    return rc;
}

static EPOCHS_INLINE int epochs_flush(const struct epochs *e, long n, epochs_op op, int ops)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        for (int j = 0; j < ops && !rc; j++)
            rc = op(e->arg);
        if (!rc)
            rc = MPI_Win_flush(EPOCHS_TARGET, e->win);
    }
    return rc;
}

static EPOCHS_INLINE int epochs_pscw(const struct epochs *e, long n, epochs_op op)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        if (e->rank == 0) {
            rc = MPI_Win_start(e->peer, 0, e->win);
            if (!rc)
                rc = op(e->arg);
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

static EPOCHS_INLINE int epochs_fence(const struct epochs *e, long n, epochs_op op)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        if (e->rank == 0)
            rc = op(e->arg);
        if (!rc)
            rc = MPI_Win_fence(0, e->win);
    }
    return rc;
}

/* n epochs with the operation op; ranks other than the origin do their part. */
static EPOCHS_INLINE int epochs_loop(const struct epochs *e, long n, epochs_op op)
{
    if (e->sync == SYNC_PSCW)
        return epochs_pscw(e, n, op);
    if (e->sync == SYNC_FENCE)
        return epochs_fence(e, n, op);
    if (e->rank != 0)
        return MPI_SUCCESS;
    if (e->sync == SYNC_LOCK)
        return epochs_lock(e, n, op);
    return epochs_flush(e, n, op, e->sync == SYNC_BURST ? SYNC_BURST_OPS : 1);
}

#endif
