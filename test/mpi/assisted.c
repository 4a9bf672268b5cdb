/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted.c - passive target operations of every kind on memory of MPI_Win_create and of
 * dynamic windows, whose owner, the last rank, waits in MPI_Barrier, or computes, or does now the
 * one and now the other. Results are checked element by element.
 *
 * In assisted.sh the statistics show by which way they went; here that must make no difference.
 */
#include "mtest.h"

enum { CELLS = 512, SHARED = 4, LARGE = 1 << 15, ROUNDS = 300 };

/* The target's memory: elements that all change, and a part for each origin. */
static struct mt_win memory;
static MPI_Win win;        /* memory's */
static int64_t *area;      /* this rank's part */
static MPI_Datatype apart; /* every second element */
static int target;
static struct mt_rng rng;

static MPI_Aint shared(int cell)
{
    return mt_disp(&memory, target, (MPI_Aint)sizeof *area * cell);
}

static MPI_Aint part(int cell)
{
    return shared(SHARED + mt_rank * LARGE + cell);
}

static bool make(enum mt_kind kind)
{
    if (!mt_win_make(&memory, kind, (MPI_Aint)sizeof *area * (SHARED + LARGE * (mt_size - 1)), 1,
                     MPI_COMM_WORLD))
        return false;
    win = memory.win;
    area = (int64_t *)(void *)memory.base;
    return true;
}

static void open_epoch(unsigned round)
{
    if (round % 3 == 2)
        MT_OK(MPI_Win_lock_all(0, win));
    else
        MT_OK(MPI_Win_lock(round % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win));
}

static void close_epoch(unsigned round)
{
    MT_OK(round % 3 == 2 ? MPI_Win_unlock_all(win) : MPI_Win_unlock(target, win));
}

static void flush(unsigned round)
{
    MT_OK(round & 1 ? MPI_Win_flush(target, win) : MPI_Win_flush_all(win));
}

/* Contiguous and not, put and got. */
static void copies(unsigned round)
{
    static int64_t out[CELLS], in[CELLS];
    const int n = 1 + (int)mt_rng_below(&rng, CELLS / 2);
    const bool strided = mt_rng_below(&rng, 2);
    for (int i = 0; i < n; i++)
        out[i] = (int64_t)mt_rng_next(&rng);
    MT_OK(MPI_Put(out, n, MPI_INT64_T, target, part(0), n, strided ? apart : MPI_INT64_T, win));
    flush(round);
    memset(in, 0, sizeof in);
    MT_OK(MPI_Get(in, n, MPI_INT64_T, target, part(0), n, strided ? apart : MPI_INT64_T, win));
    MT_OK(round & 2 ? MPI_Win_flush_local(target, win) : MPI_Win_flush_local_all(win));
    CHECK(memcmp(in, out, (size_t)n * sizeof *in) == 0, "round %u, %d cells, strided %d", round, n,
          strided);
}

/* In the order of the calls, however each goes. */
static void ordered(unsigned round)
{
    int64_t values[8], got, seen = -1;
    MPI_Request request;
    for (int i = 0; i < 8; i++) {
        values[i] = (int64_t)round * 8 + i;
        if (mt_rng_below(&rng, 4) == 0) {
            MT_OK(MPI_Raccumulate(&values[i], 1, MPI_INT64_T, target, part(1), 1, MPI_INT64_T,
                                  MPI_REPLACE, win, &request));
            MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            MT_OK(MPI_Accumulate(&values[i], 1, MPI_INT64_T, target, part(1), 1, MPI_INT64_T,
                                 MPI_REPLACE, win));
        }
        if (i == 5)
            MT_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &seen, 1, MPI_INT64_T, target, part(1),
                                     1, MPI_INT64_T, MPI_NO_OP, win));
        if (mt_rng_below(&rng, 4) == 0)
            flush(round);
    }
    MT_OK(MPI_Fetch_and_op(NULL, &got, MPI_INT64_T, target, part(1), MPI_NO_OP, win));
    flush(round);
    CHECK(seen == values[5] && got == values[7],
          "round %u: fetched %lld and %lld, not %lld and %lld", round, (long long)seen,
          (long long)got, (long long)values[5], (long long)values[7]);
}

