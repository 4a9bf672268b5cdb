/*
 * trace_waits.c - one wait state after the other, for trace_waits.sh: trace_waits MS, where MS is
 * how many milliseconds one process is late each time (0: none). Three processes; a barrier, which
 * is no call of RMA, brings them into step before each.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank;
static double ms;
static MPI_Win win;

/* Busy, outside of MPI: a process that sleeps is woken late on a loaded machine. */
static void late(void)
{
    const double end = MPI_Wtime() + ms / 1000;

    while (ms > 0 && MPI_Wtime() < end)
        ;
}

static void start_together(void)
{
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void put(void)
{
    static const int value = 1;

    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
}

static void wait_at_fence(void)
{
    MPI_Win_fence(0, win);
    if (rank == 1)
        late();
    MPI_Win_fence(0, win);
}

enum where { LATE_POST, EARLY_WAIT, LATE_COMPLETE };

/* One epoch of rank 0 at rank 1, late at its begin, before its operation, or before its end. A late
 * post is waited for only by operations for which there is no room meanwhile. */
static void group_epoch(enum where where)
{
    MPI_Group all, other;
    const int peer = !rank;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    if (rank == 1) {
        if (where == LATE_POST)
            late();
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
    } else if (rank == 0) {
        MPI_Win_start(other, 0, win);
        if (where == EARLY_WAIT)
            late();
        for (int i = 0; i < (where == LATE_POST ? 300 : 1); i++)
            put();
        if (where == LATE_COMPLETE)
            late();
        MPI_Win_complete(win);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&other);
}

/* Rank 2 asks for a lock that rank 0 has. */
static void lock_contention(void)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        put();
        MPI_Win_flush(1, win);
        MPI_Barrier(MPI_COMM_WORLD);
        late();
        MPI_Win_unlock(1, win);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 || ms == 0)
        return;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    put();
    MPI_Win_unlock(1, win);
}

int main(int argc, char **argv)
{
    int *memory, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || size != 3) {
        fprintf(stderr, "usage: trace_waits MS, of three processes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    ms = atof(argv[1]);
    MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = LATE_POST; i <= LATE_COMPLETE; i++) {
        start_together();
        group_epoch((enum where)i);
    }
    start_together();
    wait_at_fence();
    start_together();
    lock_contention();
    start_together();
    if (rank == 1)
        late();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
