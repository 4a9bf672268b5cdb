/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_chain.c - processes that wait for each other in a chain, for trace_chain.sh: trace_chain
 * MS, where MS is how many milliseconds the last process computes before it accesses the one before
 * it. Each of the others waits for the end of the epoch in which it is accessed, and only then
 * accesses the one before itself. ROUNDS times, each begun by a barrier, which is no call of RMA.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 2 };

static int rank, size;

/* Busy: a process that sleeps is woken late on a loaded machine. */
static void compute(double ms)
{
    const double end = MPI_Wtime() + ms / 1000;

    while (ms > 0 && MPI_Wtime() < end)
        ;
}

static MPI_Group group_of(int peer)
{
    MPI_Group all, one;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &one);
    MPI_Group_free(&all);
    return one;
}

static void pass_along(MPI_Win win, double ms)
{
    const int64_t value = 1000 + rank;

    if (rank + 1 < size) {
        MPI_Group origin = group_of(rank + 1);

        MPI_Win_post(origin, 0, win);
        MPI_Win_wait(win);
        MPI_Group_free(&origin);
    }
    if (rank > 0) {
        MPI_Group target = group_of(rank - 1);

        MPI_Win_start(target, 0, win);
        if (rank == size - 1)
            compute(ms);
        MPI_Put(&value, 1, MPI_INT64_T, rank - 1, 0, 1, MPI_INT64_T, win);
        MPI_Win_complete(win);
        MPI_Group_free(&target);
    }
}

int main(int argc, char **argv)
{
    int64_t *memory;
    int wrong = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) {
        fprintf(stderr, "usage: trace_chain MS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int round = 0; round < ROUNDS; round++) {
        *memory = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        pass_along(win, atof(argv[1]));
        MPI_Barrier(MPI_COMM_WORLD);
        wrong += rank + 1 < size && *memory != 1000 + rank + 1;
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong > 0;
}
