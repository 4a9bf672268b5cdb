/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workqueue.c - tasks of very different length, shared out while the program runs.
 *
 * There are three ways. Rank 0 is a master that answers messages and does no task itself. A counter
 * at rank 0 gives the next task to whoever calls MPI_Fetch_and_op. Or each process has a queue of
 * its own, takes tasks from its front, and when it is empty steals half of another one from the
 * back, both by MPI_Compare_and_swap: then most operations stay at home.
 *
 * The program checks that each task was done exactly once, and that the sum of the results is that
 * of a loop over all tasks.
 */
#include "example.h"
#include <stdint.h>

static int rank, size;
static long tasks, length;
static int *done;          /* How often this process did each task. */
static uint64_t sum, want; /* The sum of its results, and what the sum of all must be. */
static MPI_Win win;
static uint64_t *word; /* On rank 0 the counter, or everywhere the own queue. */

/* A task: a random walk of a length that grows steeply towards the last task. */
static uint64_t task(long i)
{
    double part = (double)i / (double)tasks;
    uint64_t x = (uint64_t)i + 1;
    for (long s = (long)(3 * (double)length * part * part); s >= 0; s--)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x >> 32;
}

static void do_task(long i)
{
    sum += task(i);
    done[i]++;
}

/* Rank 0 answers each request with a task, or with -1 once there is none. */
static void by_master(void)
{
    long next = 0;
    for (int working = rank == 0 ? size - 1 : 0; working > 0;) {
        MPI_Status status;
        long answer = next < tasks ? next++ : -1;
        MPI_Recv(NULL, 0, MPI_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        MPI_Send(&answer, 1, MPI_LONG, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
        working -= answer < 0;
    }
    for (long i = 0; rank > 0;) {
        MPI_Sendrecv(NULL, 0, MPI_LONG, 0, 0, &i, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (i < 0)
            return;
        do_task(i);
    }
}

/* One atomic operation draws the next task, with no process that answers (MPI 4.1, 12.3.4). The
 * flush completes it, so that its result may be used. */
static void by_counter(void)
{
    const uint64_t one = 1;
    for (;;) {
        uint64_t next;
        MPI_Fetch_and_op(&one, &next, MPI_UINT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (next >= (uint64_t)tasks)
            return;
        do_task((long)next);
    }
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

/* A process that finds all queues empty is done: tasks that are on their way from one queue to
 * another will be done by the thief. */
static void by_stealing(void)
{
    for (int found = 1; found;) {
        for (long i = take(); i >= 0; i = take())
            do_task(i);
        found = 0;
        for (int other = 1; other < size && !found; other++)
            found = steal((rank + other) % size);
    }
}

/* Processes hold a shared lock all the time (12.5.3): what keeps them apart is that each operation
 * on a word is atomic (12.7.1). Other processes may be in their epoch before us, so the word is set
 * under a lock of its own, ahead of the barrier. */
static double run(void (*work)(void))
{
    uint64_t all;
    if (work == by_master && size == 1)
        return -1;
    memset(done, 0, (size_t)tasks * sizeof(int));
    sum = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    *word = work == by_stealing
                ? queue((uint32_t)(tasks * rank / size), (uint32_t)(tasks * (rank + 1) / size))
                : 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    double began = MPI_Wtime();
    work();
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(win);
    MPI_Allreduce(MPI_IN_PLACE, done, (int)tasks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (long i = 0; i < tasks; i++)
        if (done[i] != 1)
            wrong("task %ld was done %d times", i, done[i]);
    if (all != want)
        wrong("the results do not sum up to %llu", (unsigned long long)want);
    return took;
}

int main(int argc, char **argv)
{
    static const struct way ways[] = {
        {"master", by_master}, {"counter", by_counter}, {"stealing", by_stealing}, {NULL, NULL}};
    struct argument a[] = {{"tasks", 2000, NULL, "how many tasks there are"},
                           {"length", 10000, NULL, "steps of a task, on average"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "master, counter, stealing or all"},
                           {NULL, 0, NULL, NULL}};
    begin_example(&argc, &argv, a, &rank, &size);
    tasks = a[0].number;
    length = a[1].number;
    done = zeroed((size_t)tasks, sizeof(int));
    for (long i = 0; i < tasks; i++)
        want += task(i);
    MPI_Win_allocate(whole_lines(sizeof *word), sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &word,
                     &win);
    if (rank == 0)
        printf("workqueue: %d processes, %ld tasks; milliseconds\n", size, tasks);
    measure(ways, run, a[3].text, a[2].number, 1e3);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
