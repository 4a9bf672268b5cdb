/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_waits.c - one wait state after the other, for trace_waits.sh: trace_waits MS, where MS is
 * how many milliseconds one process is late each time (0: none). Three processes; a barrier, which
 * is no call of RMA, brings them into step before each. trace_waits MS progress: the one that needs
 * a target without an agent. trace_waits MS late: the post is late for operations that are larger,
 * or more, than what may wait for it outside of the calls; the first kind waits in
 * MPI_Win_complete.
 */
#include <mpi-rma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 256 << 10 };

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

static void late_create_and_free(void)
{
    MPI_Win other;
    int *memory;

    if (rank == 1)
        late();
    MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
    start_together();
    if (rank == 1)
        late();
    MPI_Win_free(&other);
}

/* The late process's put ends while the others wait for it in their fence: one of them is its
 * target. It is so large that no path leaves it to the fence. */
static void wait_at_fence(void)
{
    static char large[SIZE];

    MPI_Win_fence(0, win);
    if (rank == 2) {
        late();
        MPI_Put(large, SIZE, MPI_BYTE, 1, 0, SIZE, MPI_BYTE, win);
    }
    MPI_Win_fence(0, win);
}

/* More than what is kept for a target, with something that is sent at once in front. */
static void many_puts(void)
{
    static char data[4096];

    put();
    for (int i = 0; i < 400; i++)
        MPI_Put(data, sizeof data, MPI_BYTE, 1, 64, sizeof data, MPI_BYTE, win);
}

static void large_put(void)
{
    static char large[SIZE];

    put();
    MPI_Put(large, SIZE - 64, MPI_BYTE, 1, 64 / sizeof(int), SIZE - 64, MPI_BYTE, win);
}

/* An epoch of rank 0 at rank 1, whose post is late. */
static void late_post(void (*access)(void))
{
    MPI_Group all, other;
    const int peer = !rank;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    if (rank == 1) {
        late();
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
    } else if (rank == 0) {
        MPI_Win_start(other, 0, win);
        access();
        MPI_Win_complete(win);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&other);
}

enum where { LATE_POST, EARLY_WAIT, LATE_COMPLETE };

/* One epoch of rank 0 at rank 1, late at its begin, before its operation, or before its end. */
static void group_epoch(enum where where)
{
    MPI_Group all, other;
    const int peer = !rank;
    static int value;

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
        if (where == LATE_POST) /* a put need not wait for it */
            MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        else
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

/* Rank 1 computes while rank 0 waits for what it has asked it for. */
static void absent_target(void)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        put();
        MPI_Win_unlock(1, win);
    }
    if (rank == 1)
        late();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
}

/* Rank 0 waits for a notification of rank 1. */
static void late_notification(bool by_request)
{
    static const int value = 1;
    MPI_Request request;

    if (rank == 1) {
        late();
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPIRMA_Put_notify(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, by_request);
        MPI_Win_unlock(0, win);
    } else if (rank == 0 && by_request) {
        MPIRMA_Notify_init(win, 1, by_request, 1, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (rank == 0) {
        MPIRMA_Notify_wait(win, MPI_ANY_SOURCE, by_request, 1);
    }
}

static void make_window(void)
{
    MPI_Info info;
    int *memory;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "2");
    MPI_Win_allocate(SIZE, sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
    MPI_Info_free(&info);
}

static void all_waits(void)
{
    for (int i = 0; i < 2; i++) {
        start_together();
        late_notification(i);
    }
    for (int i = LATE_POST; i <= LATE_COMPLETE; i++) {
        start_together();
        group_epoch((enum where)i);
    }
    start_together();
    wait_at_fence();
    start_together();
    lock_contention();
    start_together();
    late_create_and_free();
}

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || size != 3) {
        fprintf(stderr, "usage: trace_waits MS [progress | late], of three processes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    ms = atof(argv[1]);
    start_together();
    make_window();
    if (argc == 3 && strcmp(argv[2], "progress") == 0) {
        start_together();
        absent_target();
    } else if (argc == 3 && strcmp(argv[2], "late") == 0) {
        start_together();
        late_post(large_put);
        start_together();
        late_post(many_puts);
    } else {
        all_waits();
    }
    start_together();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