/* Elements that all origins change: by sums, and by compare-and-swap. */
static void counters(void)
{
    const int64_t one = 1;
    int64_t old, guess = 0, wish;
    MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, shared(0), 1, MPI_INT64_T, MPI_SUM, win));
    MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, shared(1), MPI_SUM, win));
    for (;;) {
        wish = guess + 1;
        MT_OK(MPI_Compare_and_swap(&wish, &guess, &old, MPI_INT64_T, target, shared(2), win));
        MT_OK(MPI_Win_flush(target, win));
        if (old == guess)
            return;
        guess = old;
    }
}

static void large(unsigned round)
{
    static int64_t out[LARGE], in[LARGE];
    for (int i = 0; i < LARGE; i++)
        out[i] = i + round;
    MT_OK(MPI_Accumulate(out, LARGE, MPI_INT64_T, target, part(0), LARGE, MPI_INT64_T, MPI_REPLACE,
                         win));
    MT_OK(MPI_Accumulate(out, LARGE / 2, MPI_INT64_T, target, part(0), LARGE / 2, apart, MPI_SUM,
                         win));
    MT_OK(MPI_Get_accumulate(out, LARGE, MPI_INT64_T, in, LARGE, MPI_INT64_T, target, part(0),
                             LARGE, MPI_INT64_T, MPI_SUM, win));
    flush(round);
    for (int i = 0; i < LARGE; i++) {
        const int64_t sum = i + round + (i % 2 ? 0 : i / 2 + round);
        if (!CHECK(in[i] == sum, "element %d is %lld, not %lld", i, (long long)in[i],
                   (long long)sum))
            return;
    }
}

static void origin(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        open_epoch(round);
        if (round % 100 == 0)
            large(round);
        copies(round);
        ordered(round);
        counters();
        close_epoch(round);
    }
}

/* Without a call of the library; then it is in MPI_Barrier until the origins come. */
static void compute(double seconds)
{
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        ;
}

enum how { WAITS, COMPUTES, BOTH };

static void run(enum how how, enum mt_kind kind)
{
    static const char *const names[] = {"waits", "computes", "waits and computes"};
    mt_section("the target %s, %s", names[how], mt_kind_name(kind));
    if (!make(kind))
        return;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 3; i++) {
        if (mt_rank != target)
            origin();
        else if (how == COMPUTES || (how == BOTH && i % 2 == 0))
            compute(0.02);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (mt_rank == target) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
        for (int i = 0; i < 3; i++)
            CHECK(area[i] == (int64_t)3 * ROUNDS * (mt_size - 1), "element %d is %lld", i,
                  (long long)area[i]);
        MT_OK(MPI_Win_unlock(target, win));
    }
    mt_win_free(&memory);
}

/* The target is in MPI_Recv, where only its agent serves. In its rings lie puts of an epoch that it
 * will end later; what the origin needs done first must get past them. */
