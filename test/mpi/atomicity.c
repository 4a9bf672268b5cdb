/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomicity.c - accumulates on the same elements from all ranks at once (MPI 4.1, 12.7.1).
 *
 * Every rank, the owner included, hammers the same elements through different
 * calls (single, range, strided, get_accumulate, fetch_and_op, compare_and_swap);
 * sums must be exact and fetched tickets unique. The window's owner also takes
 * part through the same calls, so every path to the memory meets every other.
 */
#include "mtcomm.h"

#define M 3000 /* elements of the contended range */

static int times = 400;

/* Elements read from a window that may start at an odd address. */
static int64_t load64(const void *base, int i)
{
    int64_t v;
    memcpy(&v, (const char *)base + (size_t)i * 8, 8);
    return v;
}

/* Large ranges against single elements, and strided ones, of int64. */
static void ranges(enum mt_kind kind)
{
    struct mt_win w;
    static int64_t ones[M], fetched[M];
    MPI_Datatype strided;

    mt_section("ranges and elements, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, M * 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    for (int i = 0; i < M; i++) {
        ones[i] = 1;
    }
    MT_OK(MPI_Type_vector(M / 10, 1, 10, MPI_INT64_T, &strided));
    MT_OK(MPI_Type_commit(&strided));
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    int n = times / 4;
    for (int i = 0; i < n; i++) {
        int target = i % w.size;
        MPI_Aint at = mt_disp(&w, target, 0);
        MT_OK(MPI_Accumulate(ones, M, MPI_INT64_T, target, at, M, MPI_INT64_T, MPI_SUM, w.win));
        for (int k = 0; k < 10; k++) {
            MT_OK(MPI_Accumulate(ones, 1, MPI_INT64_T, target, MPI_Aint_add(at, 8 * (k * 10)), 1,
                                 MPI_INT64_T, MPI_SUM, w.win));
        }
        MT_OK(MPI_Accumulate(ones, M / 10, MPI_INT64_T, target, at, 1, strided, MPI_SUM, w.win));
        MT_OK(MPI_Get_accumulate(ones, M / 2, MPI_INT64_T, fetched, M / 2, MPI_INT64_T, target, at,
                                 M / 2, MPI_INT64_T, MPI_SUM, w.win));
        MT_OK(MPI_Fetch_and_op(ones, &fetched[M - 1], MPI_INT64_T, target, at, MPI_SUM, w.win));
        if (i % 8 == 7) {
            MT_OK(MPI_Win_flush_local_all(w.win));
        }
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_sync(&w);
    int64_t passes =
        (int64_t)((n - w.rank + w.size - 1) / w.size) * w.size; /* by all ranks to this one */
    int bad = 0, first = -1;
    int64_t want = 0;
    for (int i = M - 1; i >= 0; i--) {
        int64_t each = 1 + (i < 100 && i % 10 == 0) + (i % 10 == 0) + (i < M / 2) + (i == 0);
        if (load64(w.base, i) != each * passes) {
            bad++;
            first = i;
            want = each * passes;
        }
    }
    CHECK(bad == 0, "%d of %d sums wrong; the first, element %d, is %ld, expected %ld", bad, M,
          first, first < 0 ? 0L : (long)load64(w.base, first), (long)want);
    MT_OK(MPI_Type_free(&strided));
    mt_win_free(&w);
}

/* Every fetch_and_op of +1 must give another ticket; per rank they must rise. */
static void tickets(enum mt_kind kind)
{
    struct mt_win w;
    int n = times * 2, total = n * mt_size;
    int one = 1, last = -1, bad = 0;

    mt_section("tickets, %s", mt_kind_name(kind));
    /* On rank 0: the counter, then one flag per ticket. */
    if (!mt_win_make(&w, kind, mt_rank == 0 ? 4 * (total + 1) : 0, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    for (int i = 0; i < n; i++) {
        int mine = -1;
        if (i % 2 == 0) {
            MT_OK(MPI_Fetch_and_op(&one, &mine, MPI_INT, 0, mt_disp(&w, 0, 0), MPI_SUM, w.win));
        } else {
            MT_OK(MPI_Get_accumulate(&one, 1, MPI_INT, &mine, 1, MPI_INT, 0, mt_disp(&w, 0, 0), 1,
                                     MPI_INT, MPI_SUM, w.win));
        }
        MT_OK(MPI_Win_flush(0, w.win));
        bad += mine <= last || mine >= total;
        last = mine;
        if (mine >= 0 && mine < total) {
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, mt_disp(&w, 0, 4 * (mine + 1)), 1, MPI_INT,
                                 MPI_SUM, w.win));
            MT_OK(MPI_Win_flush_local(0, w.win));
        }
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_sync(&w);
    CHECK(bad == 0, "%d tickets did not rise", bad);
    for (int i = 0; w.rank == 0 && i <= total; i++) {
        int v;
        memcpy(&v, w.base + 4 * i, 4);
        if (!CHECK(v == (i == 0 ? total : 1), "%s %d: %d", i == 0 ? "counter" : "ticket", i - 1,
                   v)) {
            break;
        }
    }
    mt_win_free(&w);
}

/* A counter driven by compare_and_swap alone and, where mixed, by fetch_and_op at the same time. */
static void cas_counter(enum mt_kind kind, MPI_Datatype type, int size, bool mixed)
{
    struct mt_win w;
    int64_t one = 1, retries = 0;

    mt_section("compare_and_swap counter, %d bytes%s, %s", size, mixed ? ", mixed" : "",
               mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 16, 1, MPI_COMM_WORLD)) {
        return;
    }
    int target = w.size - 1, n = times / 2;
    MPI_Aint at = mt_disp(&w, target, 8);
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    for (int i = 0; i < n; i++) {
        int64_t seen = 0, old = 0, next = 0;
        if (mixed && w.rank % 2 == 1) {
            MT_OK(MPI_Fetch_and_op(&one, &seen, type, target, at, MPI_SUM, w.win));
            MT_OK(MPI_Win_flush(target, w.win));
            continue;
        }
        MT_OK(MPI_Fetch_and_op(NULL, &seen, type, target, at, MPI_NO_OP, w.win));
        MT_OK(MPI_Win_flush(target, w.win));
        do {
            old = seen;
            next = old + 1;
            seen = 0;
            MT_OK(MPI_Compare_and_swap(&next, &old, &seen, type, target, at, w.win));
            MT_OK(MPI_Win_flush(target, w.win));
            retries++;
        } while (memcmp(&seen, &old, (size_t)size) != 0 && retries < 100000000);
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_sync(&w);
    if (w.rank == target) {
        int64_t v = 0;
        memcpy(&v, w.base + 8, (size_t)size);
        int64_t want = (int64_t)n * w.size;
        CHECK(memcmp(&v, &want, (size_t)size) == 0, "%ld, expected %ld", (long)v, (long)want);
        CHECK_BYTES(w.base, 8, 0);
        CHECK_BYTES(w.base + 8 + size, (size_t)(8 - size), 0);
    }
    mt_win_free(&w);
}

/* Neighbouring small elements: an atomic on one must not lose the other's update. */
static void types(enum mt_kind kind)
{
    struct mt_win w;
    const signed char c = 1;
    const short s = 1;
    const int i4 = 1;
    const float f = 1;
    const double d = 1;
    const long double l = 1;
    const double z[2] = {1, -1};
    const struct {
        MPI_Datatype type;
        int size;
        const void *one;
    } t[] = {{MPI_SIGNED_CHAR, 1, &c},     {MPI_SHORT, 2, &s},  {MPI_INT, 4, &i4},
             {MPI_FLOAT, 4, &f},           {MPI_DOUBLE, 8, &d}, {MPI_LONG_DOUBLE, sizeof l, &l},
             {MPI_C_DOUBLE_COMPLEX, 16, z}};
    enum { T = sizeof t / sizeof t[0] };

    mt_section("element types, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, T * 256, 1, MPI_COMM_WORLD)) {
        return;
    }
    int n = times / 4;
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < T; i++) { /* every rank adds to elements 0, 1 and 2, side by side */
            for (int e = 0; e < 3; e++) {
                MT_OK(MPI_Accumulate(t[i].one, 1, t[i].type, 0,
                                     mt_disp(&w, 0, i * 256 + e * t[i].size), 1, t[i].type, MPI_SUM,
                                     w.win));
            }
        }
        MT_OK(MPI_Win_flush_local(0, w.win));
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_sync(&w);
    int want = n * w.size;
    for (int e = 0; w.rank == 0 && e < 4; e++) {
        signed char vc;
        short vs;
        int vi, expected = e < 3 ? want : 0;
        float vf;
        double vd, vz[2];
        long double vl;
        memcpy(&vc, w.base + 0 + e, 1);
        memcpy(&vs, w.base + 256 + e * 2, 2);
        memcpy(&vi, w.base + 512 + e * 4, 4);
        memcpy(&vf, w.base + 768 + e * 4, 4);
        memcpy(&vd, w.base + 1024 + e * 8, 8);
        memcpy(&vl, w.base + 1280 + e * (int)sizeof vl, sizeof vl);
        memcpy(vz, w.base + 1536 + e * 16, 16);
        CHECK(vc == (signed char)expected && vs == expected && vi == expected &&
                  vf == (float)expected && vd == expected && vl == expected && vz[0] == expected &&
                  vz[1] == -expected,
              "element %d, expected %d: char %d short %d int %d float %g double %g long double %Lg "
              "complex "
              "%g,%g",
              e, expected, vc, vs, vi, (double)vf, vd, vl, vz[0], vz[1]);
    }
    mt_win_free(&w);
}

/* A queue lock after Mellor-Crummey and Scott, of fetch_and_op, compare_and_swap and REPLACE on the
 * same words, protects a plain put/get counter (the scheme of the standard's examples, 12.8). */
static void queue_lock(enum mt_kind kind)
{
    enum { TAIL = 0, NEXT = 8, BLOCKED = 16, COUNT = 24 };
    struct mt_win w;
    int64_t nil = -1, me = mt_rank, on = 1, off = 0, pred = 0, succ = 0, v = 0;

    mt_section("queue lock, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 32, 1, MPI_COMM_WORLD)) {
        return;
    }
    memcpy(w.base + TAIL, &nil, 8);
    mt_sync(&w);
    int n = mt_size > 2 ? times / 40
                        : times / 8; /* who spins here keeps the processor from the holder */
    MT_OK(MPI_Win_lock_all(0, w.win));
#define FAO(in, out, rank, at, op)                                                             \
    do {                                                                                       \
        MT_OK(MPI_Fetch_and_op(in, out, MPI_INT64_T, rank, mt_disp(&w, rank, at), op, w.win)); \
        MT_OK(MPI_Win_flush(rank, w.win));                                                     \
    } while (0)
    for (int i = 0; i < n; i++) {
        FAO(&nil, &v, w.rank, NEXT, MPI_REPLACE);
        FAO(&on, &v, w.rank, BLOCKED, MPI_REPLACE);
        FAO(&me, &pred, 0, TAIL, MPI_REPLACE);
        if (pred != nil) {
            FAO(&me, &v, (int)pred, NEXT, MPI_REPLACE);
            do {
                FAO(NULL, &v, w.rank, BLOCKED, MPI_NO_OP);
            } while (v != 0);
        }
        MT_OK(MPI_Get(&v, 8, MPI_BYTE, 0, mt_disp(&w, 0, COUNT), 8, MPI_BYTE, w.win));
        MT_OK(MPI_Win_flush(0, w.win));
        v++;
        MT_OK(MPI_Put(&v, 8, MPI_BYTE, 0, mt_disp(&w, 0, COUNT), 8, MPI_BYTE, w.win));
        MT_OK(MPI_Win_flush(0, w.win));
        FAO(NULL, &succ, w.rank, NEXT, MPI_NO_OP);
        if (succ == nil) {
            MT_OK(MPI_Compare_and_swap(&nil, &me, &v, MPI_INT64_T, 0, mt_disp(&w, 0, TAIL), w.win));
            MT_OK(MPI_Win_flush(0, w.win));
            if (v == me) {
                continue;
            }
            do {
                FAO(NULL, &succ, w.rank, NEXT, MPI_NO_OP);
            } while (succ == nil);
        }
        FAO(&off, &v, (int)succ, BLOCKED, MPI_REPLACE);
    }
#undef FAO
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_sync(&w);
    if (w.rank == 0) {
        CHECK(load64(w.base, COUNT / 8) == (int64_t)n * w.size, "count %ld, expected %d",
              (long)load64(w.base, COUNT / 8), n * w.size);
        CHECK(load64(w.base, 0) == nil, "tail %ld", (long)load64(w.base, 0));
    }
    mt_win_free(&w);
}

/* What lies between the elements of a strided accumulate is not the accumulate's: the
 * target stores there all the while, and no store may be undone (MPI 4.1, 12.7: other
 * locations of the window may be updated at the same time, in the unified model). */
static void gaps(enum mt_kind kind)
{
    enum { PIECES = 500, APART = 2, DONE = PIECES * APART };
    struct mt_win w;
    static int64_t ones[PIECES], fetched[PIECES];
    const int64_t one = 1;
    int *model = NULL, flag = 0;
    MPI_Datatype strided;

    mt_section("gaps of strided accumulates, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, (DONE + 1) * 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    MT_OK(MPI_Win_get_attr(w.win, MPI_WIN_MODEL, &model, &flag));
    MT_OK(MPI_Type_vector(PIECES, 1, APART, MPI_INT64_T, &strided));
    MT_OK(MPI_Type_commit(&strided));
    for (int i = 0; i < PIECES; i++) {
        ones[i] = 1;
    }
    const int target = w.size - 1, n = times / 4;
    const bool stores = flag && *model == MPI_WIN_UNIFIED;
    const MPI_Aint at = mt_disp(&w, target, 0);
    int64_t k = 0, bad = 0;
    mt_sync(&w);
    if (w.rank == 0) {
        MT_OK(MPI_Win_lock_all(0, w.win));
        for (int i = 0; i < n; i++) {
            MT_OK(
                MPI_Accumulate(ones, PIECES, MPI_INT64_T, target, at, 1, strided, MPI_SUM, w.win));
            MT_OK(MPI_Get_accumulate(ones, PIECES, MPI_INT64_T, fetched, PIECES, MPI_INT64_T,
                                     target, at, 1, strided, MPI_SUM, w.win));
            MT_OK(MPI_Win_flush(target, w.win));
        }
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, MPI_Aint_add(at, DONE * 8), 1,
                             MPI_INT64_T, MPI_SUM, w.win));
        MT_OK(MPI_Win_unlock_all(w.win));
    }
    while (w.rank == target && stores && load64(w.base, DONE) == 0) {
        for (int i = 1; i < DONE; i += APART) {
            bad += load64(w.base, i) != k;
            const int64_t next = k + 1;
            memcpy(w.base + 8 * i, &next, 8);
        }
        k++;
        __asm__ volatile("" ::: "memory");
        MT_OK(MPI_Win_sync(w.win));
    }
    mt_sync(&w);
    for (int i = 0; w.rank == target && i < DONE; i++) {
        bad += load64(w.base, i) != (i % APART ? k : 2 * n);
    }
    CHECK(bad == 0, "%ld elements or gaps wrong after %ld rounds of stores", (long)bad, (long)k);
    MT_OK(MPI_Type_free(&strided));
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    times = (int)mt_rounds(times);
    MT_FOR_KINDS(kind)
    {
        ranges(kind);
        tickets(kind);
        cas_counter(kind, MPI_INT64_T, 8, false);
        cas_counter(kind, MPI_INT, 4, false);
        cas_counter(kind, MPI_SHORT, 2, false);
        cas_counter(kind, MPI_INT64_T, 8, true);
        types(kind);
        queue_lock(kind);
        gaps(kind);
    }
    return MT_FINISH();
}
