/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count_app.c - what count_tool.c counts: 1 window, 2 fences, 3 puts, a barrier, 1 MPI_Pcontrol.
 */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, nproc, *cell;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nproc);
    MPI_Win_allocate(3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++)
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % nproc, i, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    const int bad =
        cell[0] != (rank + nproc - 1) % nproc || cell[1] != cell[0] || cell[2] != cell[0];
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(2, "more arguments", 1.0);
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad;
}
