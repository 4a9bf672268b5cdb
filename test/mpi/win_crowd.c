/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_crowd.c - windows of more than 128 processes, which compare a digest first (doc/scaling.md):
 * some that are the same everywhere, some whose size or displacement unit differs at one process,
 * and some after a part of the processes has made a window of its own. Each process puts to its
 * neighbour and to one far away, and verifies what it gets.
 */
#include "mtest.h"

enum { WORDS = 64, KINDS = 6 };
enum { NEXT = 1, FAR = 2 }; /* indices of the words that are put */

/* The displacement unit of a process, in words. */
static int unit_of(int kind, int rank, int nprocs)
{
    if (kind == 2)
        return 3;
    return kind == 4 && rank == nprocs / 3 ? 2 : 1;
}

static int size_of(int kind, int rank, int nprocs)
{
    return WORDS + (kind == 3 && rank == nprocs / 2 ? WORDS : 0);
}

/* One-to-one for all n that 7 does not divide. */
static int far_from(int rank, int nprocs)
{
    return (rank * 7 + 3) % nprocs;
}

static void put_word(int word, int to, int at, int kind, int nprocs, MPI_Win win)
{
    MT_OK(MPI_Put(&word, 1, MPI_INT, to, at * (6 / unit_of(kind, to, nprocs)), 1, MPI_INT, win));
}

static void one(MPI_Comm comm, int kind)
{
    int rank, nprocs, *base;
    MPI_Win win;
    MT_OK(MPI_Comm_rank(comm, &rank));
    MT_OK(MPI_Comm_size(comm, &nprocs));
    MT_OK(MPI_Win_allocate(size_of(kind, rank, nprocs) * (MPI_Aint)sizeof(int),
                           unit_of(kind, rank, nprocs) * (int)sizeof(int), MPI_INFO_NULL, comm,
                           &base, &win));
    for (int i = 0; i < size_of(kind, rank, nprocs); i++)
        base[i] = -1;
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    put_word(rank * KINDS + kind, (rank + 1) % nprocs, NEXT, kind, nprocs, win);
    put_word(rank * KINDS + kind, far_from(rank, nprocs), FAR, kind, nprocs, win);
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < size_of(kind, rank, nprocs); i++) {
        int expected = -1;
        if (i == 6 * NEXT)
            expected = (rank + nprocs - 1) % nprocs * KINDS + kind;
        for (int from = 0; from < nprocs && i == 6 * FAR; from++)
            if (far_from(from, nprocs) == rank)
                expected = from * KINDS + kind;
        CHECK(base[i] == expected, "kind %d, word %d is %d, expected %d", kind, i, base[i],
              expected);
    }
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MPI_Comm backwards, half;
    MT_INIT(argc, argv);
    for (int round = 0; round < 2; round++)
        for (int kind = 0; kind < KINDS; kind++)
            one(MPI_COMM_WORLD, kind);
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -mt_rank, &backwards));
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, mt_rank, &half));
    one(backwards, 0);
    one(backwards, 3);
    if (mt_rank % 2)
        one(half, 1);
    one(MPI_COMM_WORLD, 0);
    one(MPI_COMM_WORLD, 4);
    MT_OK(MPI_Comm_free(&backwards));
    MT_OK(MPI_Comm_free(&half));
    return MT_FINISH();
}
