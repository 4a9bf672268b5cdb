/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * card_ops.c - ROUNDS of puts, gets and flushes in one epoch of MPI_Win_lock_all, from each rank to
 * its right neighbour, with every value looked at.
 *
 * Started by card_ops.sh, which counts what the network was asked to do and knows how often each
 * operation is called here. After a flush a message of the host tells the neighbour, who finds the
 * data in its memory. With "mixed", each round has accumulates on what was put as well, and puts on
 * what was accumulated, with flushes between them. With "dynamic" the memory is malloc's, attached
 * to a dynamic window.
 */
#include "mtest.h"

#include <stddef.h>

enum { SLOTS = 64, LARGE = 40000, STRIDE = 3, PIECES = 4, SUMS = 8 };

/* What each rank's left neighbour writes. */
struct part {
    uint64_t slots[SLOTS];
    uint64_t rows[PIECES * STRIDE];
    uint64_t sums[SUMS];
    unsigned char large[LARGE];
};

static const int lengths[] = {1, 64, 200, 4096, 9000, LARGE};

static struct part *mine;
static MPI_Win win;
static int to, from;
static MPI_Aint begin; /* of the right neighbour's part in the window */

#define AT(field) (begin + (MPI_Aint)offsetof(struct part, field))

static uint64_t value(int rank, int round, int i)
{
    return (uint64_t)(rank + 1) << 48 | (uint64_t)(unsigned)round << 16 | (uint64_t)(unsigned)i;
}

static unsigned char byte(int rank, int round, int i)
{
    return (unsigned char)(rank * 31 + round * 7 + i * 3 + (i >> 8));
}

static void flush(void)
{
    MT_OK(MPI_Win_flush(to, win));
}

/* 64 puts, a flush, a get, a flush. */
static void many_small(int round)
{
    uint64_t out[SLOTS], in[SLOTS] = {0};
    for (int i = 0; i < SLOTS; i++) {
        out[i] = value(mt_rank, round, i);
        MT_OK(MPI_Put(&out[i], 1, MPI_UINT64_T, to, AT(slots) + 8 * i, 1, MPI_UINT64_T, win));
    }
    flush();
    MT_OK(MPI_Get(in, SLOTS, MPI_UINT64_T, to, AT(slots), SLOTS, MPI_UINT64_T, win));
    flush();
    for (int i = 0; i < SLOTS; i++)
        CHECK(in[i] == out[i], "slot %d of round %d", i, round);
}

/* A put, a flush, a get, a flush. */
static void any_length(int round)
{
    static unsigned char out[LARGE], in[LARGE];
    const int n = lengths[round % (int)(sizeof lengths / sizeof *lengths)];
    int wrong = 0;
    for (int i = 0; i < n; i++)
        out[i] = byte(mt_rank, round, i);
    memset(in, 0, (size_t)n);
    MT_OK(MPI_Put(out, n, MPI_BYTE, to, AT(large), n, MPI_BYTE, win));
    flush();
    MT_OK(MPI_Get(in, n, MPI_BYTE, to, AT(large), n, MPI_BYTE, win));
    flush();
    for (int i = 0; i < n; i++)
        wrong += in[i] != out[i];
    CHECK(wrong == 0, "%d of %d bytes of round %d", wrong, n, round);
}

/* A put of four pieces, a flush, a get of them, a flush. */
static void in_pieces(int round, MPI_Datatype rows)
{
    uint64_t out[PIECES], in[PIECES] = {0};
    for (int i = 0; i < PIECES; i++)
        out[i] = value(mt_rank, round, 100 + i);
    MT_OK(MPI_Put(out, PIECES, MPI_UINT64_T, to, AT(rows), 1, rows, win));
    flush();
    MT_OK(MPI_Get(in, PIECES, MPI_UINT64_T, to, AT(rows), 1, rows, win));
    flush();
    for (int i = 0; i < PIECES; i++)
        CHECK(in[i] == out[i], "piece %d of round %d", i, round);
}

