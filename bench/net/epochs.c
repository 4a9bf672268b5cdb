/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epochs.c - epochs of rank 0, and their time; see bench.h.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/common/clock.h"
#include "bench/common/stats.h"
#include "bench/common/watchdog.h"
#include "bench/net/bench.h"

enum { REPS = 5 };

void lock_puts(struct net *b, const struct epoch_arg *a)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, b->win);
    for (int i = 0; i < a->n; i++)
        MPI_Put(b->buf, (int)a->size, MPI_BYTE, 1, 64 * (MPI_Aint)i, (int)a->size, MPI_BYTE,
                b->win);
    MPI_Win_unlock(1, b->win);
}

void lock_turns(struct net *b, const struct epoch_arg *a)
{
    for (int t = 1; t <= a->d; t++) {
        MPI_Win_lock(MPI_LOCK_SHARED, t, 0, a->win);
        MPI_Put(b->buf, (int)a->size, MPI_BYTE, t, 0, (int)a->size, MPI_BYTE, a->win);
        MPI_Win_unlock(t, a->win);
    }
}

void flush_puts(struct net *b, const struct epoch_arg *a)
{
    for (int i = 0; i < a->n; i++)
        for (int t = 1; t <= a->d; t++)
            MPI_Put(b->buf, (int)a->size, MPI_BYTE, t, 0, (int)a->size, MPI_BYTE, b->win);
    MPI_Win_flush_all(b->win);
}

void flush_gets(struct net *b, const struct epoch_arg *a)
{
    for (int i = 0; i < a->n; i++)
        MPI_Get(b->buf, (int)a->size, MPI_BYTE, 1, 0, (int)a->size, MPI_BYTE, b->win);
    MPI_Win_flush(1, b->win);
}

void flush_fetch(struct net *b, const struct epoch_arg *a)
{
    int64_t one = 1, old;
    (void)a;
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, b->win);
    MPI_Win_flush(1, b->win);
}

double net_polling(struct net *b, epoch_fn fn, const struct epoch_arg *a, int epochs, bool lock_all)
{
    double *v = calloc((size_t)(REPS * epochs), sizeof *v);
    if (!v)
        MPI_Abort(MPI_COMM_WORLD, 1);
    watchdog_arm(120, "net, polling targets");
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank != 0) {
        net_attend(b, ATTEND_WAIT);
        free(v);
        return NAN;
    }
    if (lock_all)
        MPI_Win_lock_all(0, b->win);
    fn(b, a);
    for (int i = 0; i < REPS * epochs; i++) {
        const double start = clock_ns();
        fn(b, a);
        v[i] = clock_ns() - start;
    }
    if (lock_all)
        MPI_Win_unlock_all(b->win);
    net_release(b, ATTEND_WAIT);
    watchdog_arm(0, "idle");
    const double median = stats_median(v, (size_t)(REPS * epochs));
    free(v);
    return median;
}
