/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * both_ways.c - all ranks operate on each other's memory of MPI_Win_create and of dynamic windows
 * at the same time, in passive target epochs: each is target while it is origin. Results are exact:
 * every number that a counter gives out is had once, sums are complete, what one rank has put it
 * gets back, and its accumulates come in the order of its calls.
 *
 * In assisted.sh the statistics show by which way the operations went; here that must make no
 * difference.
 */
#include "mtest.h"

enum {
    TICKETS,
    SUM,
    GUESSED,
    SHARED,
    CELLS = 64
}; /* elements that all change; then a part for each rank */

static struct mt_win memory;
static MPI_Win win;   /* memory's */
static int64_t *area; /* this rank's part */
static struct mt_rng rng;
static int64_t guessed; /* successful compare-and-swaps */
static int rounds;

static MPI_Aint shared(int rank, int cell)
{
    return mt_disp(&memory, rank, (MPI_Aint)sizeof *area * cell);
}

static MPI_Aint part(int rank, int cell)
{
    return shared(rank, SHARED + mt_rank * CELLS + cell);
}

static bool make(enum mt_kind kind)
{
    if (!mt_win_make(&memory, kind, (MPI_Aint)sizeof *area * (SHARED + CELLS * mt_size), 1,
                     MPI_COMM_WORLD))
        return false;
    win = memory.win;
    area = (int64_t *)(void *)memory.base;
    return true;
}

static void flush(int rank)
{
    MT_OK(mt_rng_below(&rng, 2) ? MPI_Win_flush(rank, win) : MPI_Win_flush_all(win));
}

/* The numbers of one counter grow for each origin. Returns their sum. */
static int64_t ticket(int rank, int64_t *last)
{
    const int64_t one = 1;
    int64_t mine = -1;
    MT_OK(MPI_Fetch_and_op(&one, &mine, MPI_INT64_T, rank, shared(rank, TICKETS), MPI_SUM, win));
    MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, rank, shared(rank, SUM), 1, MPI_INT64_T, MPI_SUM,
                         win));
    flush(rank);
    CHECK(mine > last[rank], "rank %d gave %lld after %lld", rank, (long long)mine,
          (long long)last[rank]);
    last[rank] = mine;
    return mine;
}

static void guess(int rank)
{
    int64_t seen = 0, old;
    for (;;) {
        const int64_t wish = seen + 1;
        MT_OK(MPI_Compare_and_swap(&wish, &seen, &old, MPI_INT64_T, rank, shared(rank, GUESSED),
                                   win));
        MT_OK(MPI_Win_flush(rank, win));
        if (old == seen)
            break;
        seen = old;
    }
    guessed++;
}

static void copies(int rank)
{
    int64_t out[CELLS], in[CELLS];
    const int n = 1 + (int)mt_rng_below(&rng, CELLS);
    for (int i = 0; i < n; i++)
        out[i] = (int64_t)mt_rng_next(&rng);
    for (int i = 0; i < n; i++) /* one by one, as a burst */
        MT_OK(MPI_Put(&out[i], 1, MPI_INT64_T, rank, part(rank, i), 1, MPI_INT64_T, win));
    flush(rank);
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Get(&in[i], 1, MPI_INT64_T, rank, part(rank, i), 1, MPI_INT64_T, win));
    flush(rank);
    CHECK(memcmp(in, out, (size_t)n * sizeof *in) == 0, "%d cells of rank %d", n, rank);
}

static void ordered(int rank)
{
    const int64_t first = (int64_t)mt_rng_next(&rng), second = (int64_t)mt_rng_next(&rng);
    int64_t seen = 0;
    MT_OK(MPI_Accumulate(&first, 1, MPI_INT64_T, rank, part(rank, 0), 1, MPI_INT64_T, MPI_REPLACE,
                         win));
    MT_OK(MPI_Get_accumulate(&second, 1, MPI_INT64_T, &seen, 1, MPI_INT64_T, rank, part(rank, 0), 1,
                             MPI_INT64_T, MPI_REPLACE, win));
    MT_OK(MPI_Win_flush_local(rank, win));
    CHECK(seen == first, "fetched %lld, not %lld, from rank %d", (long long)seen, (long long)first,
          rank);
    MT_OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, rank, part(rank, 0), MPI_NO_OP, win));
    flush(rank);
    CHECK(seen == second, "then %lld, not %lld, from rank %d", (long long)seen, (long long)second,
          rank);
}

static void operate(int64_t *last, int64_t *sums)
{
    for (int round = 0; round < rounds; round++) {
        const int rank = (int)mt_rng_below(&rng, (uint64_t)mt_size);
        const bool all = round % 8 >= 4;
        if (all)
            MT_OK(MPI_Win_lock_all(0, win));
        else
            MT_OK(MPI_Win_lock(round % 8 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, rank, 0, win));
        sums[rank] += ticket(rank, last);
        sums[mt_size + rank]++;
        switch (mt_rng_below(&rng, 4)) {
        case 0:
            guess(rank);
            break;
        case 1:
            copies(rank);
            break;
        case 2:
            ordered(rank);
            break;
        default:
            break;
        }
        MT_OK(all ? MPI_Win_unlock_all(win) : MPI_Win_unlock(rank, win));
    }
}

static void run(enum mt_kind kind)
{
    int64_t *last, *sums, all_guessed = 0, found = 0;
    mt_section("%s", mt_kind_name(kind));
    if (!make(kind))
        return;
    last = malloc((size_t)mt_size * sizeof *last);
    sums = calloc(2 * (size_t)mt_size, sizeof *sums);
    for (int i = 0; i < mt_size; i++)
        last[i] = -1;
    guessed = 0;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    operate(last, sums);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Allreduce(MPI_IN_PLACE, sums, 2 * mt_size, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win));
    const int64_t n = sums[mt_size + mt_rank];
    CHECK(area[TICKETS] == n && area[SUM] == n, "%lld and %lld, not %lld", (long long)area[TICKETS],
          (long long)area[SUM], (long long)n);
    CHECK(sums[mt_rank] == n * (n - 1) / 2, "the numbers 0 to %lld add up to %lld",
          (long long)n - 1, (long long)sums[mt_rank]);
    found = area[GUESSED];
    MT_OK(MPI_Win_unlock(mt_rank, win));
    MT_OK(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    MT_OK(MPI_Allreduce(&guessed, &all_guessed, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK(found == all_guessed, "%lld guesses are counted, not %lld", (long long)found,
          (long long)all_guessed);
    mt_win_free(&memory);
    free(last);
    free(sums);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    rounds = argc > 1 ? atoi(argv[1]) : 3000;
    rng = mt_rng((uint64_t)mt_rank);
    run(MT_CREATE_MALLOC);
    run(MT_DYNAMIC);
    return MT_FINISH();
}
