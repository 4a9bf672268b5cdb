/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mcslock.c - the queue lock of Mellor-Crummey and Scott, made of one-sided operations.
 *
 * Whoever wants the lock puts itself at the end of a queue by one atomic exchange and then waits
 * for a word in its own memory, which its predecessor clears: nobody asks the home of the lock
 * again and again, and the lock is handed on in the order of arrival.
 *
 * Three ways: MPI_Win_lock as the reference; a spin lock, which tries MPI_Compare_and_swap until
 * it succeeds; the queue lock.
 *
 * Checked: under the lock each process increases a number by a get and a put, which loses
 * increments as soon as two hold the lock together, and keeps a second number at three times the
 * first.
 */
#include "example.h"

static int rank, size;
static long rounds;

static MPI_Win data_win; /* the two numbers, on rank 0 */
static long *data;

/* The words of the lock's window. */
enum { NEXT = 0, WAITING = 1, TAIL = 2, WORDS = 3 };
enum { NOBODY = -1 };
static MPI_Win lock_win;
static long *lock_words;

/* Atomic operations on a word of the lock's window, completed when they return. */
static long exchange(int target, MPI_Aint word, long value)
{
    long old;
    MPI_Fetch_and_op(&value, &old, MPI_LONG, target, word, MPI_REPLACE, lock_win);
    MPI_Win_flush(target, lock_win);
    return old;
}

static long read_word(int target, MPI_Aint word)
{
    long value, unused = 0;
    MPI_Fetch_and_op(&unused, &value, MPI_LONG, target, word, MPI_NO_OP, lock_win);
    MPI_Win_flush(target, lock_win);
    return value;
}

static long compare_and_swap(int target, MPI_Aint word, long expected, long value)
{
    long old;
    MPI_Compare_and_swap(&value, &expected, &old, MPI_LONG, target, word, lock_win);
    MPI_Win_flush(target, lock_win);
    return old;
}

/* The queue's tail is a word at rank 0. Each process has two words: who comes next, and whether
 * it still has to wait. */
static void mcs_acquire(void)
{
    exchange(rank, NEXT, NOBODY);
    exchange(rank, WAITING, 1);
    long before = exchange(0, TAIL, rank);
    if (before == NOBODY)
        return;
    exchange((int)before, NEXT, rank);
    while (read_word(rank, WAITING))
        let_others_run();
}

static void mcs_release(void)
{
    long next = read_word(rank, NEXT);
    if (next == NOBODY) {
        /* Nobody behind us: the queue is empty again, unless somebody has just come. */
        if (compare_and_swap(0, TAIL, rank, NOBODY) == rank)
            return;
        while ((next = read_word(rank, NEXT)) == NOBODY)
            let_others_run();
    }
    exchange((int)next, WAITING, 0);
}

static void spin_acquire(void)
{
    while (compare_and_swap(0, TAIL, NOBODY, rank) != NOBODY)
        let_others_run();
}

static void spin_release(void)
{
    exchange(0, TAIL, NOBODY);
}

/* What the lock protects. The first flush completes the get, the second the put: the next holder
 * of the lock must find it. Now and then others run in between: a second holder would be noticed.
 */
static void critical_section(void)
{
    long seen[2];
    MPI_Get(seen, 2, MPI_LONG, 0, 0, 2, MPI_LONG, data_win);
    MPI_Win_flush(0, data_win);
    if (seen[1] != 3 * seen[0])
        wrong("the numbers under the lock are %ld and %ld", seen[0], seen[1]);
    if (seen[0] % 8 == 0)
        sched_yield();
    seen[0] += 1;
    seen[1] = 3 * seen[0];
    MPI_Put(seen, 2, MPI_LONG, 0, 0, 2, MPI_LONG, data_win);
    MPI_Win_flush(0, data_win);
}

static void begin(void)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, data_win);
        data[0] = data[1] = 0;
        MPI_Win_unlock(0, data_win);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, lock_win);
    lock_words[NEXT] = lock_words[TAIL] = NOBODY;
    lock_words[WAITING] = 0;
    MPI_Win_unlock(rank, lock_win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static double end(double began)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, data_win);
        if (data[0] != size * rounds)
            wrong("%ld increments under the lock left %ld", size * rounds, data[0]);
        MPI_Win_unlock(0, data_win);
    }
    return took;
}

static double by_win_lock(void)
{
    begin();
    double began = MPI_Wtime();
    for (long i = 0; i < rounds; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, data_win);
        critical_section();
        MPI_Win_unlock(0, data_win);
    }
    return end(began);
}

/* With a lock of our own the windows are open to all the whole time. */
static double by_own_lock(void (*acquire)(void), void (*release)(void))
{
    begin();
    double began = MPI_Wtime();
    MPI_Win_lock_all(0, data_win);
    MPI_Win_lock_all(0, lock_win);
    for (long i = 0; i < rounds; i++) {
        acquire();
        critical_section();
        release();
    }
    MPI_Win_unlock_all(lock_win);
    MPI_Win_unlock_all(data_win);
    return end(began);
}

static double by_spinning(void)
{
    return by_own_lock(spin_acquire, spin_release);
}

static double by_queue(void)
{
    return by_own_lock(mcs_acquire, mcs_release);
}

static const struct way ways[] = {
    {"MPI_Win_lock", by_win_lock}, {"spin", by_spinning}, {"mcs", by_queue}, {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument a[] = {{"n", 500, NULL, "how often each process takes the lock"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "MPI_Win_lock, spin, mcs or all"},
                           {NULL, 0, NULL, NULL}};
    struct times times;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    rounds = a[0].number;

    MPI_Win_allocate(rank == 0 ? whole_lines(2 * sizeof(long)) : 0, sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &data, &data_win);
    MPI_Win_allocate(whole_lines(WORDS * sizeof(long)), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &lock_words, &lock_win);
    if (rank == 0)
        printf("mcslock: %d processes, %ld rounds each; microseconds from holder to holder\n", size,
               rounds);
    run_ways(ways, a[2].text, a[1].number, &times);
    print_ways(ways, &times, 1e6 / (double)(rounds * size));
    MPI_Win_free(&lock_win);
    MPI_Win_free(&data_win);
    MPI_Finalize();
    return 0;
}
