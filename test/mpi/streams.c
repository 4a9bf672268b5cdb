/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * streams.c - several origins send to one target without pause, in messages of mixed sizes, and
 * every byte that arrives is checked.
 *
 * streams [MEGABYTES] [flushed]. Each rank but 0 is the origin of a stream to rank 0, into a part
 * of the window that is its own. A round is a lock_all epoch of so many megabytes by each origin
 * (MTEST_ROUNDS rounds): blocks of a few bytes up to the whole part are accumulated one behind the
 * other, wrap around at the end of the part, and are flushed locally now and then. With "flushed"
 * they are large, and each is flushed before the next: all origins fill the target's receive
 * buffers at the same time, and wait. Sums show what is lost or comes twice, as well as what is
 * damaged.
 */
#include "mtcomm.h"

enum { WORDS = 256 * 1024 /* in each origin's part */ };

static bool flushed;

/* What an origin adds to word i. */
static uint64_t addend(int origin, size_t i)
{
    return (uint64_t)(origin + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
           (uint64_t)i * UINT64_C(0xd1342543de82ef95);
}

/* Blocks of a stream: the same sequence at origin and target. */
static size_t draw_block(struct mt_rng *rng, size_t at, size_t left)
{
    static const size_t most[] = {4, 64, 1024, 4096, 4096, 16384, WORDS};
    const size_t bound = flushed ? (size_t)WORDS >> mt_rng_below(rng, 5)
                                 : most[mt_rng_below(rng, sizeof most / sizeof *most)];
    size_t n = flushed ? bound : 1 + (size_t)mt_rng_below(rng, bound);
    n = n < WORDS - at ? n : WORDS - at;
    return n < left ? n : left;
}

static void stream(const struct mt_win *w, const uint64_t *values, int round, size_t words)
{
    struct mt_rng rng = mt_rng((uint64_t)round * 64 + (uint64_t)w->rank);
    const size_t part = (size_t)(w->rank - 1) * WORDS;
    for (size_t at = 0; words > 0;) {
        const size_t n = draw_block(&rng, at, words);
        MT_OK(MPI_Accumulate(values + at, (int)n, MPI_UINT64_T, 0, (MPI_Aint)(part + at), (int)n,
                             MPI_UINT64_T, MPI_SUM, w->win));
        if (flushed)
            MT_OK(MPI_Win_flush(0, w->win));
        else if (mt_rng_below(&rng, 16) == 0)
            MT_OK(MPI_Win_flush_local(0, w->win));
        words -= n;
        at = (at + n) % WORDS;
    }
}

/* How often each word of an origin's part has been added to in a round. */
static void count(int origin, int round, size_t words, uint32_t *times)
{
    struct mt_rng rng = mt_rng((uint64_t)round * 64 + (uint64_t)origin);
    for (size_t at = 0; words > 0;) {
        const size_t n = draw_block(&rng, at, words);
        if (!flushed)
            (void)mt_rng_below(&rng, 16);
        for (size_t i = 0; i < n; i++)
            times[at + i]++;
        words -= n;
        at = (at + n) % WORDS;
    }
}

static void check(const struct mt_win *w, int origin, const uint32_t *times)
{
    const uint64_t *part = (const uint64_t *)(const void *)w->base + (size_t)(origin - 1) * WORDS;
    for (size_t i = 0; i < WORDS; i++)
        if (!CHECK(part[i] == addend(origin, i) * times[i],
                   "origin %d, word %zu: %#llx, expected %u times %#llx", origin, i,
                   (unsigned long long)part[i], times[i], (unsigned long long)addend(origin, i)))
            return;
}

int main(int argc, char **argv)
{
    struct mt_win w;
    MT_INIT(argc, argv);
    const char *asked = getenv("MTEST_ROUNDS");
    const int rounds = asked ? atoi(asked) : 3;
    const size_t words = (size_t)(argc > 1 ? atoi(argv[1]) : 50) * 131072;
    flushed = argc > 2 && strcmp(argv[2], "flushed") == 0;
    const size_t parts = mt_rank ? 0 : (size_t)mt_size - 1;
    uint64_t *values = malloc(WORDS * sizeof *values);
    uint32_t *times = calloc(parts * WORDS + 1, sizeof *times);
    if (!values || !times ||
        !mt_win_make(&w, MT_ALLOCATE, (MPI_Aint)(parts * WORDS * 8), 8, MPI_COMM_WORLD))
        return 1;
    for (size_t i = 0; i < WORDS; i++)
        values[i] = addend(mt_rank, i);
    for (int round = 0; round < rounds; round++) {
        mt_section("round %d", round);
        MT_OK(MPI_Win_lock_all(0, w.win));
        if (mt_rank)
            stream(&w, values, round, words);
        MT_OK(MPI_Win_unlock_all(w.win));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w.win));
        for (int origin = 1; origin <= (int)parts; origin++) {
            count(origin, round, words, times + (size_t)(origin - 1) * WORDS);
            check(&w, origin, times + (size_t)(origin - 1) * WORDS);
        }
        MT_OK(MPI_Win_unlock(mt_rank, w.win));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    mt_win_free(&w);
    free(values);
    free(times);
    return MT_FINISH();
}
