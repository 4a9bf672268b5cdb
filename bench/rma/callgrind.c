/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callgrind.c - exactly n calls for an instruction counter; suites.h.
 *
 * Rank 0 calls callgrind_puts, callgrind_rputs, callgrind_notified, callgrind_flushes,
 * callgrind_locks, or callgrind_acc_one and callgrind_acc_eight, and callgrind collects only inside
 * one of them (--toggle-collect), so the difference of two runs divided by the difference of n is
 * what one call costs. The first calls, which may set things up, are made before. See
 * count-instructions.sh.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi-rma.h>

#include "bench/rma/suites.h"

#define WARM 16
#define TARGET 1

/* Looked up, since the program runs on the host alone, too. */
static __typeof__(MPIRMA_Put_notify) *put_notify;

__attribute__((noinline)) void callgrind_puts(const struct winmem *w, const int64_t *value, long n);
__attribute__((noinline)) void callgrind_rputs(const struct winmem *w, const int64_t *value, long n,
                                               MPI_Request *requests, MPI_Status *statuses);
__attribute__((noinline)) void callgrind_notified(const struct winmem *w, const int64_t *value,
                                                  long n);
__attribute__((noinline)) void callgrind_flushes(const struct winmem *w, long n);
__attribute__((noinline)) void callgrind_locks(const struct winmem *w, const int64_t *value,
                                               long n);
__attribute__((noinline)) void callgrind_acc_one(const struct winmem *w, const double *ones,
                                                 long n);
__attribute__((noinline)) void callgrind_acc_eight(const struct winmem *w, const double *ones,
                                                   long n);

void callgrind_puts(const struct winmem *w, const int64_t *value, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Put(value, 8, MPI_BYTE, TARGET, w->disp[TARGET], 8, MPI_BYTE, w->win);
}

void callgrind_rputs(const struct winmem *w, const int64_t *value, long n, MPI_Request *requests,
                     MPI_Status *statuses)
{
    for (long i = 0; i < n; i++)
        MPI_Rput(value, 8, MPI_BYTE, TARGET, w->disp[TARGET], 8, MPI_BYTE, w->win, &requests[i]);
    MPI_Waitall((int)n, requests, statuses);
}

void callgrind_notified(const struct winmem *w, const int64_t *value, long n)
{
    for (long i = 0; i < n; i++)
        put_notify(value, 8, MPI_BYTE, TARGET, w->disp[TARGET], 8, MPI_BYTE, w->win, 0);
}

void callgrind_flushes(const struct winmem *w, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Win_flush(TARGET, w->win);
}

void callgrind_locks(const struct winmem *w, const int64_t *value, long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, w->win);
        MPI_Put(value, 8, MPI_BYTE, TARGET, w->disp[TARGET], 8, MPI_BYTE, w->win);
        MPI_Win_unlock(TARGET, w->win);
    }
}

void callgrind_acc_one(const struct winmem *w, const double *ones, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Accumulate(ones, 1, MPI_DOUBLE, TARGET, w->disp[TARGET], 1, MPI_DOUBLE, MPI_SUM,
                       w->win);
}

void callgrind_acc_eight(const struct winmem *w, const double *ones, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Accumulate(ones, 8, MPI_DOUBLE, TARGET, w->disp[TARGET], 8, MPI_DOUBLE, MPI_SUM,
                       w->win);
}

enum what { PUTS, RPUTS, FLUSHES, LOCKS };

