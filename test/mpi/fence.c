/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence.c - fence epochs (MPI 4.1, 12.5.1 and the asserts of 12.5.5).
 *
 * Legal combinations of asserts, empty fences, hundreds of fences, ranks that
 * come late, several windows at once and interleaved, and fences next to lock
 * and PSCW epochs on the same window. Data moves in every phase and is checked
 * in the next one, so that a fence that lets a rank through early is seen.
 */
#include "mtcomm.h"

#define SLOTS 8 /* longs of the window that each origin owns */

static long value(int from, int to, int phase, int i)
{
    return from * 1000000000L + to * 10000000L + phase * 100L + i;
}

static long load(const struct mt_win *w, int i)
{
    long v;
    memcpy(&v, w->base + (size_t)i * sizeof v, sizeof v);
    return v;
}

/* Put SLOTS longs of this phase to every rank (half of the window per phase parity). */
static void put_all(const struct mt_win *w, int phase, long *src)
{
    for (int t = 0; t < w->size; t++) {
        for (int i = 0; i < SLOTS; i++) {
            src[t * SLOTS + i] = value(w->rank, t, phase, i);
        }
        MPI_Aint at = ((phase % 2) * w->size + w->rank) * SLOTS * (MPI_Aint)sizeof(long);
        MT_OK(MPI_Put(src + t * SLOTS, SLOTS, MPI_LONG, t, mt_disp(w, t, at), SLOTS, MPI_LONG,
                      w->win));
    }
}

static void check_all(const struct mt_win *w, int phase)
{
    for (int o = 0; o < w->size; o++) {
        for (int i = 0; i < SLOTS; i++) {
            long seen = load(w, ((phase % 2) * w->size + o) * SLOTS + i),
                 want = value(o, w->rank, phase, i);
            if (!CHECK(seen == want, "phase %d from %d, %d: %ld, expected %ld", phase, o, i, seen,
                       want)) {
                return;
            }
        }
    }
}

static bool make(struct mt_win *w, enum mt_kind kind)
{
    return mt_win_make(w, kind, 2 * mt_size * SLOTS * (MPI_Aint)sizeof(long), 1, MPI_COMM_WORLD);
}

/* A rank that is late in a random phase must not lose or see data early. */
static void skewed(enum mt_kind kind, int phases)
{
    struct mt_win w;
    long *src = mt_alloc((size_t)mt_size * SLOTS * 2 * sizeof *src);

    mt_section("many fences with skew, %s", mt_kind_name(kind));
    if (make(&w, kind)) {
        MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win));
        for (int phase = 0; phase < phases; phase++) {
            if (mt_rand(20) == 0 && (int)mt_rand((uint64_t)w.size) == w.rank) {
                mt_compute(0.002);
            }
            put_all(&w, phase, src + (phase % 2) * w.size * SLOTS);
            MT_OK(MPI_Win_fence(phase == phases - 1 ? MPI_MODE_NOSUCCEED : 0, w.win));
            check_all(&w, phase);
        }
        mt_win_free(&w);
    }
    free(src);
}

/* Asserts, each where it is true. NOPRECEDE and NOSUCCEED are given by all ranks alike. */
static void asserts(enum mt_kind kind)
{
    static const int first[] = {0, MPI_MODE_NOPRECEDE, MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE,
                                MPI_MODE_NOSTORE | MPI_MODE_NOPRECEDE};
    static const int last[] = {0, MPI_MODE_NOSUCCEED, MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT,
                               MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE | MPI_MODE_NOPUT,
                               MPI_MODE_NOSTORE};
    struct mt_win w;
    long *src = mt_alloc((size_t)mt_size * SLOTS * sizeof *src), got = 0;

    mt_section("asserts, %s", mt_kind_name(kind));
    if (make(&w, kind)) {
        int phase = 0;
        mt_sync(&w);
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b < 5; b++) {
                mt_section("asserts 0x%x and 0x%x, %s", first[a], last[b], mt_kind_name(kind));
                MT_OK(MPI_Win_fence(first[a], w.win));
                put_all(&w, phase, src);
                MT_OK(MPI_Win_fence(last[b], w.win));
                check_all(&w, phase);
                if (!(last[b] & MPI_MODE_NOSUCCEED)) {
                    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
                }
                phase += 2;
            }
        }
        /* Only gets follow NOPUT; ranks may differ in it, and in NOSTORE. */
        int target = (w.rank + 1) % w.size;
        MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOPUT, w.win));
        MT_OK(MPI_Get(&got, 1, MPI_LONG, target,
                      mt_disp(&w, target, w.rank * SLOTS * (MPI_Aint)sizeof got), 1, MPI_LONG,
                      w.win));
        MT_OK(MPI_Win_fence(
            MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED | (w.rank % 2 ? MPI_MODE_NOPUT : 0), w.win));
        CHECK(got == value(w.rank, target, phase - 2, 0), "got %ld", got);
        /* Nothing before and nothing after. */
        MT_OK(MPI_Win_fence(
            MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT | MPI_MODE_NOSTORE, w.win));
        mt_win_free(&w);
    }
    free(src);
}

