/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flag.c - handing data over in shared memory: one process stores, the other must know when it may
 * load. Two processes of a node pass a block to and fro; each adds 1 to all of it.
 *
 * What is wrong, in any language: plain stores of the data and then of a flag, and a loop of plain
 * loads until the flag is there. The compiler may load the flag once, or exchange the two stores;
 * so may some processors. Four ways that are right:
 *
 *   message     the block itself goes by MPI_Send and MPI_Recv, as the reference
 *   atomic      a flag of C11: a store with release after the data, loads with acquire until it is
 *               there
 *   sync        an empty message instead of a flag, with MPI_Win_sync behind the stores and before
 *               the loads: the message orders the two processes, MPI_Win_sync orders memory
 *   fence       MPI_Win_fence, which does both for all processes of the window
 *   operation   a flag that is changed and looked at by MPI_Fetch_and_op only
 *
 * Checked: every element of the block at every turn.
 */
#include "example.h"
#include <stdatomic.h>

static int rank, size; /* in the node */
static long n, turns;
static MPI_Comm node;
static int other; /* our partner, or -1 for one that is left over */

/* Each pair uses the window of its first process: a flag with a cache line of its own, the block.
 */
struct part {
    _Atomic long flag;
    char rest[64 - sizeof(long)];
    double block[];
};
static MPI_Win win;
static struct part *part;
static double *private_block; /* for messages */

static int first(void)
{
    return rank < other;
}

/* One turn's work: what the partner left is turn - 1, we leave turn. */
static void work(double *block, long turn)
{
    for (long i = 0; i < n; i++) {
        if (block[i] != (double)(turn - 1))
            wrong("at turn %ld element %ld is %g instead of %ld", turn, i, block[i], turn - 1);
        block[i] = (double)turn;
    }
}

/* The first process of a pair has the odd turns. */
static int our_turn(long turn)
{
    return other >= 0 && turn % 2 == first();
}

static void begin(void)
{
    MPI_Win_fence(0, win);
    if (other >= 0 && first()) {
        atomic_store_explicit(&part->flag, 0, memory_order_relaxed);
        memset(part->block, 0, (size_t)n * sizeof(double));
    }
    memset(private_block, 0, (size_t)n * sizeof(double));
    MPI_Win_fence(0, win);
}

static double by_message(void)
{
    begin();
    double began = MPI_Wtime();
    for (long turn = 1; turn <= turns && other >= 0; turn++) {
        if (our_turn(turn)) {
            work(private_block, turn);
            MPI_Send(private_block, (int)n, MPI_DOUBLE, other, 0, node);
        } else {
            MPI_Recv(private_block, (int)n, MPI_DOUBLE, other, 0, node, MPI_STATUS_IGNORE);
        }
    }
    return MPI_Wtime() - began;
}

static double by_atomic(void)
{
    begin();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    double began = MPI_Wtime();
    for (long turn = 1; turn <= turns; turn++) {
        if (!our_turn(turn))
            continue;
        while (atomic_load_explicit(&part->flag, memory_order_acquire) != turn - 1)
            let_others_run();
        work(part->block, turn);
        atomic_store_explicit(&part->flag, turn, memory_order_release);
    }
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(win);
    return took;
}

static double by_sync(void)
{
    begin();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    double began = MPI_Wtime();
    for (long turn = 1; turn <= turns && other >= 0; turn++) {
        if (our_turn(turn)) {
            work(part->block, turn);
            MPI_Win_sync(win);
            MPI_Send(NULL, 0, MPI_BYTE, other, 0, node);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, other, 0, node, MPI_STATUS_IGNORE);
            MPI_Win_sync(win);
        }
    }
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(win);
    return took;
}

static double by_fence(void)
{
    begin();
    double began = MPI_Wtime();
    for (long turn = 1; turn <= turns; turn++) {
        if (our_turn(turn))
            work(part->block, turn);
        MPI_Win_fence(0, win);
    }
    return MPI_Wtime() - began;
}

/* The flag lies in the window of the pair's first process. MPI_Win_sync orders our stores before
 * the operation that changes the flag, and our loads behind the one that found it changed. */
static double by_operation(void)
{
    int owner = first() ? rank : other;
    begin();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    double began = MPI_Wtime();
    for (long turn = 1; turn <= turns; turn++) {
        long flag, unused = 0;
        if (!our_turn(turn))
            continue;
        do {
            let_others_run();
            MPI_Fetch_and_op(&unused, &flag, MPI_LONG, owner, 0, MPI_NO_OP, win);
            MPI_Win_flush(owner, win);
        } while (flag != turn - 1);
        MPI_Win_sync(win);
        work(part->block, turn);
        MPI_Win_sync(win);
        MPI_Fetch_and_op(&turn, &flag, MPI_LONG, owner, 0, MPI_REPLACE, win);
        MPI_Win_flush(owner, win);
    }
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(win);
    return took;
}

static const struct way ways[] = {{"message", by_message},     {"atomic", by_atomic},
                                  {"sync", by_sync},           {"fence", by_fence},
                                  {"operation", by_operation}, {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument a[] = {{"n", 128, NULL, "elements of a block, 8 bytes each"},
                           {"turns", 1000, NULL, "how often the block is handed over"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "message, atomic, sync, fence, operation or all"},
                           {NULL, 0, NULL, NULL}};
    struct times times;
    int world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    read_arguments(argc, argv, a);
    n = a[0].number;
    turns = a[1].number;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    other = (rank ^ 1) < size ? rank ^ 1 : -1;

    /* The first process of a pair, or the one left over, gives the memory. */
    int owner = rank & ~1, unit;
    MPI_Aint bytes = whole_lines(sizeof(struct part) + (size_t)n * sizeof(double));
    MPI_Win_allocate_shared(rank == owner ? bytes : 0, 1, MPI_INFO_NULL, node, &part, &win);
    MPI_Win_shared_query(win, owner, &bytes, &unit, &part);
    private_block = zeroed((size_t)n, sizeof(double));
    if (world == 0)
        printf("flag: pairs of processes, %ld bytes; microseconds a turn\n",
               n * (long)sizeof(double));
    run_ways(ways, a[3].text, a[2].number, &times);
    print_ways(ways, &times, 1e6 / (double)turns);
    MPI_Win_free(&win);
    free(private_block);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
