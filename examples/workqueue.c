/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workqueue.c - tasks of very different length, shared out while the program runs.
 *
 * Four ways: rank 0 as a master that answers messages and does no task itself; a fixed share for
 * each process; a counter at rank 0, from which each draws its next task by MPI_Fetch_and_op; and
 * work stealing: every process has a queue of its own, one word [next, end), takes tasks from its
 * front and, when it is empty, half of another's from the back, both by MPI_Compare_and_swap.
 *
 * Checked: every task was done exactly once, and the sum of their results is that of a loop over
 * all of them.
 */
#include "example.h"
#include <stdint.h>

static int rank, size;
static long tasks, length;
static int *done;     /* how often this process did each task */
static uint64_t sum;  /* of the results */
static uint64_t want; /* what the sum of all must be */

static MPI_Win win;
static uint64_t *word; /* on rank 0 the counter, or everywhere the own queue */

/* A task: a random walk of a length that grows steeply towards the last task. */
static uint64_t task(long i)
{
    long steps =
        1 + (long)((double)length * 3 * ((double)i / (double)tasks) * ((double)i / (double)tasks));
    uint64_t x = (uint64_t)i + 1;
    for (long s = 0; s < steps; s++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x >> 32;
}

static void do_task(long i)
{
    sum += task(i);
    done[i]++;
}

static void begin(uint64_t value)
{
    memset(done, 0, (size_t)tasks * sizeof(int));
    sum = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    *word = value;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static double end(double began)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    uint64_t all;
    MPI_Allreduce(MPI_IN_PLACE, done, (int)tasks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (long i = 0; i < tasks; i++)
        if (done[i] != 1)
            wrong("task %ld was done %d times", i, done[i]);
    if (all != want)
        wrong("the results sum up to %llu instead of %llu", (unsigned long long)all,
              (unsigned long long)want);
    return took;
}

/* Rank 0 answers every request with a task, or with -1 once there is none. */
static void master(void)
{
    long next = 0;
    for (int working = size - 1; working > 0;) {
        MPI_Status status;
        long answer = next < tasks ? next++ : -1;
        MPI_Recv(NULL, 0, MPI_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        MPI_Send(&answer, 1, MPI_LONG, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
        working -= answer < 0;
    }
}

static double by_master(void)
{
    if (size == 1)
        return -1;
    begin(0);
    double began = MPI_Wtime();
    if (rank == 0)
        master();
    for (long i = 0; rank > 0;) {
        MPI_Sendrecv(NULL, 0, MPI_LONG, 0, 0, &i, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (i < 0)
            break;
        do_task(i);
    }
    return end(began);
}

static double by_share(void)
{
    begin(0);
    double began = MPI_Wtime();
    for (long i = tasks * rank / size; i < tasks * (rank + 1) / size; i++)
        do_task(i);
    return end(began);
}

static double by_counter(void)
{
    const uint64_t one = 1;
    begin(0);
    double began = MPI_Wtime();
    MPI_Win_lock_all(0, win);
    for (;;) {
        uint64_t next;
        MPI_Fetch_and_op(&one, &next, MPI_UINT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (next >= (uint64_t)tasks)
            break;
        do_task((long)next);
    }
    MPI_Win_unlock_all(win);
    return end(began);
}

/* A queue in one word, so that one operation changes both of its ends. The word is all of a
 * queue's state: where it is what it was, nothing has changed. */
static uint64_t queue(uint32_t next, uint32_t last)
{
    return (uint64_t)next << 32 | last;
}

static uint64_t read_queue(int owner)
{
    uint64_t value, unused = 0;
    MPI_Fetch_and_op(&unused, &value, MPI_UINT64_T, owner, 0, MPI_NO_OP, win);
    MPI_Win_flush(owner, win);
    return value;
}

/* Did the queue still hold *seen, and holds next now? If not, *seen is what it holds. */
static int replace_queue(int owner, uint64_t *seen, uint64_t next)
{
    uint64_t found;
    MPI_Compare_and_swap(&next, seen, &found, MPI_UINT64_T, owner, 0, win);
    MPI_Win_flush(owner, win);
    int replaced = found == *seen;
    *seen = found;
    return replaced;
}

/* The first task of the own queue, or -1. */
static long take(void)
{
    uint64_t seen = read_queue(rank);
    for (;;) {
        uint32_t next = (uint32_t)(seen >> 32), last = (uint32_t)seen;
        if (next == last)
            return -1;
        if (replace_queue(rank, &seen, queue(next + 1, last)))
            return next;
    }
}

/* The last half of a victim's queue becomes the own queue, which is empty. */
static int steal(int victim)
{
    uint64_t seen = read_queue(victim), old;
    for (;;) {
        uint32_t next = (uint32_t)(seen >> 32), last = (uint32_t)seen;
        uint32_t from = next + (last - next) / 2;
        if (next == last)
            return 0;
        if (replace_queue(victim, &seen, queue(next, from))) {
            uint64_t loot = queue(from, last);
            MPI_Fetch_and_op(&loot, &old, MPI_UINT64_T, rank, 0, MPI_REPLACE, win);
            MPI_Win_flush(rank, win);
            return 1;
        }
    }
}

/* Whoever finds all queues empty is done: tasks that are on their way from one queue to another
 * will be done by the thief. */
static double by_stealing(void)
{
    begin(queue((uint32_t)(tasks * rank / size), (uint32_t)(tasks * (rank + 1) / size)));
    double began = MPI_Wtime();
    MPI_Win_lock_all(0, win);
    for (int found = 1; found;) {
        for (long i = take(); i >= 0; i = take())
            do_task(i);
        found = 0;
        for (int other = 1; other < size && !found; other++)
            found = steal((rank + other) % size);
    }
    MPI_Win_unlock_all(win);
    return end(began);
}

static const struct way ways[] = {{"master", by_master},
                                  {"share", by_share},
                                  {"counter", by_counter},
                                  {"stealing", by_stealing},
                                  {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument a[] = {{"tasks", 2000, NULL, "how many tasks there are"},
                           {"length", 10000, NULL, "steps of a task, on average"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "master, share, counter, stealing or all"},
                           {NULL, 0, NULL, NULL}};
    struct times times;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    tasks = a[0].number;
    length = a[1].number;
    done = zeroed((size_t)tasks, sizeof(int));
    double began = MPI_Wtime();
    for (long i = 0; i < tasks; i++)
        want += task(i);
    double alone = MPI_Wtime() - began;

    MPI_Win_allocate(whole_lines(sizeof *word), sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &word,
                     &win);
    if (rank == 0)
        printf("workqueue: %d processes, %ld tasks; milliseconds (%.3f in one process)\n", size,
               tasks, alone * 1e3);
    run_ways(ways, a[3].text, a[2].number, &times);
    print_ways(ways, &times, 1e3);
    MPI_Win_free(&win);
    free(done);
    MPI_Finalize();
    return 0;
}
