/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_fatal.c - one error under the default handler; run by win_fatal.sh.
 *
 * Argument: which error. The default error handlers are left in place, so the
 * job must abort inside the call; reaching the end is the failure (exit 0).
 * Rank 1 alone makes the mistake; the others wait in a receive for ever.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, x = 5, *base;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    alarm(30);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "create") == 0) {
        MPI_Win_allocate(16, rank == 1 ? -3 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        printf("win_fatal %s: the call returned\n", what);
        fflush(stdout);
        MPI_Finalize();
        return 0;
    }
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == 1) {
        if (strcmp(what, "range") == 0) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Put(&x, 1, MPI_INT, 0, 16, 1, MPI_INT, win);
            MPI_Win_unlock(0, win);
        } else if (strcmp(what, "sync") == 0) {
            MPI_Accumulate(&x, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, win);
        } else if (strcmp(what, "unlock") == 0) {
            MPI_Win_unlock(0, win);
        } else if (strcmp(what, "rank") == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 77, 0, win);
        }
        printf("win_fatal %s: the call returned\n", what);
        fflush(stdout);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
