/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc_touch.c - memory that is not used costs nothing: MPI_Alloc_mem and windows have no pages
 * before somebody touches them, unless the info key mpirma_populate asks for them; a program that
 * allocates and frees in turn pays as little as with private memory.
 */
#define _GNU_SOURCE 1
#include "mtest.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static size_t page;

/* Pages of [at, at+len) that exist, whoever has touched them. */
static size_t pages(const void *at, size_t len)
{
    const uintptr_t lo = (uintptr_t)at & ~(page - 1);
    const size_t n = ((uintptr_t)at + len - lo + page - 1) / page;
    unsigned char *there = malloc(n);
    size_t sum = 0;

    if (CHECK(there != NULL && mincore((void *)lo, n * page, there) == 0, "mincore of %zu pages",
              n))
        for (size_t i = 0; i < n; i++)
            sum += there[i] & 1;
    free(there);
    return sum;
}

static MPI_Info info_with(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

/* With huge pages for shared memory one touch makes many. */
static size_t most(size_t touched)
{
    return touched * (2 * MIB / page);
}

static void allocations(void)
{
    static const size_t sizes[] = {1024 * MIB, 42 * MIB, MIB, 300000};

    for (int i = 0; i < 4; i++) {
        char *p = NULL;
        mt_section("MPI_Alloc_mem of %zu bytes", sizes[i]);
        if (!MT_OK(MPI_Alloc_mem((MPI_Aint)sizes[i], MPI_INFO_NULL, &p)))
            continue;
        CHECK(pages(p, sizes[i]) == 0, "%zu pages before anything is touched", pages(p, sizes[i]));
        p[sizes[i] / 2] = 1;
        CHECK(pages(p, sizes[i]) >= 1 && pages(p, sizes[i]) <= most(1), "%zu pages for one",
              pages(p, sizes[i]));
        MT_OK(MPI_Free_mem(p));
    }
}

/* Each rank looks at its own part before anybody uses the window. */
static void check_window(MPI_Win win, char *mine, size_t size)
{
    const int next = (mt_rank + 1) % mt_size;
    int disp_unit;
    MPI_Aint theirs;
    char *at;

    CHECK(pages(mine, size) == 0, "%zu pages before anything is touched", pages(mine, size));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put("x", 1, MPI_CHAR, next, (MPI_Aint)size - 1, 1, MPI_CHAR, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(mine[size - 1] == 'x', "the put did not arrive");
    MT_OK(MPI_Win_shared_query(win, mt_rank, &theirs, &disp_unit, &at));
    CHECK(pages(mine, size) <= most(1), "%zu pages for one", pages(mine, size));
    MT_OK(MPI_Win_free(&win));
}

static void windows(void)
{
    MPI_Info apart = info_with("alloc_shared_noncontig", "true");
    MPI_Win win;
    char *p, *used;

    for (size_t size = 3 * MIB; size <= 256 * MIB; size *= 8) {
        mt_section("MPI_Win_allocate of %zu bytes", size);
        if (MT_OK(MPI_Win_allocate((MPI_Aint)size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win)))
            check_window(win, p, size);
        mt_section("MPI_Win_allocate_shared of %zu bytes", size);
        if (MT_OK(MPI_Win_allocate_shared((MPI_Aint)size, 1, apart, MPI_COMM_WORLD, &p, &win)))
            check_window(win, p, size);
    }
    mt_section("a small shared window with parts of their own");
    if (MT_OK(MPI_Win_allocate(200000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &used, &win))) {
        memset(used, 1, 200000); /* so that the heap has pages */
        MT_OK(MPI_Win_free(&win));
    }
    if (MT_OK(MPI_Win_allocate_shared(4 * (MPI_Aint)page, 1, apart, MPI_COMM_WORLD, &p, &win)))
        check_window(win, p, 4 * page);
    MPI_Info_free(&apart);
}

static void check_reported(MPI_Win win)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info used;
    int there = 0;

    if (!MT_OK(MPI_Win_get_info(win, &used)))
        return;
    MPI_Info_get(used, "mpirma_populate", MPI_MAX_INFO_VAL, value, &there);
    CHECK(there && strcmp(value, "true") == 0, "mpirma_populate is \"%s\"", value);
    MPI_Info_free(&used);
}

static void at_once(void)
{
    const size_t size = 5 * MIB + 100, all = (size + page - 1) / page;
    MPI_Info info = info_with("mpirma_populate", "true"),
             wrong = info_with("mpirma_populate", "perhaps");
    MPI_Win win;
    char *p;

    mt_section("mpirma_populate");
    if (MT_OK(MPI_Alloc_mem((MPI_Aint)size, info, &p))) {
        CHECK(pages(p, size) >= all, "%zu pages of %zu", pages(p, size), all);
        MT_OK(MPI_Free_mem(p));
    }
    if (MT_OK(MPI_Alloc_mem(100, wrong, &p))) /* a value that is not understood is ignored */
        MT_OK(MPI_Free_mem(p));
    if (MT_OK(MPI_Win_allocate((MPI_Aint)size, 1, info, MPI_COMM_WORLD, &p, &win))) {
        CHECK(pages(p, size) >= all, "%zu pages of %zu", pages(p, size), all);
        check_reported(win);
        MT_OK(MPI_Win_free(&win));
    }
    if (MT_OK(MPI_Win_allocate_shared((MPI_Aint)size, 1, info, MPI_COMM_WORLD, &p, &win))) {
        CHECK(pages(p, size) >= all, "%zu pages of %zu", pages(p, size), all);
        MT_OK(MPI_Win_free(&win));
    }
    MPI_Info_free(&info);
    MPI_Info_free(&wrong);
}

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void touch_a_little(char *p, size_t size)
{
    for (size_t at = 0; at < size; at += size / 3)
        p[at] = 1;
}

/* What a chemistry program does all the time, beside the same with memory of mmap. */
static void again_and_again(void)
{
    enum { TIMES = 423 };
    const size_t size = 42 * MIB;
    double ours = 0, bare = 0, t;

    mt_section("%d times %zu bytes", TIMES, size);
    for (int i = 0; i < TIMES; i++) {
        char *p;
        t = now();
        if (!MT_OK(MPI_Alloc_mem((MPI_Aint)size, MPI_INFO_NULL, &p)))
            return;
        touch_a_little(p, size);
        CHECK(i % 100 || pages(p, size) <= most(4), "%zu pages in round %d", pages(p, size), i);
        MT_OK(MPI_Free_mem(p));
        ours += now() - t;
        t = now();
        p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (!CHECK(p != MAP_FAILED, "no memory"))
            return;
        touch_a_little(p, size);
        munmap(p, size);
        bare += now() - t;
    }
    CHECK(ours <= 10 * bare + 0.1, "%.3f ms each, and %.3f ms with mmap", ours / TIMES * 1e3,
          bare / TIMES * 1e3);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    page = (size_t)sysconf(_SC_PAGESIZE);
    allocations();
    windows();
    at_once();
    again_and_again();
    return MT_FINISH();
}