/* Empty fences are barriers where they end a possible epoch: no rank may run ahead by two. */
static void empty(enum mt_kind kind)
{
    struct mt_win w;

    mt_section("empty fences, %s", mt_kind_name(kind));
    if (!make(&w, kind)) {
        return;
    }
    for (int i = 0; i < 100; i++) {
        MT_OK(MPI_Win_fence(0, w.win));
    }
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    mt_win_free(&w);
}

/* Fence, lock and PSCW epochs in turn on one window, with a fence that closes what it must. */
static void mixed(enum mt_kind kind)
{
    struct mt_win w;
    long *src = mt_alloc((size_t)mt_size * SLOTS * sizeof *src), v, back;

    mt_section("fence with lock and pscw, %s", mt_kind_name(kind));
    if (make(&w, kind)) {
        int right = (w.rank + 1) % w.size, left = (w.rank - 1 + w.size) % w.size;
        MPI_Group to = mt_group_one(&w, right), from = mt_group_one(&w, left);
        MPI_Aint mine = w.rank * SLOTS * (MPI_Aint)sizeof(long);
        mt_sync(&w);
        for (int round = 0; round < 20; round++) {
            MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win));
            put_all(&w, round, src);
            MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
            check_all(&w, round);
            MT_OK(MPI_Win_post(from, 0, w.win));
            MT_OK(MPI_Win_start(to, 0, w.win));
            v = value(w.rank, right, round, 77);
            MT_OK(MPI_Put(&v, 1, MPI_LONG, right, mt_disp(&w, right, mine), 1, MPI_LONG, w.win));
            MT_OK(MPI_Win_complete(w.win));
            MT_OK(MPI_Win_wait(w.win));
            CHECK(load(&w, left * SLOTS) == value(left, w.rank, round, 77), "pscw put");
            mt_sync(&w);
            MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w.win));
            v++;
            MT_OK(MPI_Put(&v, 1, MPI_LONG, right, mt_disp(&w, right, mine), 1, MPI_LONG, w.win));
            MT_OK(MPI_Win_flush(right, w.win));
            MT_OK(MPI_Get(&back, 1, MPI_LONG, right, mt_disp(&w, right, mine), 1, MPI_LONG, w.win));
            MT_OK(MPI_Win_unlock(right, w.win));
            CHECK(back == v, "lock put: %ld, expected %ld", back, v);
            MT_OK(MPI_Win_fence(
                0, w.win)); /* also legal between passive epochs: nothing is in a fence epoch */
            MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
            CHECK(load(&w, left * SLOTS) == value(left, w.rank, round, 78), "lock put after fence");
        }
        MPI_Group_free(&to);
        MPI_Group_free(&from);
        mt_win_free(&w);
    }
    free(src);
}

