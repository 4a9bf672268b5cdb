/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence_volume.c - right behind each fence one rank sends its right neighbour much: a large put or
 * accumulate, many small accumulates, many gets. The neighbour may still be in its fence, and what
 * it cannot do yet it can keep only so much of. All arrives in its epoch.
 */
#include "mtcomm.h"

enum {
    LARGE = 1 << 17,
    SMALL = 4000,
    BACK = 16,
    IN_A_ROW = 4
}; /* longs; operations; longs that small accumulates hit */

typedef long any_long __attribute__((aligned(1))); /* the memory of some windows is not aligned */
static long *data;                                 /* what goes out, and comes back */
static any_long *area;                             /* this rank's window */
static struct mt_win w;
static int right, left;

static MPI_Aint at(MPI_Aint cell)
{
    return mt_disp(&w, right, (MPI_Aint)sizeof *area * cell);
}

static long value(int from, int round, long i)
{
    return (long)round * 100000 + from * 10 + i;
}

static void fill(int round)
{
    for (long i = 0; i < LARGE; i++)
        data[i] = value(w.rank, round, i);
}

static void large(bool put)
{
    if (put)
        MT_OK(MPI_Put(data, LARGE, MPI_LONG, right, at(0), LARGE, MPI_LONG, w.win));
    else
        MT_OK(MPI_Accumulate(data, LARGE, MPI_LONG, right, at(0), LARGE, MPI_LONG, MPI_REPLACE,
                             w.win));
}

static void check_large(int round)
{
    long i = 0;
    while (i < LARGE && area[i] == value(left, round, i))
        i++;
    CHECK(i == LARGE, "round %d: cell %ld is %ld, expected %ld", round, i, area[i],
          value(left, round, i));
}

static void small(void)
{
    static const long one = 1;
    for (int i = 0; i < SMALL; i++)
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, right, at(LARGE + i % BACK), 1, MPI_LONG, MPI_SUM,
                             w.win));
}

static void gets(void)
{
    memset(data, 0, SMALL * sizeof *data);
    for (int i = 0; i < SMALL; i++)
        MT_OK(MPI_Get(&data[i], 1, MPI_LONG, right, at(i), 1, MPI_LONG, w.win));
}

static void check_gets(int round)
{
    int i = 0;
    while (i < SMALL && data[i] == value(w.rank, round, i))
        i++;
    CHECK(i == SMALL, "round %d: got %ld from cell %d, expected %ld", round, data[i], i,
          value(w.rank, round, i));
}

/* One sends, all others wait in the fence. */
static void round_of(int round)
{
    const int sender = round % w.size, rounds = round / w.size + (left <= sender);
    const bool sends = w.rank == sender;
    fill(round);
    for (int i = 0; i < IN_A_ROW; i++) { /* the receiver takes in the last one */
        MT_OK(MPI_Win_fence(0, w.win));
        if (sends)
            large(round / w.size % 2);
    }
    MT_OK(MPI_Win_fence(0, w.win));
    if (sends)
        small();
    MT_OK(MPI_Win_fence(0, w.win));
    if (sends)
        gets();
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    if (left == sender)
        check_large(round);
    if (sends)
        check_gets(round);
    for (int i = 0; i < BACK; i++)
        CHECK(area[LARGE + i] == (long)rounds * SMALL / BACK,
              "round %d: sum %d is %ld, expected %ld", round, i, area[LARGE + i],
              (long)rounds * SMALL / BACK);
}

/* All send, again and again. */
static void all_at_once(int rounds)
{
    for (int round = 0; round < 40 * rounds; round++) {
        memset(data, round, LARGE * sizeof *data);
        MT_OK(MPI_Win_fence(0, w.win));
        MT_OK(MPI_Put(data, LARGE, MPI_LONG, right, at(0), LARGE, MPI_LONG, w.win));
        MT_OK(MPI_Win_fence(0, w.win));
        for (size_t i = 0; i < LARGE * sizeof *data; i += 4001)
            CHECK(((char *)area)[i] == (char)round, "round %d: byte %zu is %d", round, i,
                  ((char *)area)[i]);
    }
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int rounds = (int)mt_rounds(60);
    data = malloc(LARGE * sizeof *data);
    CHECK(data != NULL, "no memory");
    MT_FOR_KINDS(kind)
    {
        mt_section("%s", mt_kind_name(kind));
        if (!mt_win_make(&w, kind, (MPI_Aint)sizeof *area * (LARGE + BACK), 1, MPI_COMM_WORLD))
            continue;
        area = (any_long *)(void *)w.base;
        right = (w.rank + 1) % w.size;
        left = (w.rank + w.size - 1) % w.size;
        memset(area, 0, sizeof *area * (LARGE + BACK));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int round = 0; round < rounds; round++)
            round_of(round);
        all_at_once(rounds);
        mt_win_free(&w);
    }
    free(data);
    return MT_FINISH();
}
