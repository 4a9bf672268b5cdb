/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_sites.c - a program with two fences on one window, for trace_sites.sh: trace_sites MS. Rank
 * 0 is late by MS milliseconds to the first fence, the last rank by twice that to the second,
 * ROUNDS times. The test finds the lines of both fences by their comments.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3 };

static int rank, size;

/* Busy: a process that sleeps is woken late on a loaded machine. */
static void compute(double ms)
{
    const double end = MPI_Wtime() + ms / 1000;

    while (ms > 0 && MPI_Wtime() < end)
        ;
}

/* A call that is the last thing in its function may be a jump, which leaves no place to return to:
 * so something comes behind the fence. */
static __attribute__((noinline)) int begin_exchange(MPI_Win win, double ms)
{
    if (rank == 0)
        compute(ms);
    int rc = MPI_Win_fence(0, win); /* the first fence */
    return rc != MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int *memory, wrong = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) {
        fprintf(stderr, "usage: trace_sites MS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_name(win, "two fences");
    for (int round = 0; round < ROUNDS; round++) {
        const int value = 10 * round + rank;

        wrong += begin_exchange(win, atof(argv[1]));
        MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win); /* the put */
        if (rank == size - 1)
            compute(2 * atof(argv[1]));
        MPI_Win_fence(0, win); /* the second fence */
        wrong += *memory != 10 * round + (rank + size - 1) % size;
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong > 0;
}