/* Fence epochs of several windows open at once, closed in another order. */
static void windows(void)
{
    enum { W = 4 };
    static const enum mt_kind kinds[W] = {MT_ALLOCATE, MT_CREATE_MALLOC, MT_CREATE_ALLOC_MEM,
                                          MT_DYNAMIC};
    struct mt_win w[W];
    bool have[W];
    long *src = mt_alloc((size_t)mt_size * SLOTS * W * sizeof *src);

    mt_section("several windows");
    for (int i = 0; i < W; i++) {
        have[i] = make(&w[i], kinds[i]);
    }
    for (int phase = 0; phase < 30; phase++) {
        int turn = (int)mt_rand(W);
        for (int i = 0; i < W; i++) {
            if (have[(i + turn) % W]) {
                MT_OK(MPI_Win_fence(phase == 0 ? MPI_MODE_NOPRECEDE : 0, w[(i + turn) % W].win));
                if (phase > 0) {
                    check_all(&w[(i + turn) % W], phase - 1);
                }
            }
        }
        for (int i = W - 1; i >= 0; i--) {
            if (have[i]) {
                put_all(&w[i], phase, src + (size_t)i * (size_t)mt_size * SLOTS);
            }
        }
    }
    for (int i = 0; i < W; i++) {
        if (have[i]) {
            MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w[i].win));
            check_all(&w[i], 29);
            mt_win_free(&w[i]);
        }
    }
    free(src);
}

/* Bulk data and all calls in one phase; a rank that only waits takes part with nothing. */
static void bulk(enum mt_kind kind)
{
    enum { BYTES = 300000 };
    struct mt_win w;
    char *src = mt_alloc(BYTES), *dst = mt_alloc(BYTES);

    mt_section("bulk, %s", mt_kind_name(kind));
    if (mt_win_make(&w, kind, 2 * BYTES + 8, 1, MPI_COMM_WORLD)) {
        int target = (w.rank + 1) % w.size, origin = (w.rank - 1 + w.size) % w.size;
        for (int phase = 0; phase < 4; phase++) {
            int64_t one = 1;
            mt_fill(src, BYTES, (uint32_t)(w.rank * 10 + phase));
            mt_fill(w.base + BYTES, BYTES, (uint32_t)(1000 + w.rank * 10 + phase));
            mt_sync(&w);
            MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win));
            if (w.rank % 3 != 2) {
                MT_OK(MPI_Put(src, BYTES, MPI_BYTE, target, mt_disp(&w, target, 0), BYTES, MPI_BYTE,
                              w.win));
                MT_OK(MPI_Get(dst, BYTES, MPI_BYTE, target, mt_disp(&w, target, BYTES), BYTES,
                              MPI_BYTE, w.win));
            }
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, mt_disp(&w, 0, 2 * BYTES), 1, MPI_INT64_T,
                                 MPI_SUM, w.win));
            MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
            if (origin % 3 != 2) {
                CHECK_FILL(w.base, BYTES, (uint32_t)(origin * 10 + phase));
            }
            if (w.rank % 3 != 2) {
                CHECK_FILL(dst, BYTES, (uint32_t)(1000 + target * 10 + phase));
            }
            if (w.rank == 0) {
                int64_t sum;
                memcpy(&sum, w.base + 2 * BYTES, sizeof sum);
                CHECK(sum == (phase + 1) * (int64_t)w.size, "sum %ld", (long)sum);
            }
        }
        mt_win_free(&w);
    }
    free(src);
    free(dst);
}

/* Blocks right behind a fence, from ranks that have left it to those that may still be in it: more
 * than these could keep. One half of the memory a phase, looked at in the next. */
static void crowd(enum mt_kind kind, int phases)
{
    enum { BLOCK = 4096, BLOCKS = 250, BYTES = BLOCK * BLOCKS };
    struct mt_win w;
    char *src = mt_alloc(2 * BYTES);

    mt_section("crowds of puts, %s", mt_kind_name(kind));
    if (mt_win_make(&w, kind, 2 * BYTES, 1, MPI_COMM_WORLD)) {
        int target = (w.rank + 1) % w.size, origin = (w.rank - 1 + w.size) % w.size;
        mt_fill(src, 2 * BYTES, (uint32_t)w.rank);
        mt_sync(&w);
        MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win));
        for (int phase = 0; phase < phases; phase++) {
            char *half = src + phase % 2 * BYTES;
            memcpy(half, &phase, sizeof phase);
            for (int i = 0; i < BLOCKS; i++) {
                MPI_Aint at = phase % 2 * BYTES + i * BLOCK;
                MT_OK(MPI_Put(half + i * BLOCK, BLOCK, MPI_BYTE, target, mt_disp(&w, target, at),
                              BLOCK, MPI_BYTE, w.win));
            }
            MT_OK(MPI_Win_fence(0, w.win));
            int seen;
            memcpy(&seen, w.base + phase % 2 * BYTES, sizeof seen);
            if (!CHECK(seen == phase, "phase %d from %d, not %d", seen, origin, phase)) {
                break;
            }
        }
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        mt_fill(src, 2 * BYTES, (uint32_t)origin);
        memcpy(src, w.base, sizeof(int));
        memcpy(src + BYTES, w.base + BYTES, sizeof(int));
        CHECK_EQUAL(w.base, src, 2 * BYTES);
        mt_win_free(&w);
    }
    free(src);
}

