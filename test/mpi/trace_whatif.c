/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_whatif.c - small programs, each as it is slow and as it is changed, for what mpi-rma-trace
 * says that the change would save (trace_whatif.sh). Computation is sleep, so that it takes as long
 * however many processors there are. Prints how many microseconds the slowest rank has taken.
 *
 *     trace_whatif late slow|changed        one rank computes longer than the others
 *     trace_whatif fences slow|changed      a ring, a late rank in each round; changed: post, start
 *     trace_whatif readers slow|changed     exclusive locks for reading; changed: shared ones
 *     trace_whatif puts slow|changed        a flush behind each small put; changed: one
 *     trace_whatif columns slow|changed     many small puts; changed: one with a datatype
 *     trace_whatif messages slow|changed    a late rank delays the next by a message
 *     trace_whatif broadcasts slow|changed  a late rank delays all by a broadcast
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 40, BLOCK = 512, PUTS = 64, MANY = 512 };

static int rank, size;
static double *memory;
static MPI_Win win;

static void compute(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

/* A number for each round that is the same at all ranks and shows no order. */
static unsigned chance(unsigned round)
{
    unsigned x = round * 2654435761u + 12345u;

    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

/* One rank takes 4 ms longer than the others in each round. */
static void late(bool changed)
{
    double block[BLOCK] = {0};

    MPI_Win_fence(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        compute(rank == size / 2 && !changed ? 6000 : 2000);
        MPI_Put(block, BLOCK, MPI_DOUBLE, (rank + 1) % size, 0, BLOCK, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
    }
}

static void one_round(int round, const double *block)
{
    compute((int)(chance((unsigned)round) % (unsigned)size) == rank ? 8000 : 1000);
    MPI_Put(block, BLOCK, MPI_DOUBLE, (rank + 1) % size, 0, BLOCK, MPI_DOUBLE, win);
}

static void fences_slow(void)
{
    double block[BLOCK] = {0};

    MPI_Win_fence(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        one_round(i, block);
        MPI_Win_fence(0, win);
    }
}

static void fences_changed(void)
{
    double block[BLOCK] = {0};
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Group all, from, to;

    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &left, &from);
    MPI_Group_incl(all, 1, &right, &to);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        one_round(i, block);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

static void read_table(int type)
{
    double block[BLOCK];

    MPI_Win_lock(type, 0, 0, win);
    MPI_Get(block, BLOCK, MPI_DOUBLE, 0, 0, BLOCK, MPI_DOUBLE, win);
    MPI_Win_flush(0, win);
    compute(1000);
    MPI_Win_unlock(0, win);
}

static void write_table(int round)
{
    double value = round;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, 0, round % BLOCK, 1, MPI_DOUBLE, win);
    MPI_Win_unlock(0, win);
}

/* One of sixteen accesses writes. */
static void readers(bool changed)
{
    for (int i = 0; i < ROUNDS; i++) {
        compute(500);
        if ((i + rank) % 16 == 15)
            write_table(i);
        else
            read_table(changed ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE);
    }
}

static void puts_of(bool changed)
{
    double values[PUTS] = {0};
    const int target = (rank + 1) % size;

    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        compute(1000);
        for (int k = 0; k < PUTS; k++) {
            MPI_Put(&values[k], 1, MPI_DOUBLE, target, 2 * k, 1, MPI_DOUBLE, win);
            if (!changed || k == PUTS - 1)
                MPI_Win_flush(target, win);
        }
    }
    MPI_Win_unlock_all(win);
}

static void columns(bool changed)
{
    static double values[MANY];
    const int target = (rank + 1) % size;
    MPI_Datatype column;

    MPI_Type_vector(MANY, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 10 * ROUNDS; i++) {
        if (changed)
            MPI_Put(values, MANY, MPI_DOUBLE, target, 0, 1, column, win);
        for (int k = 0; !changed && k < MANY; k++)
            MPI_Put(&values[k], 1, MPI_DOUBLE, target, 2 * k, 1, MPI_DOUBLE, win);
        MPI_Win_flush(target, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Type_free(&column);
}

/* Rank 0 takes 4 ms longer than the others in each round, for which the next one waits, and for
 * that one all of them. */
static void messages(bool changed)
{
    double block[BLOCK] = {0};

    MPI_Win_fence(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        compute(rank == 0 && !changed ? 6000 : 2000);
        if (rank == 0)
            MPI_Send(block, BLOCK, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(block, BLOCK, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Put(block, BLOCK, MPI_DOUBLE, (rank + 1) % size, 0, BLOCK, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
    }
}

static void broadcasts(bool changed)
{
    double block[BLOCK] = {0};

    MPI_Win_fence(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        compute(rank == 0 && !changed ? 6000 : 2000);
        MPI_Bcast(block, BLOCK, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Put(block, BLOCK, MPI_DOUBLE, (rank + 1) % size, 0, BLOCK, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
    }
}

static bool run(const char *what, bool changed)
{
    if (strcmp(what, "late") == 0)
        late(changed);
    else if (strcmp(what, "fences") == 0)
        changed ? fences_changed() : fences_slow();
    else if (strcmp(what, "readers") == 0)
        readers(changed);
    else if (strcmp(what, "puts") == 0)
        puts_of(changed);
    else if (strcmp(what, "columns") == 0)
        columns(changed);
    else if (strcmp(what, "messages") == 0)
        messages(changed);
    else if (strcmp(what, "broadcasts") == 0)
        broadcasts(changed);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    double took, most;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Win_allocate(2 * MANY * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    MPI_Win_set_name(win, argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    took = MPI_Wtime();
    if (!run(argv[1], strcmp(argv[2], "changed") == 0))
        MPI_Abort(MPI_COMM_WORLD, 2);
    took = MPI_Wtime() - took;
    MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("took %.0f\n", most * 1e6);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