static void rputs(const struct winmem *w, const int64_t *value, long n)
{
    MPI_Request *requests = malloc((size_t)n * sizeof *requests);

    if (!requests)
        bench_wrong("%s", "no memory for the requests");
    callgrind_puts(w, value, WARM); /* something is in flight */
    callgrind_rputs(w, value, n, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void in_lock_all(const struct winmem *w, const int64_t *value, long n, enum what what)
{
    MPI_Pcontrol(0); /* where a trace is taken, nothing is recorded of this */
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < WARM; i++) {
        MPI_Put(value, 8, MPI_BYTE, TARGET, w->disp[TARGET], 8, MPI_BYTE, w->win);
        MPI_Win_flush(TARGET, w->win);
    }
    if (what == RPUTS)
        rputs(w, value, n);
    else if (what == FLUSHES)
        callgrind_flushes(w, n);
    else
        callgrind_puts(w, value, n);
    MPI_Win_unlock_all(w->win);
}

static void on_window(MPI_Comm all, long n, enum what what)
{
    struct winmem w;
    char reason[160] = "";
    int64_t value = n;
    int rank;

    MPI_Comm_rank(all, &rank);
    if (winmem_open(&w, WINMEM_ALLOCATE, 4096, all, reason, sizeof(reason)))
        bench_wrong("%s", reason);
    if (rank == 0)
        in_lock_all(&w, &value, what == LOCKS ? WARM : n, what);
    if (rank == 0 && what == LOCKS)
        callgrind_locks(&w, &value, n);
    MPI_Barrier(all);
    if (rank == TARGET && *(int64_t *)w.base != n)
        bench_wrong("the word put is %lld, expected %ld", (long long)*(int64_t *)w.base, n);
    winmem_close(&w);
}

void rma_callgrind_put(MPI_Comm all, long n)
{
    on_window(all, n, PUTS);
}

void rma_callgrind_rput(MPI_Comm all, long n)
{
    on_window(all, n, RPUTS);
}

static void notified_puts(const struct winmem *w, long n)
{
    const int64_t value = n;

    MPI_Win_lock_all(0, w->win);
    callgrind_puts(w, &value, WARM);
    callgrind_notified(w, &value, n);
    MPI_Win_unlock_all(w->win);
}

void rma_callgrind_notified(MPI_Comm all, long n)
{
    void *symbol = dlsym(RTLD_DEFAULT, "MPIRMA_Put_notify");
    struct winmem w;
    char reason[160] = "";
    MPI_Info info;
    int rank;

    memcpy(&put_notify, &symbol, sizeof(symbol));
    if (!put_notify)
        bench_wrong("%s", "the host has no notified puts");
    MPI_Comm_rank(all, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "1");
    if (winmem_open_info(&w, WINMEM_ALLOCATE, 4096, info, all, reason, sizeof(reason)))
        bench_wrong("%s", reason);
    MPI_Info_free(&info);
    if (rank == 0)
        notified_puts(&w, n);
    MPI_Barrier(all);
    if (rank == TARGET && *(int64_t *)w.base != n)
        bench_wrong("the word put is %lld, expected %ld", (long long)*(int64_t *)w.base, n);
    winmem_close(&w);
}

void rma_callgrind_flush(MPI_Comm all, long n)
{
    on_window(all, n, FLUSHES);
}

void rma_callgrind_lock(MPI_Comm all, long n)
{
    on_window(all, n, LOCKS);
}

/* One double at a time first: the library does not go back to single instructions after the others.
 */
static void accumulate_all(const struct winmem *w, long n)
{
    static const double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    MPI_Win_lock_all(0, w->win);
    callgrind_acc_one(w, ones, WARM);
    MPI_Win_flush(TARGET, w->win);
    callgrind_acc_one(w, ones, n);
    MPI_Win_flush(TARGET, w->win);
    callgrind_acc_eight(w, ones, WARM);
    MPI_Win_flush(TARGET, w->win);
    callgrind_acc_eight(w, ones, n);
    MPI_Win_unlock_all(w->win);
}

void rma_callgrind_acc(MPI_Comm all, long n)
{
    struct winmem w;
    char reason[160] = "";
    int rank;

    MPI_Comm_rank(all, &rank);
    if (winmem_open(&w, WINMEM_ALLOCATE, 4096, all, reason, sizeof(reason)))
        bench_wrong("%s", reason);
    if (rank == 0)
        accumulate_all(&w, n);
    MPI_Barrier(all);
    if (rank == TARGET && (*(double *)w.base != (double)(2 * (n + WARM)) ||
                           ((double *)w.base)[7] != (double)(n + WARM)))
        bench_wrong("the sums are %g and %g, expected %ld and %ld", *(double *)w.base,
                    ((double *)w.base)[7], 2 * (n + WARM), n + WARM);
    winmem_close(&w);
}