/* The same places in phase after phase, with nothing between two phases: what the last one put is
 * what stays, whatever a target still had in its rings when the next began. With turn each phase's
 * puts have another origin. */
static void overwritten(enum mt_kind kind, int rounds, int turn)
{
    enum { BLOCK = 4096, BLOCKS = 200, BYTES = BLOCK * BLOCKS, PHASES = 3 };
    struct mt_win w;
    char *src = mt_alloc(PHASES * BYTES);

    mt_section("overwritten, %s%s", mt_kind_name(kind), turn ? ", by others" : "");
    if (mt_win_make(&w, kind, BYTES, 1, MPI_COMM_WORLD)) {
        const int last = 1 + turn * (PHASES - 1),
                  origin = (w.rank + (PHASES + 1) * w.size - last) % w.size;
        bool same = true;
        for (int p = 0; p < PHASES; p++) {
            mt_fill(src + p * BYTES, BYTES, (uint32_t)p);
            memset(src + p * BYTES, w.rank, BLOCK);
        }
        mt_sync(&w);
        for (int round = 0; round < rounds; round++) {
            for (int p = 0; p < PHASES; p++) {
                const int target = (w.rank + 1 + turn * p) % w.size;
                MT_OK(MPI_Win_fence(p ? 0 : MPI_MODE_NOPRECEDE, w.win));
                for (int i = 0; i < BLOCKS; i++)
                    MT_OK(MPI_Put(src + p * BYTES + i * BLOCK, BLOCK, MPI_BYTE, target,
                                  mt_disp(&w, target, i * BLOCK), BLOCK, MPI_BYTE, w.win));
            }
            MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
            same = same &&
                   CHECK(w.base[0] == (char)origin, "rank %d in round %d, not %d", w.base[0], round,
                         origin) &&
                   CHECK_EQUAL(w.base + BLOCK, src + (PHASES - 1) * BYTES + BLOCK, BYTES - BLOCK);
            mt_sync(&w); /* all have compared */
        }
        mt_win_free(&w);
    }
    free(src);
}

/* Another process's lock epoch begins when its own fence has ended: it comes after the puts that
 * the fence ended, also where the target has not yet got them. With all, MPI_Win_lock_all. */
static void overwritten_locked(enum mt_kind kind, int rounds, bool all, int asserts)
{
    enum { BLOCK = 4096, BLOCKS = 200, BYTES = BLOCK * BLOCKS };
    struct mt_win w;
    char *src = mt_alloc(2 * BYTES);

    mt_section("overwritten, %s, %s%s", mt_kind_name(kind), all ? "lock_all" : "lock",
               asserts ? ", nocheck" : "");
    if (mt_win_make(&w, kind, BYTES, 1, MPI_COMM_WORLD)) {
        const int first = (w.rank + 1) % w.size, second = (w.rank + w.size - 1) % w.size;
        bool same = true;
        mt_fill(src, 2 * BYTES, 7);
        mt_sync(&w);
        for (int round = 0; round < rounds; round++) {
            MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win));
            for (int i = 0; i < BLOCKS; i++)
                MT_OK(MPI_Put(src + i * BLOCK, BLOCK, MPI_BYTE, first,
                              mt_disp(&w, first, i * BLOCK), BLOCK, MPI_BYTE, w.win));
            MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
            if (all)
                MT_OK(MPI_Win_lock_all(asserts, w.win));
            else
                MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second, asserts, w.win));
            for (int i = 0; i < BLOCKS; i++)
                MT_OK(MPI_Put(src + BYTES + i * BLOCK, BLOCK, MPI_BYTE, second,
                              mt_disp(&w, second, i * BLOCK), BLOCK, MPI_BYTE, w.win));
            if (all)
                MT_OK(MPI_Win_unlock_all(w.win));
            else
                MT_OK(MPI_Win_unlock(second, w.win));
            mt_sync(&w);
            same = same && CHECK_EQUAL(w.base, src + BYTES, BYTES);
            memset(w.base, 0, BYTES);
            mt_sync(&w);
        }
        mt_win_free(&w);
    }
    free(src);
}

