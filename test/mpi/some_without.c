/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * some_without.c - a program that knows nothing of this library makes one window, of the kind that
 * is named as first argument, or with "split" a communicator of each node; the last rank only so
 * many seconds later as the second argument says. With a third argument it handles the error.
 * Started by some_without.sh, some processes with the library.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int split(void)
{
    MPI_Comm node;
    const int rc =
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);

    if (rc == MPI_SUCCESS)
        MPI_Comm_free(&node);
    return rc;
}

static int make(const char *kind, MPI_Win *win)
{
    static int memory[4];
    void *base;

    if (strcmp(kind, "create") == 0)
        return MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
    if (strcmp(kind, "allocate") == 0)
        return MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
    if (strcmp(kind, "shared") == 0)
        return MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
    return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win);
}

int main(int argc, char **argv)
{
    int rank, size, rc;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc > 3)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == size - 1)
        sleep((unsigned)atoi(argv[2]));
    for (int i = 0; i < 2; i++) {
        const int splits = strcmp(argv[1], "split") == 0;

        rc = splits ? split() : make(argv[1], &win);
        if (rc != MPI_SUCCESS) {
            printf("rank %d: no %s\n", rank, splits ? "split" : "window");
            fflush(stdout);
            sleep(1); /* the others come here as well */
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        if (!splits)
            MPI_Win_free(&win);
    }
    if (rank == 0)
        puts("some_without: ok");
    MPI_Finalize();
    return 0;
}
