/*
 * rma_callgrind.c - exactly n calls for an instruction counter; rma_suites.h.
 *
 * Rank 0 calls callgrind_puts or callgrind_flushes, and callgrind collects only
 * inside them (--toggle-collect), so the difference of two runs divided by the
 * difference of n is what one call costs. The first calls, which may set
 * things up, are made before. See count-instructions.sh.
 */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdio.h>

#include "rma_suites.h"

#define WARM 16
#define TARGET 1

__attribute__((noinline)) void callgrind_puts(const struct winmem *w, const int64_t *value, long n);
__attribute__((noinline)) void callgrind_flushes(const struct winmem *w, long n);

void callgrind_puts(const struct winmem *w, const int64_t *value, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Put(value, 8, MPI_BYTE, TARGET, w->disp[TARGET], 8, MPI_BYTE, w->win);
}

void callgrind_flushes(const struct winmem *w, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Win_flush(TARGET, w->win);
}

static void in_epoch(MPI_Comm all, long n, bool puts)
{
    struct winmem w;
    char reason[160] = "";
    int64_t value = n;
    int rank;

    MPI_Comm_rank(all, &rank);
    if (winmem_open(&w, WINMEM_ALLOCATE, 4096, all, reason, sizeof(reason)))
        bench_wrong("%s", reason);
    if (rank == 0) {
        MPI_Win_lock_all(0, w.win);
        for (int i = 0; i < WARM; i++) {
            MPI_Put(&value, 8, MPI_BYTE, TARGET, w.disp[TARGET], 8, MPI_BYTE, w.win);
            MPI_Win_flush(TARGET, w.win);
        }
        if (puts)
            callgrind_puts(&w, &value, n);
        else
            callgrind_flushes(&w, n);
        MPI_Win_unlock_all(w.win);
    }
    MPI_Barrier(all);
    if (rank == TARGET && *(int64_t *)w.base != n)
        bench_wrong("the word put is %lld, expected %ld", (long long)*(int64_t *)w.base, n);
    winmem_close(&w);
}

void rma_callgrind_put(MPI_Comm all, long n)
{
    in_epoch(all, n, true);
}

void rma_callgrind_flush(MPI_Comm all, long n)
{
    in_epoch(all, n, false);
}
