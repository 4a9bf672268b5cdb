/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tuning.c - a program that is slow for four reasons, which mpi-rma-trace names one after the other
 * (doc/tuning.md). The argument changes=N runs it with the first N of them mended.
 *
 * In each round a rank walks down a tree that rank 0 has, updates its part of the field, sends the
 * border to its partner value by value, and one rank in turn writes its part out. The computation
 * is sleep, so that the times are those of the communication and its waiting wherever the program
 * runs, and need no processor for each rank.
 *
 *   changes=1   readers of the tree share the lock
 *   changes=2   one flush after all values of the border
 *   changes=3   the rank with the larger part has as much to do as the others
 *   changes=4   partners post and start instead of all ranks in a fence
 */
#include "example.h"

enum { TREE = 64, LEVELS = 3, BORDER = 64 };

static int rank, size, partner;
static long rounds, changes;
static double *tree, *border, *state;
static long *written;
static MPI_Win tree_win, border_win, state_win, written_win;
static MPI_Group partners;

static void compute(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

/* From the root to a leaf: each node says where the next one is. */
static void walk(void)
{
    double node = 0;
    MPI_Win_lock(changes >= 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, tree_win);
    for (int level = 0; level < LEVELS; level++) {
        MPI_Get(&node, 1, MPI_DOUBLE, 0, (MPI_Aint)node, 1, MPI_DOUBLE, tree_win);
        MPI_Win_flush(0, tree_win);
        if (level + 1 < LEVELS)
            compute(1000);
    }
    MPI_Win_unlock(0, tree_win);
    if (node != 7)
        wrong("the walk ends at %g", node);
}

static void update(void)
{
    int larger = rank == size - 1 && changes < 3;
    compute(larger ? 5000 : 1500);
}

static void send_border(long round)
{
    double value[BORDER];
    for (int i = 0; i < BORDER; i++) {
        value[i] = (double)round * BORDER + i;
        MPI_Put(&value[i], 1, MPI_DOUBLE, partner, i, 1, MPI_DOUBLE, border_win);
        if (changes < 2)
            MPI_Win_flush(partner, border_win);
    }
    if (changes >= 2)
        MPI_Win_flush(partner, border_win);
}

/* Each rank in its turn, so that not all want the disk at once. */
static void write_out(long round)
{
    long one = 1, before;
    if (round % size != rank)
        return;
    compute(3000);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, written_win);
    MPI_Win_flush(0, written_win);
}

/* Both partners have this round's values of each other behind it. Rounds use two places in turn,
 * for behind a fence the partner may put those of the next round before we have looked. */
static void meet(long round)
{
    double value = (double)round;
    MPI_Put(&value, 1, MPI_DOUBLE, partner, round % 2, 1, MPI_DOUBLE, state_win);
    if (changes >= 4) {
        MPI_Win_complete(state_win);
        MPI_Win_wait(state_win);
    } else
        MPI_Win_fence(0, state_win);
    MPI_Win_sync(border_win);
    if (state[round % 2] != (double)round || border[BORDER - 1] < (double)round * BORDER)
        wrong("in round %ld the partner's values are of round %g", round, state[round % 2]);
}

static void expose(void)
{
    if (changes >= 4) {
        MPI_Win_post(partners, 0, state_win);
        MPI_Win_start(partners, 0, state_win);
    }
}

static double run(void)
{
    double start = MPI_Wtime();
    if (changes < 4)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, state_win);
    for (long round = 0; round < rounds; round++) {
        expose();
        walk();
        update();
        send_border(round);
        write_out(round);
        meet(round);
    }
    return MPI_Wtime() - start;
}

static void make_window(size_t bytes, const char *name, void *memory, MPI_Win *win)
{
    MPI_Win_allocate(whole_lines(bytes), 8, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win);
    MPI_Win_set_name(*win, name);
}

static void make_windows(void)
{
    MPI_Group all;
    make_window(TREE * sizeof *tree, "tree", &tree, &tree_win);
    make_window(BORDER * sizeof *border, "border", &border, &border_win);
    make_window(2 * sizeof *state, "state", &state, &state_win);
    make_window(sizeof *written, "written", &written, &written_win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, tree_win);
    for (int i = 0; i < TREE; i++) /* node 0 leads to 3, 3 to 5, 5 to 7 */
        tree[i] = i ? i + 2 : 3;
    MPI_Win_unlock(rank, tree_win);
    MPI_Win_lock_all(0, border_win);
    memset(border, 0, BORDER * sizeof *border);
    MPI_Win_lock_all(0, written_win);
    *written = 0;
    MPI_Win_sync(border_win);
    MPI_Win_sync(written_win);
    MPI_Win_get_group(state_win, &all);
    MPI_Group_incl(all, 1, &partner, &partners);
    MPI_Group_free(&all);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void free_windows(void)
{
    long all = 0, none = 0;
    MPI_Fetch_and_op(&none, &all, MPI_LONG, 0, 0, MPI_NO_OP, written_win);
    MPI_Win_unlock_all(written_win);
    MPI_Win_unlock_all(border_win);
    if (all > rounds)
        wrong("%ld parts are written in %ld rounds", all, rounds);
    MPI_Win_free(&tree_win);
    MPI_Win_free(&border_win);
    MPI_Win_free(&state_win);
    MPI_Win_free(&written_win);
    MPI_Group_free(&partners);
}

int main(int argc, char **argv)
{
    struct argument arguments[] = {{"rounds", 40, NULL, "how often all is done"},
                                   {"changes", 0, "0", "how many reasons are mended, 0 to 4"},
                                   {NULL, 0, NULL, NULL}};
    double mine, slowest;
    begin_example(&argc, &argv, arguments, &rank, &size);
    rounds = arguments[0].number;
    changes = strtol(arguments[1].text, NULL, 10);
    partner = rank ^ 1;
    if (size % 2)
        wrong("each rank needs a partner, and there are %d", size);
    make_windows();
    mine = run();
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    free_windows();
    if (rank == 0)
        printf("tuning: %d ranks, %ld rounds, %ld changes: %.1f ms\n", size, rounds, changes,
               slowest * 1e3);
    MPI_Finalize();
    return 0;
}
