/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * part_window.c - windows of all processes, or, with "last" as argument, of the last two. Errors
 * are handled. Run by env_nonsense.sh.
 */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, last;
    MPI_Comm part;
    MPI_Win win;
    void *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = argc > 1 && strcmp(argv[1], "last") == 0;
    MPI_Comm_split(MPI_COMM_WORLD, last && rank < size - 2, 0, &part);
    MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++)
        if ((!last || rank >= size - 2) &&
            MPI_Win_allocate(64, 1, MPI_INFO_NULL, part, &base, &win) == MPI_SUCCESS)
            MPI_Win_free(&win);
    MPI_Comm_free(&part);
    MPI_Finalize();
    return 0;
}
