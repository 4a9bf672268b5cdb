/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C for scripts/wheel.sh: each process puts its rank into the next one's window. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, *cell;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    const int bad = *cell != (rank + size - 1) % size;
    if (bad)
        fprintf(stderr, "rank %d: %d\n", rank, *cell);
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad;
}
