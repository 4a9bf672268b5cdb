/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * card_notify.c - a pipe between neighbours by notified puts in one epoch of MPI_Win_lock_all, with
 * every value looked at: each rank puts blocks to its right neighbour, up to DEPTH ahead of what
 * that one has looked at and given back by a notified put of a counter in the other direction.
 *
 * Arguments: the number of blocks, 1000 if there is none; "dynamic": the memory is malloc's,
 * attached to a dynamic window; "large": only lengths that every fabric writes by itself;
 * "windows": after each hundred blocks the window is freed and made anew.
 *
 * Started by card_notify.sh as well, which counts what the network was asked to do: a block is two
 * puts of the rank, and no flush that asks the target for anything.
 */
#include "mtest.h"

#include <mpi-rma.h>
#include <stddef.h>

enum { DEPTH = 4, WORDS = 8000, GIVEN_BACK = DEPTH };

struct part {
    uint64_t blocks[DEPTH][WORDS]; /* from the left neighbour */
    uint64_t unused[2];            /* by either neighbour, to begin with */
    uint64_t given_back;           /* the right neighbour has looked at so many blocks */
};

static const int small_lengths[] = {1, 8, 25, 512, 1125, 5000, WORDS},
                 large_lengths[] = {1125, 2000, 5000, WORDS};

static struct part *mine;
static MPI_Win win;
static int right, left;
static MPI_Aint at_right, at_left; /* where the neighbours' parts are in the window */
static bool dynamic, large;

static uint64_t value(int rank, int block, int i)
{
    return (uint64_t)(rank + 1) << 56 | (uint64_t)(unsigned)block << 24 | (uint64_t)(unsigned)i;
}

static int length_of(int block)
{
    return large ? large_lengths[block % (int)(sizeof large_lengths / sizeof *large_lengths)]
                 : small_lengths[block % (int)(sizeof small_lengths / sizeof *small_lengths)];
}

static void attach_memory(void)
{
    MPI_Aint at;
    mine = malloc(sizeof *mine);
    MT_OK(MPI_Win_attach(win, mine, sizeof *mine));
    MPI_Get_address(mine, &at);
    MPI_Sendrecv(&at, 1, MPI_AINT, left, 0, &at_right, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&at, 1, MPI_AINT, right, 1, &at_left, 1, MPI_AINT, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void make_window(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "5");
    if (dynamic) {
        MT_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
        attach_memory();
    } else {
        MT_OK(MPI_Win_allocate(sizeof *mine, 1, info, MPI_COMM_WORLD, &mine, &win));
    }
    MPI_Info_free(&info);
    memset(mine, 0, sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void free_window(void)
{
    if (dynamic) {
        MPI_Barrier(MPI_COMM_WORLD);
        MT_OK(MPI_Win_detach(win, mine));
        free(mine);
    }
    MT_OK(MPI_Win_free(&win));
}

/* Block k of this window goes where block k - DEPTH was, when that has been given back. */
static void send(int block, int k)
{
    static uint64_t out[DEPTH][WORDS];
    const int n = length_of(block), slot = k % DEPTH;
    if (k >= DEPTH)
        MT_OK(MPIRMA_Notify_wait(win, right, GIVEN_BACK, 1));
    MT_OK(MPI_Win_flush_local(right, win));
    for (int i = 0; i < n; i++)
        out[slot][i] = value(mt_rank, block, i);
    MT_OK(MPIRMA_Put_notify(out[slot], n, MPI_UINT64_T, right,
                            at_right + (MPI_Aint)offsetof(struct part, blocks) +
                                slot * (MPI_Aint)sizeof mine->blocks[0],
                            n, MPI_UINT64_T, win, slot));
}

static void receive(int block, int k)
{
    static uint64_t seen;
    const int n = length_of(block), slot = k % DEPTH;
    int wrong = 0;
    MT_OK(MPIRMA_Notify_wait(win, left, slot, 1));
    for (int i = 0; i < n; i++)
        wrong += mine->blocks[slot][i] != value(left, block, i);
    CHECK(wrong == 0, "%d of %d values of block %d", wrong, n, block);
    MT_OK(MPI_Win_flush_local(left, win));
    seen = (uint64_t)k + 1;
    MT_OK(MPIRMA_Put_notify(&seen, 1, MPI_UINT64_T, left,
                            at_left + (MPI_Aint)offsetof(struct part, given_back), 1, MPI_UINT64_T,
                            win, GIVEN_BACK));
}

/* The lock of a neighbour is held, and its region known, when a put to it has been flushed. */
static void begin(int neighbour, MPI_Aint at)
{
    static const uint64_t nothing;
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Put(&nothing, 1, MPI_UINT64_T, neighbour,
                      at + (MPI_Aint)offsetof(struct part, unused[neighbour == right]), 1,
                      MPI_UINT64_T, win));
        MT_OK(MPI_Win_flush(neighbour, win));
    }
}

/* So many blocks in one window. What gives the last ones back is awaited by nobody. */
static void pass(int first, int n)
{
    MT_OK(MPI_Win_lock_all(0, win));
    begin(right, at_right);
    if (left != right)
        begin(left, at_left);
    for (int k = 0; k < n + DEPTH - 1; k++) {
        if (k < n)
            send(first + k, k);
        if (k >= DEPTH - 1)
            receive(first + k - (DEPTH - 1), k - (DEPTH - 1));
    }
    MT_OK(MPI_Win_unlock_all(win));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int blocks = argc > 1 ? atoi(argv[1]) : 1000;
    const int each = mt_is_asked(argc, argv, "windows") ? 100 : blocks;
    dynamic = mt_is_asked(argc, argv, "dynamic");
    large = mt_is_asked(argc, argv, "large");
    mt_timeout(280);
    mt_section("%d blocks", blocks);
    right = (mt_rank + 1) % mt_size;
    left = (mt_rank + mt_size - 1) % mt_size;
    for (int first = 0; first < blocks; first += each) {
        make_window();
        pass(first, each);
        free_window();
    }
    return MT_FINISH();
}