static void past_puts(void)
{
    static int64_t out[LARGE];
    enum { BLOCK = CELLS, BLOCKS = LARGE / BLOCK };
    MPI_Group world, others, last;
    MPI_Win puts;
    int64_t *sink;
    mt_section("past puts that nobody takes in");
    if (!make(MT_CREATE_MALLOC))
        return;
    sink = calloc(LARGE, sizeof *sink);
    for (int i = 0; i < LARGE; i++)
        out[i] = i;
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Group_incl(world, 1, &target, &last));
    MT_OK(MPI_Group_difference(world, last, &others));
    MT_OK(MPI_Win_create(sink, LARGE * sizeof *sink, sizeof *sink, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &puts));
    if (mt_rank == target) {
        MT_OK(MPI_Win_post(others, 0, puts));
        for (int i = 0; i < mt_size - 1; i++)
            MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Win_wait(puts));
    } else {
        MT_OK(MPI_Win_start(last, 0, puts));
        for (int i = 0; i < BLOCKS; i++)
            MT_OK(MPI_Put(out + i * BLOCK, BLOCK, MPI_INT64_T, target, i * BLOCK, BLOCK,
                          MPI_INT64_T, puts));
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
        MT_OK(MPI_Accumulate(out, LARGE / 2, MPI_INT64_T, target, part(0), LARGE / 2, apart,
                             MPI_SUM, win));
        MT_OK(MPI_Win_unlock(target, win));
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, target, 0, MPI_COMM_WORLD));
        MT_OK(MPI_Win_complete(puts));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; mt_rank == target && i < LARGE; i++)
        if (!CHECK(sink[i] == i && area[SHARED + i] == (i % 2 ? 0 : i / 2),
                   "element %d: %lld, %lld", i, (long long)sink[i], (long long)area[SHARED + i]))
            break;
    MT_OK(MPI_Win_free(&puts));
    mt_win_free(&memory);
    free(sink);
    MT_OK(MPI_Group_free(&others));
    MT_OK(MPI_Group_free(&last));
    MT_OK(MPI_Group_free(&world));
}

/* What the target waits for is in another window, then in MPI_Recv: MPI_Win_complete may not wait
 * for its MPI_Win_wait (MPI 4.1, 12.7.3), whether or not it was seen to poll just before. */
static void between_waits(void)
{
    MPI_Group world, others, last;
    MPI_Win side;
    int64_t cell = 0, got[CELLS], one = 1, fetched;
    mt_section("between waits");
    if (!make(MT_CREATE_MALLOC))
        return;
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Group_incl(world, 1, &target, &last));
    MT_OK(MPI_Group_difference(world, last, &others));
    MT_OK(MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &side));
    for (int round = 0; round < 2 * ROUNDS; round++) {
        if (mt_rank == target) {
            area[SHARED] = round;
            MT_OK(MPI_Win_post(others, 0, win));
            MT_OK(MPI_Win_post(others, 0, side));
            MT_OK(MPI_Win_wait(side));
            for (int i = 0; i < mt_size - 1; i++)
                MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MT_OK(MPI_Win_wait(win));
            continue;
        }
        MT_OK(MPI_Win_start(last, 0, side));
        MT_OK(MPI_Win_start(last, 0, win));
        if (round % 3)
            MT_OK(MPI_Win_complete(side));
        MT_OK(MPI_Get(got, CELLS, MPI_INT64_T, target, shared(SHARED), CELLS, MPI_INT64_T, win));
        if (round % 3 == 0)
            MT_OK(MPI_Win_complete(side));
        MT_OK(MPI_Fetch_and_op(&one, &fetched, MPI_INT64_T, target, shared(0), MPI_SUM, win));
        MT_OK(MPI_Win_complete(win));
        CHECK(got[0] == round && fetched >= round, "round %d: %lld, %lld", round, (long long)got[0],
              (long long)fetched);
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, target, 0, MPI_COMM_WORLD));
    }
    CHECK(mt_rank != target || area[0] == (int64_t)2 * ROUNDS * (mt_size - 1), "%lld",
          (long long)area[0]);
    MT_OK(MPI_Win_free(&side));
    mt_win_free(&memory);
    MT_OK(MPI_Group_free(&others));
    MT_OK(MPI_Group_free(&last));
    MT_OK(MPI_Group_free(&world));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    target = mt_size - 1;
    rng = mt_rng((uint64_t)mt_rank);
    MT_OK(MPI_Type_create_resized(MPI_INT64_T, 0, 2 * sizeof(int64_t), &apart));
    MT_OK(MPI_Type_commit(&apart));
    between_waits(); /* before others have asked for agents */
    for (int dynamic = 0; dynamic < 2; dynamic++)
        for (enum how how = WAITS; how <= BOTH; how++)
            run(how, dynamic ? MT_DYNAMIC : MT_CREATE_MALLOC);
    past_puts();
    MT_OK(MPI_Type_free(&apart));
    return MT_FINISH();
}
