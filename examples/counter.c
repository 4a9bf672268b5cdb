/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter.c - a counter that every process draws tickets from: one word at rank 0, read and
 * increased in one step by MPI_Fetch_and_op.
 *
 * Three ways: rank 0 as a server that answers messages; an exclusive lock around a get and a put;
 * MPI_Fetch_and_op, which needs neither. Rank 0 owns the word and draws none (unless it is alone),
 * so that the server has its processor to itself, and the other two ways show what it costs to
 * reach a process that waits elsewhere.
 *
 * Checked: together, the processes drew every ticket from 0 on exactly once, and each its own in
 * rising order.
 */
#include "example.h"

static int rank, size;
static long per_rank; /* tickets that each drawing process takes */
static long *tickets; /* those of this process */

static MPI_Win win;
static long *word; /* the counter, on rank 0 */

static int draws(void)
{
    return rank > 0 || size == 1;
}

/* The counter goes back to 0. The lock makes rank 0's own store a part of an epoch. */
static void reset(void)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        *word = 0;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every ticket once: rank 0 looks at all of them. */
static void check(void)
{
    long drawing = size == 1 ? 1 : size - 1;
    for (long i = 1; draws() && i < per_rank; i++)
        if (tickets[i] <= tickets[i - 1])
            wrong("ticket %ld came after ticket %ld", tickets[i], tickets[i - 1]);
    long *all = rank == 0 ? zeroed((size_t)(size * per_rank), sizeof(long)) : NULL;
    char *seen = zeroed((size_t)(drawing * per_rank), 1);
    MPI_Gather(tickets, (int)per_rank, MPI_LONG, all, (int)per_rank, MPI_LONG, 0, MPI_COMM_WORLD);
    for (long i = size == 1 ? 0 : per_rank; rank == 0 && i < size * per_rank; i++) {
        if (all[i] < 0 || all[i] >= drawing * per_rank)
            wrong("rank %ld drew ticket %ld of %ld", i / per_rank, all[i], drawing * per_rank);
        if (seen[all[i]]++)
            wrong("ticket %ld was drawn twice", all[i]);
    }
    free(all);
    free(seen);
}

/* Rank 0 answers one message with one message until all tickets are gone. */
static void serve(long requests)
{
    for (long next = 0; next < requests; next++) {
        MPI_Status status;
        MPI_Recv(NULL, 0, MPI_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        MPI_Send(&next, 1, MPI_LONG, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
}

static double by_server(void)
{
    if (size == 1)
        return -1;
    double began = MPI_Wtime();
    if (rank == 0)
        serve((size - 1) * per_rank);
    for (long i = 0; rank > 0 && i < per_rank; i++)
        MPI_Sendrecv(NULL, 0, MPI_LONG, 0, 0, &tickets[i], 1, MPI_LONG, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    double took = MPI_Wtime() - began;
    check();
    return took;
}

/* Read, add and write under an exclusive lock. The flush completes the get before its value is
 * used; the unlock completes the put. */
static double by_lock(void)
{
    reset();
    double began = MPI_Wtime();
    for (long i = 0; draws() && i < per_rank; i++) {
        long next;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&tickets[i], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        next = tickets[i] + 1;
        MPI_Put(&next, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    check();
    return took;
}

/* One atomic operation. All processes hold a shared lock the whole time: the operation itself is
 * what keeps them apart. */
static double by_fetch_and_op(void)
{
    const long one = 1;
    reset();
    MPI_Win_lock_all(0, win);
    double began = MPI_Wtime();
    for (long i = 0; draws() && i < per_rank; i++) {
        MPI_Fetch_and_op(&one, &tickets[i], MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(win);
    check();
    return took;
}

static const struct way ways[] = {
    {"server", by_server}, {"lock", by_lock}, {"fetch_and_op", by_fetch_and_op}, {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument a[] = {{"n", 1000, NULL, "tickets that each process draws"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "server, lock, fetch_and_op or all"},
                           {NULL, 0, NULL, NULL}};
    struct times times;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    per_rank = a[0].number;
    tickets = zeroed((size_t)per_rank, sizeof(long));

    MPI_Win_allocate(rank == 0 ? whole_lines(sizeof(long)) : 0, sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &word, &win);
    if (rank == 0)
        printf("counter: %d processes, %ld tickets each; microseconds a round of one ticket each\n",
               size, per_rank);
    run_ways(ways, a[2].text, a[1].number, &times);
    print_ways(ways, &times, 1e6 / (double)per_rank);
    MPI_Win_free(&win);
    free(tickets);
    MPI_Finalize();
    return 0;
}