/* Accumulates go by packet, and what is put before and behind a flush stays in its order. */
static void with_accumulates(int round)
{
    uint64_t out[SUMS], add[SUMS], in[SUMS] = {0}, one = 1, old = 0;
    for (int i = 0; i < SUMS; i++) {
        out[i] = value(mt_rank, round, 200 + i);
        add[i] = (uint64_t)(unsigned)(i + 1);
    }
    MT_OK(MPI_Put(out, SUMS, MPI_UINT64_T, to, AT(sums), SUMS, MPI_UINT64_T, win));
    flush();
    MT_OK(MPI_Accumulate(add, SUMS, MPI_UINT64_T, to, AT(sums), SUMS, MPI_UINT64_T, MPI_SUM, win));
    MT_OK(MPI_Put(out, 1, MPI_UINT64_T, to, AT(rows), 1, MPI_UINT64_T, win));
    flush();
    MT_OK(MPI_Get(in, SUMS, MPI_UINT64_T, to, AT(sums), SUMS, MPI_UINT64_T, win));
    flush();
    for (int i = 0; i < SUMS; i++)
        CHECK(in[i] == out[i] + add[i], "sum %d of round %d", i, round);
    MT_OK(MPI_Put(&out[1], 1, MPI_UINT64_T, to, AT(sums), 1, MPI_UINT64_T, win));
    flush();
    MT_OK(MPI_Fetch_and_op(&one, &old, MPI_UINT64_T, to, AT(sums), MPI_SUM, win));
    flush();
    CHECK(old == out[1], "what was put is fetched in round %d", round);
    MT_OK(MPI_Get(in, 1, MPI_UINT64_T, to, AT(sums), 1, MPI_UINT64_T, win));
    flush();
    CHECK(in[0] == out[1] + 1, "what was added is got in round %d", round);
}

/* What was flushed is in the target's memory, as soon as the target hears of it. */
static void target_looks(int round)
{
    const int n = lengths[round % (int)(sizeof lengths / sizeof *lengths)];
    uint64_t out[SLOTS];
    int said = round, heard = -1, wrong = 0;
    for (int i = 0; i < SLOTS; i++) {
        out[i] = value(mt_rank, round, 300 + i);
        MT_OK(MPI_Put(&out[i], 1, MPI_UINT64_T, to, AT(slots) + 8 * i, 1, MPI_UINT64_T, win));
    }
    flush();
    MPI_Sendrecv(&said, 1, MPI_INT, to, 0, &heard, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MT_OK(MPI_Win_sync(win));
    CHECK(heard == round, "the neighbours are in the same round");
    for (int i = 0; i < SLOTS; i++)
        wrong += mine->slots[i] != value(from, round, 300 + i);
    for (int i = 0; i < n; i++)
        wrong += mine->large[i] != byte(from, round, i);
    CHECK(wrong == 0, "%d values of round %d", wrong, round);
    MPI_Sendrecv(&said, 1, MPI_INT, from, 1, &heard, 1, MPI_INT, to, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void make_window(bool dynamic)
{
    if (!dynamic) {
        MT_OK(MPI_Win_allocate(sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
        return;
    }
    MPI_Aint at;
    mine = malloc(sizeof *mine);
    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_attach(win, mine, sizeof *mine));
    MPI_Get_address(mine, &at);
    MPI_Sendrecv(&at, 1, MPI_AINT, from, 0, &begin, 1, MPI_AINT, to, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Datatype rows;
    MT_INIT(argc, argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 16;
    const bool mixed = mt_is_asked(argc, argv, "mixed"),
               dynamic = mt_is_asked(argc, argv, "dynamic");
    mt_timeout(280);
    mt_section("%d rounds", rounds);
    to = (mt_rank + 1) % mt_size;
    from = (mt_rank + mt_size - 1) % mt_size;
    MPI_Type_vector(PIECES, 1, STRIDE, MPI_UINT64_T, &rows);
    MPI_Type_commit(&rows);
    make_window(dynamic);
    memset(mine, 0, sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_lock_all(0, win));
    many_small(-1); /* asks for the lock, and for the region */
    for (int round = 0; round < rounds; round++) {
        many_small(round);
        any_length(round);
        in_pieces(round, rows);
        if (mixed)
            with_accumulates(round);
        target_looks(round);
    }
    MT_OK(MPI_Win_unlock_all(win));
    if (dynamic) {
        MPI_Barrier(MPI_COMM_WORLD);
        MT_OK(MPI_Win_detach(win, mine));
        free(mine);
    }
    MT_OK(MPI_Win_free(&win));
    MPI_Type_free(&rows);
    return MT_FINISH();
}
