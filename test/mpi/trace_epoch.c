/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_epoch.c - one put from rank 0 in an epoch of post, start, complete and wait, for
 * trace_epoch.sh. The target comes late to MPI_Win_wait. trace_epoch MS: that long after it another
 * window is made.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LATE_US = 30000 };

static void epoch(MPI_Win win, int rank)
{
    static const int value = 1;
    const int peer = !rank;
    MPI_Group all, other;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    if (rank == 1) {
        MPI_Win_post(other, 0, win);
        usleep(LATE_US);
        MPI_Win_wait(win);
    } else {
        MPI_Win_start(other, 0, win);
        MPI_Put(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&other);
}

static void make_and_free(MPI_Comm comm)
{
    MPI_Win win;
    void *base;

    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static int memory;
    MPI_Win win;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    epoch(win, rank);
    if (argc > 1) {
        usleep((useconds_t)atoi(argv[1]) * 1000);
        make_and_free(MPI_COMM_SELF);
        make_and_free(MPI_COMM_WORLD);
        make_and_free(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return rank == 1 && memory != 1;
}
