/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_windows.c - many windows at a time, and many one after the other (MPI 4.1, 12.2): each
 * works, and what they took of memory, descriptors and mappings is given back.
 *
 *   many_windows                 short forms of all
 *   many_windows open N          N windows of all kinds in turn, open together
 *   many_windows cycles N        N windows created, used and freed one after the other
 *   many_windows unflushed N     N puts and accumulates in one epoch without a flush
 */
#include "mtest.h"

#include <dirent.h>

enum { BYTES = 256, OPEN = 60, CYCLES = 300, UNFLUSHED = 200000, WARM = 50 };

/* What this process has now. */
struct holdings {
    long descriptors, mappings, kib;
};

static long lines_of(const char *path)
{
    FILE *f = fopen(path, "r");
    long n = 0;

    for (int c; f != NULL && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f != NULL)
        fclose(f);
    return n;
}

static struct holdings holdings(void)
{
    struct holdings h = {0, lines_of("/proc/self/maps"), 0};
    long pages = 0, resident = 0;
    DIR *dir = opendir("/proc/self/fd");
    FILE *f = fopen("/proc/self/statm", "r");

    while (dir != NULL && readdir(dir) != NULL)
        h.descriptors++;
    if (dir != NULL)
        closedir(dir);
    if (f != NULL && fscanf(f, "%ld %ld", &pages, &resident) == 2)
        h.kib = resident * 4;
    if (f != NULL)
        fclose(f);
    return h;
}

/* Another has at most so much more. */
static void check_growth(const struct holdings *before, const char *of, long kib)
{
    const struct holdings now = holdings();

    if (mt_rank == 0)
        printf(
            "%s: descriptors %ld, then %ld; mappings %ld, then %ld; KiB resident %ld, then %ld\n",
            of, before->descriptors, now.descriptors, before->mappings, now.mappings, before->kib,
            now.kib);
    CHECK(now.descriptors <= before->descriptors, "%s: %ld descriptors, %ld before", of,
          now.descriptors, before->descriptors);
    CHECK(now.mappings <= before->mappings + 8, "%s: %ld mappings, %ld before", of, now.mappings,
          before->mappings);
    CHECK(MT_FREED_IS_KEPT || now.kib <= before->kib + kib, "%s: %ld KiB resident, %ld before", of,
          now.kib, before->kib);
}

/* Every rank tells its right neighbour a number, and looks what the left one has told. */
static void use(struct mt_win *w, int64_t number)
{
    const int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size;
    const int64_t mine = number * 1000 + mt_rank;

    MT_OK(MPI_Win_fence(0, w->win));
    MT_OK(MPI_Put(&mine, 1, MPI_INT64_T, right, mt_disp(w, right, 8), 1, MPI_INT64_T, w->win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    int64_t seen;
    memcpy(&seen, w->base + 8, sizeof seen);
    CHECK(seen == number * 1000 + left, "window %lld: %lld", (long long)number, (long long)seen);
}

static bool make(struct mt_win *w, int i)
{
    static bool cannot[MT_KINDS]; /* on this path or over nodes, the same on all ranks */
    const enum mt_kind kind = (enum mt_kind)(i % MT_KINDS);

    if (kind == MT_CREATE_ODD || cannot[kind]) /* its memory is not aligned for a number */
        return mt_win_make(w, MT_ALLOCATE, BYTES, 1, MPI_COMM_WORLD);
    if (mt_win_make(w, kind, BYTES, 1, MPI_COMM_WORLD))
        return true;
    cannot[kind] = true;
    return mt_win_make(w, MT_ALLOCATE, BYTES, 1, MPI_COMM_WORLD);
}

static void open_together(int n)
{
    struct mt_win *w = calloc((size_t)n, sizeof *w);
    int made = 0;

    mt_section("%d windows at a time", n);
    while (made < n && make(&w[made], made))
        made++;
    CHECK(made == n, "%d of %d windows", made, n);
    for (int i = 0; i < made; i++)
        use(&w[i], i);
    for (int i = 0; i < made; i += 2) /* in another order than they came */
        mt_win_free(&w[i]);
    for (int i = 1; i < made; i += 2)
        use(&w[i], i + 7);
    for (int i = 1; i < made; i += 2)
        mt_win_free(&w[i]);
    free(w);
}

static void cycles(int n)
{
    struct holdings before = {0, 0, 0};
    struct mt_win w;

    for (int i = 0; i < n; i++) {
        if (i % 1000 == 0)
            mt_section("%d windows one after the other, from %d on", n, i);
        if (i == WARM)
            before = holdings();
        if (!make(&w, i))
            return;
        use(&w, i);
        mt_win_free(&w);
    }
    if (n > WARM)
        check_growth(&before, "windows created and freed", n < 10000 ? 1024 : 4096);
}

/* Puts to the neighbour, and a sum that tells whether one was lost. */
static void unflushed(enum mt_kind kind, long n)
{
    const int right = (mt_rank + 1) % mt_size;
    const int64_t one = 1;
    struct mt_win w;

    mt_section("%ld operations without a flush, %s", n, mt_kind_name(kind));
    if (!mt_win_make(&w, kind, BYTES, 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Win_lock_all(0, w.win));
    const struct holdings before = holdings();
    for (long i = 0; i < n; i++) {
        if (i % 1000000 == 999999)
            mt_section("%ld of %ld operations without a flush, %s", i + 1, n, mt_kind_name(kind));
        if (i % 2)
            MT_OK(MPI_Put(&one, 1, MPI_INT64_T, right, mt_disp(&w, right, 16 + i % 8 * 8), 1,
                          MPI_INT64_T, w.win));
        else
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, right, mt_disp(&w, right, 8), 1, MPI_INT64_T,
                                 MPI_SUM, w.win));
    }
    check_growth(&before, "operations without a flush", 16 * 1024);
    MT_OK(MPI_Win_unlock_all(w.win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    int64_t sum;
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w.win));
    memcpy(&sum, w.base + 8, sizeof sum);
    MT_OK(MPI_Win_unlock(mt_rank, w.win));
    CHECK(sum == (n + 1) / 2, "%lld of %ld accumulates", (long long)sum, (n + 1) / 2);
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const char *what = argc > 2 ? argv[1] : "";
    const long n = argc > 2 ? atol(argv[2]) : 0;

    if (strcmp(what, "open") == 0) {
        open_together((int)n);
    } else if (strcmp(what, "cycles") == 0) {
        cycles((int)n);
    } else if (strcmp(what, "unflushed") == 0) {
        unflushed(MT_ALLOCATE, n);
        unflushed(MT_CREATE_MALLOC, n);
    } else {
        open_together(OPEN);
        cycles(CYCLES);
        unflushed(MT_ALLOCATE, UNFLUSHED);
        unflushed(MT_CREATE_MALLOC, UNFLUSHED);
    }
    return MT_FINISH();
}
