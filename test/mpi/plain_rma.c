/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plain_rma.c - an ordinary program that knows nothing of this library.
 *
 * Linked with the host's MPI alone and preloaded by the scripts (preload.sh,
 * env_nonsense.sh). Windows of each flavour that the host's own RMA could also
 * make on several processes; prints one line "plain_rma: ok" from rank 0 or exits
 * with 1 on the rank that saw a wrong value.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Whole pages: MPICH 4.0.2 misplaces what is put to parts that do not start at a page. */
enum { BYTES = 65536 };
static _Alignas(BYTES) int global[BYTES / sizeof(int)];

static int rank, size;

static int ring(MPI_Win win, const int *cell, const char *what)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, value = 1000 + rank, one = 1,
        old = -1;

    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 1, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Win_fence(0, win);
    if (cell[0] != 1000 + left || (rank == 0 && cell[1] != size) || old < 0 || old >= size) {
        printf("plain_rma: rank %d, %s: saw %d, %d, %d\n", rank, what, cell[0], cell[1], old);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int *cell, bad = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(BYTES, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
    cell[0] = cell[1] = 0;
    bad += ring(win, cell, "MPI_Win_allocate");
    MPI_Win_free(&win);

    MPI_Info info; /* page-aligned parts: the hosts need them for their own atomics */
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(2 * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &cell, &win);
    cell[0] = cell[1] = 0;
    bad += ring(win, cell, "MPI_Win_allocate_shared");
    MPI_Win_free(&win);
    MPI_Info_free(&info);

    MPI_Win_create(global, sizeof global, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    bad += ring(win, global, "MPI_Win_create");
    MPI_Win_free(&win);

    if (bad == 0 && rank == 0) {
        printf("plain_rma: ok\n");
        fflush(stdout);
    }
    MPI_Finalize();
    return bad != 0;
}
