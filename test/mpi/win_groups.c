/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_groups.c - windows of processes that know each other in part: on communicators that overlap,
 * in turn, in other orders, made again and again, merged, and many at once. The first windows of
 * the program are those of pairs, so that records meet in every way.
 *
 * In each window every process puts its number to its neighbour, adds to a sum at rank 0, and reads
 * from the last rank. Sizes and displacement units are the same for all, or differ.
 */
#include "mtest.h"

#include <stddef.h>

enum { ROUNDS = 3, OPEN = 5, KINDS = 4 };

/* What a process has in a window: the neighbour's number, the sum, its own number. */
struct memory {
    int64_t from, sum, own, more[8];
};

struct window {
    MPI_Comm comm;
    MPI_Win win;
    struct memory *at, mine;
    int kind, rank, size;
};

static int unit_of(int kind, int rank)
{
    static const int unit[KINDS] = {8, 1, 24, 0};
    return unit[kind] ? unit[kind] : 8 << rank % 2;
}

static void open_window(MPI_Comm comm, int kind, struct window *w)
{
    w->comm = comm;
    w->kind = kind % KINDS;
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    const MPI_Aint bytes = (MPI_Aint)sizeof *w->at - (w->kind == 1 ? 8 * (w->rank % 3) : 0);
    const int unit = unit_of(w->kind, w->rank);
    w->at = &w->mine;
    if (w->kind % 2)
        MT_OK(MPI_Win_create(w->at, bytes, unit, MPI_INFO_NULL, comm, &w->win));
    else
        MT_OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &w->at, &w->win));
    w->at->from = w->at->sum = 0;
    w->at->own = 1000 + w->rank;
}

/* A field of rank's memory, in its units; -1: it does not begin at one. */
static MPI_Aint disp_of(const struct window *w, int rank, size_t field)
{
    const size_t unit = (size_t)unit_of(w->kind, rank);
    return field % unit ? -1 : (MPI_Aint)(field / unit);
}

static void use_window(struct window *w)
{
    const int last = w->size - 1;
    const MPI_Aint sum = disp_of(w, 0, offsetof(struct memory, sum)),
                   own = disp_of(w, last, offsetof(struct memory, own));
    int64_t number = w->rank + 1, one = 1, read = 0;

    MT_OK(MPI_Win_fence(0, w->win));
    MT_OK(MPI_Put(&number, 1, MPI_INT64_T, (w->rank + 1) % w->size, 0, 1, MPI_INT64_T, w->win));
    if (sum >= 0)
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, sum, 1, MPI_INT64_T, MPI_SUM, w->win));
    if (own >= 0)
        MT_OK(MPI_Get(&read, 1, MPI_INT64_T, last, own, 1, MPI_INT64_T, w->win));
    MT_OK(MPI_Win_fence(0, w->win));
    CHECK(w->at->from == (w->rank + last) % w->size + 1, "rank %d of %d got %lld", w->rank, w->size,
          (long long)w->at->from);
    CHECK(w->rank || sum < 0 || w->at->sum == w->size, "the sum of %d is %lld", w->size,
          (long long)w->at->sum);
    CHECK(own < 0 || read == 1000 + last, "read %lld", (long long)read);
}

static void one_window(MPI_Comm comm, int kind)
{
    struct window w;

    open_window(comm, kind, &w);
    use_window(&w);
    MT_OK(MPI_Win_free(&w.win));
}

/* Several at once, freed in another order than they were made in. */
static void many_windows(MPI_Comm comm)
{
    static const int order[OPEN] = {2, 4, 0, 1, 3};
    struct window w[OPEN];

    mt_section("many windows");
    for (int i = 0; i < OPEN; i++)
        open_window(comm, i, &w[i]);
    for (int i = 0; i < OPEN; i++)
        use_window(&w[order[i]]);
    for (int i = 0; i < OPEN; i++)
        MT_OK(MPI_Win_free(&w[order[i]].win));
}

/* A chain of pairs: each process but the last ones is in two of them. */
static void pairs(void)
{
    MPI_Comm pair[2];

    mt_section("pairs");
    for (int odd = 0; odd < 2; odd++)
        MPI_Comm_split(MPI_COMM_WORLD, (mt_rank + odd) / 2, odd ? -mt_rank : mt_rank, &pair[odd]);
    for (int i = 0; i < ROUNDS; i++)
        for (int odd = 0; odd < 2; odd++)
            one_window(pair[odd], i);
    MPI_Comm_free(&pair[0]);
    MPI_Comm_free(&pair[1]);
}

/* Thirds, halves, everybody, and everybody backwards. The communicators are made anew each time,
 * and may have the handles of others before them. */
static void groups(void)
{
    mt_section("groups");
    for (int i = 0; i < ROUNDS; i++)
        for (int parts = 3; parts >= 0; parts--) {
            MPI_Comm comm;
            MPI_Comm_split(MPI_COMM_WORLD, parts ? mt_rank % parts : 0, parts ? mt_rank : -mt_rank,
                           &comm);
            one_window(comm, i + parts);
            MPI_Comm_free(&comm);
        }
}

/* Two groups that have had windows each are merged. */
static void merged(void)
{
    const int half = mt_rank % 2;
    MPI_Comm own, inter, all;

    mt_section("merged");
    MPI_Comm_split(MPI_COMM_WORLD, half, -mt_rank, &own);
    one_window(own, half);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, mt_size - 1 - (mt_size + half) % 2, 7, &inter);
    MPI_Intercomm_merge(inter, half, &all);
    for (int i = 0; i < KINDS; i++)
        one_window(all, i);
    MPI_Comm_free(&all);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    pairs();
    if (mt_size > 1)
        merged();
    groups();
    many_windows(MPI_COMM_WORLD);
    return MT_FINISH();
}
