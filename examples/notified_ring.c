/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified_ring.c - producers and consumers in a ring: each process makes blocks for its right
 * neighbour and uses those of its left one. A window has room for a few blocks that are under way,
 * and a place is written again when its last block was used. There are three ways to hand a block
 * over:
 *
 *   message     MPI_Isend and MPI_Recv are the reference.
 *   notified    MPIRMA_Put_notify puts the block and tells the consumer, which waits for that. When
 *               the consumer has used the block it sends back a notification without data. So there
 *               is one message each way, and nobody synchronizes. Each place has numbers of its
 *               own, since notifications may be seen in any order.
 *   put         MPI has three calls for the same: MPI_Put, MPI_Win_flush, which completes it at the
 *               target (MPI 4.1, 12.5.4), and MPI_Accumulate of a number, at which the consumer
 *               looks.
 *
 * The program checks every element of every block. Without libmpi-rma, or with MPIRMA_DISABLE=1,
 * there are no notifications, and that way is left out.
 */
#include "example.h"
#include <mpi-rma.h>
#include <stdatomic.h>

enum { FULL, EMPTY, NUMBERS }; /* Of each place: a block has come, or the place is free. */

static int rank, size, left, right;
static long n, blocks, places;
static MPI_Win win;
static double *place, *block; /* The window's blocks, and the one that is made. */

/* Two more words, for the way without notifications. */
static MPI_Win word_win;
static _Atomic long *word;

static void make_block(long number)
{
    for (long i = 0; i < n; i++)
        block[i] = (double)(number * size + rank + i);
}

static void use_block(const double *b, long number)
{
    for (long i = 0; i < n; i++)
        if (b[i] != (double)(number * size + left + i))
            wrong("block %ld, element %ld: %g instead of %ld", number, i, b[i],
                  number * size + left + i);
}

static void by_message(void)
{
    MPI_Request request;
    for (long k = 0; k < blocks; k++) {
        make_block(k);
        MPI_Isend(block, (int)n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(place, (int)n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        use_block(place, k);
        wait_all(1, &request);
    }
}

/* The notification of a place. */
static int number_of(int what, long k)
{
    return (int)(k % places) * NUMBERS + what;
}

static void by_notified(void)
{
    for (long k = 0; k < blocks; k++) {
        const long at = k % places * n;
        const int full = number_of(FULL, k), empty = number_of(EMPTY, k);
        if (k >= places)
            MPIRMA_Notify_wait(win, right, empty, 1);
        make_block(k);
        MPIRMA_Put_notify(block, (int)n, MPI_DOUBLE, right, at, (int)n, MPI_DOUBLE, win, full);
        MPIRMA_Notify_wait(win, left, full, 1);
        use_block(place + at, k);
        MPIRMA_Put_notify(NULL, 0, MPI_DOUBLE, left, 0, 0, MPI_DOUBLE, win, empty);
        MPI_Win_flush_local(right, win);
    }
    for (long k = 0; k < places && k < blocks; k++)
        MPIRMA_Notify_wait(win, right, number_of(EMPTY, k), 1);
}

static void raise_word(int at, int target)
{
    const long one = 1;
    MPI_Accumulate(&one, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM, word_win);
    MPI_Win_flush(target, word_win);
}

/* Looking is polling: MPI_Win_sync has the consumer's own memory looked at anew (12.7), and
 * MPI_Iprobe lets a host that needs calls for its progress have one. */
static void await_word(int at, long value)
{
    int flag;
    while (atomic_load_explicit(&word[at], memory_order_acquire) < value) {
        MPI_Win_sync(word_win);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        let_others_run();
    }
    MPI_Win_sync(win);
}

static void by_put(void)
{
    for (long k = 0; k < blocks; k++) {
        const long at = k % places * n;
        await_word(EMPTY, k - places + 1);
        make_block(k);
        MPI_Put(block, (int)n, MPI_DOUBLE, right, at, (int)n, MPI_DOUBLE, win);
        MPI_Win_flush(right, win);
        raise_word(FULL, right);
        await_word(FULL, k + 1);
        use_block(place + at, k);
        raise_word(EMPTY, left);
    }
    await_word(EMPTY, blocks);
}

/* All blocks by one way, in a passive epoch of both windows. MPIRMA_Notify_read tells whether there
 * are notifications. */
static double run(void (*work)(void))
{
    MPI_Count nothing;
    if (work == by_notified && MPIRMA_Notify_read(win, MPI_ANY_SOURCE, FULL, &nothing))
        return -1;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, word_win);
    word[FULL] = word[EMPTY] = 0;
    MPI_Win_sync(word_win);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    work();
    const double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(word_win);
    MPI_Win_unlock_all(win);
    return took;
}

int main(int argc, char **argv)
{
    static const struct way ways[] = {
        {"message", by_message}, {"notified", by_notified}, {"put", by_put}, {NULL, NULL}};
    struct argument a[] = {{"n", 128, NULL, "elements of a block, 8 bytes each"},
                           {"blocks", 1000, NULL, "how many each process hands on"},
                           {"places", 4, NULL, "blocks that may be under way to a process"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "message, notified, put or all"},
                           {NULL, 0, NULL, NULL}};
    char numbers[24];
    MPI_Info info;
    begin_example(&argc, &argv, a, &rank, &size);
    n = a[0].number;
    blocks = a[1].number;
    places = a[2].number;
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;

    if (places * NUMBERS > MPIRMA_MAX_NOTIFICATIONS)
        wrong("there are notifications for %d places", MPIRMA_MAX_NOTIFICATIONS / NUMBERS);

    MPI_Info_create(&info);
    snprintf(numbers, sizeof numbers, "%ld", places * NUMBERS);
    MPI_Info_set(info, "mpirma_notifications", numbers);
    MPI_Win_allocate(whole_lines((size_t)(places * n) * sizeof(double)), sizeof(double), info,
                     MPI_COMM_WORLD, &place, &win);
    MPI_Info_free(&info);
    MPI_Win_allocate(64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &word, &word_win);
    block = zeroed((size_t)n, sizeof(double));
    if (rank == 0)
        printf("notified_ring: blocks of %ld bytes; microseconds a block\n",
               n * (long)sizeof(double));
    measure(ways, run, a[4].text, a[3].number, 1e6 / (double)blocks);
    MPI_Win_free(&word_win);
    MPI_Win_free(&win);
    free(block);
    MPI_Finalize();
    return 0;
}