/* What every second rank gets from the rank two further on is read in the next phase by the rank
 * behind it, to which nothing came: it may have left the fence long before all is in the window. */
static void seen_by_others(enum mt_kind kind, int phases)
{
    enum { BLOCK = 4096, BLOCKS = 100, BYTES = BLOCK * BLOCKS };
    struct mt_win w;
    char *src = mt_alloc(2 * BYTES), *got = mt_alloc(BYTES);
    bool same = true;

    mt_section("seen by others, %s", mt_kind_name(kind));
    if (mt_win_make(&w, kind, 2 * BYTES, 1, MPI_COMM_WORLD)) {
        const int target = (w.rank + 2) % w.size, source = (w.rank - 1 + w.size) % w.size;
        mt_sync(&w);
        MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win));
        for (int phase = 0; phase <= phases; phase++) {
            const bool reads = phase > 0 && w.rank % 2;
            char *half = src + phase % 2 * BYTES;
            if (w.rank % 2 == 0)
                mt_fill(half, BYTES, (uint32_t)phase);
            for (int i = 0; i < BLOCKS && w.rank % 2 == 0; i++)
                MT_OK(MPI_Put(half + i * BLOCK, BLOCK, MPI_BYTE, target,
                              mt_disp(&w, target, phase % 2 * BYTES + i * BLOCK), BLOCK, MPI_BYTE,
                              w.win));
            if (reads)
                MT_OK(MPI_Get(got, BYTES, MPI_BYTE, source,
                              mt_disp(&w, source, (phase - 1) % 2 * BYTES), BYTES, MPI_BYTE,
                              w.win));
            MT_OK(MPI_Win_fence(phase == phases ? MPI_MODE_NOSUCCEED : 0, w.win));
            same = same && (!reads || w.size % 2 || CHECK_FILL(got, BYTES, (uint32_t)(phase - 1)));
        }
        mt_win_free(&w);
    }
    free(src);
    free(got);
}

/* MPI_Win_free asks what became of the last phase's operations: it must not wait for as many fences
 * as there were locks. */
static void freed_behind_locks(enum mt_kind kind)
{
    struct mt_win w;
    const long v = 7;

    mt_section("freed behind locks, %s", mt_kind_name(kind));
    if (make(&w, kind)) {
        const int target = (w.rank + 1) % w.size;
        for (int i = 0; i < 20; i++) {
            MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win));
            MT_OK(MPI_Put(&v, 1, MPI_LONG, target, mt_disp(&w, target, 0), 1, MPI_LONG, w.win));
            MT_OK(MPI_Win_unlock(target, w.win));
        }
        MT_OK(MPI_Win_fence(0, w.win));
        MT_OK(MPI_Put(&v, 1, MPI_LONG, target, mt_disp(&w, target, 0), 1, MPI_LONG, w.win));
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        CHECK(load(&w, 0) == v, "%ld, expected %ld", load(&w, 0), v);
        mt_win_free(&w);
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    int phases = (int)mt_rounds(120);
    MT_FOR_KINDS(kind)
    {
        skewed(kind, phases);
        asserts(kind);
        empty(kind);
        mixed(kind);
        bulk(kind);
        crowd(kind, phases < 50 ? phases : 50);
        overwritten(kind, phases < 10 ? phases : 10, 0);
        overwritten(kind, phases < 6 ? phases : 6, 1);
        for (int how = 0; how < 4; how++)
            overwritten_locked(kind, phases < 4 ? phases : 4, how & 1,
                               how & 2 ? MPI_MODE_NOCHECK : 0);
        seen_by_others(kind, phases < 6 ? phases : 6);
        freed_behind_locks(kind);
    }
    windows();
    return MT_FINISH();
}
