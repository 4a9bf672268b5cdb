/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xpmem.c - memory of malloc, mmap and static variables in windows of MPI_Win_create and in dynamic
 * windows, where XPMEM maps it and where it does not.
 *
 * xpmem PATH: the path that is expected to another process, "mapped" or "cma", or "any". Run over
 * the double of test/xpmem by test/lists/run-list.sh, which can refuse each of its calls. Whatever
 * the path, the data must be right; where it is mapped, MPI_Win_shared_query must tell where.
 */
#define _GNU_SOURCE 1
#include "mtest.h"

#include <mpi-rma.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 3000, REGIONS = 60, WINDOWS = 20 };

static const char *expected;
static int right, left; /* neighbours */
static size_t page;

static void check_path(const char *what, MPI_Win win)
{
    char path[MPIRMA_MAX_PATH_NAME] = "?";
    for (int t = 0; t < mt_size; t++) {
        MT_OK(MPIRMA_Win_path(win, t, path, sizeof path));
        CHECK(t == mt_rank ? !strcmp(path, "mapped")
                           : !strcmp(expected, "any") || !strcmp(path, expected),
              "%s, target %d: path %s, expected %s", what, t, path, expected);
    }
}

/* What the neighbour's memory holds is loaded and stored through the address of the query. */
static void check_query(const char *what, MPI_Win win, MPI_Aint bytes)
{
    int unit;
    MPI_Aint size = -1;
    long *at = NULL;
    MT_OK(MPI_Win_shared_query(win, right, &size, &unit, &at));
    if (strcmp(expected, "mapped") != 0)
        return;
    if (!CHECK(at != NULL && size == bytes, "%s: %ld bytes at %p", what, (long)size, (void *)at))
        return;
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    long word;
    memcpy(&word, at, sizeof word);
    CHECK(word == right, "%s: %ld is loaded from rank %d", what, word, right);
    MT_OK(MPI_Win_unlock(right, win));
}

/* Every synchronization and kind of operation, right neighbour's memory, which begins with words
 * that are its rank. */
static void use(const char *what, MPI_Win win, const long *mine)
{
    long value[4] = {mt_rank, mt_rank + 1, mt_rank + 2, mt_rank + 3}, got[4] = {-1, -1, -1, -1};
    const long one = 1, compare = right;
    MPI_Group world, group;

    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Get(got, 4, MPI_LONG, right, 0, 4, MPI_LONG, win));
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 4; i++)
        CHECK(got[i] == right, "%s, get by fence: word %d is %ld", what, i, got[i]);
    MT_OK(MPI_Put(value, 4, MPI_LONG, right, 4, 4, MPI_LONG, win));
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 4; i++)
        CHECK(mine[4 + i] == left + i, "%s, put by fence: word %d is %ld", what, i, mine[4 + i]);

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &group);
    MT_OK(MPI_Win_post(group, 0, win));
    MPI_Group_free(&group);
    MPI_Group_incl(world, 1, &right, &group);
    MT_OK(MPI_Win_start(group, 0, win));
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MT_OK(MPI_Put(value, 4, MPI_LONG, right, 8, 4, MPI_LONG, win));
    MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, right, 12, 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Win_complete(win));
    MT_OK(MPI_Win_wait(win));
    CHECK(mine[8] == left && mine[11] == left + 3 && mine[12] == mt_rank + 1,
          "%s, put by PSCW: %ld %ld, accumulate %ld", what, mine[8], mine[11], mine[12]);

    MT_OK(MPI_Win_lock_all(0, win));
    for (int t = 0; t < mt_size; t++) {
        MT_OK(MPI_Fetch_and_op(&one, got, MPI_LONG, t, 13, MPI_SUM, win));
        MT_OK(MPI_Accumulate(value, 1, MPI_LONG, t, 14, 1, MPI_LONG, MPI_MAX, win));
        MT_OK(MPI_Win_flush(t, win));
    }
    MT_OK(MPI_Compare_and_swap(&one, &compare, got, MPI_LONG, right, 15, win));
    MT_OK(MPI_Win_unlock_all(win));
    CHECK(got[0] == right, "%s, compare and swap: %ld", what, got[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win));
    CHECK(mine[13] == mt_rank + mt_size && mine[14] == mt_size - 1 && mine[15] == 1,
          "%s, atomics: %ld %ld %ld", what, mine[13], mine[14], mine[15]);
    MT_OK(MPI_Win_unlock(mt_rank, win));
}

static void fill(long *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = mt_rank;
}

/* Words at an odd place in memory, so the pages at both ends have other data, too. */
static void create(const char *what, char *memory, size_t total, size_t before)
{
    const MPI_Aint bytes = WORDS * (MPI_Aint)sizeof(long);
    long *at = (long *)(void *)(memory + before);
    MPI_Win win;

    mt_section("MPI_Win_create, %s", what);
    memset(memory, 'x', total);
    fill(at, WORDS);
    MT_OK(MPI_Win_create(at, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_path(what, win);
    check_query(what, win, bytes);
    use(what, win, at);
    MT_OK(MPI_Win_free(&win));
    CHECK_BYTES(memory, before, 'x');
    CHECK_BYTES(memory + before + bytes, total - before - (size_t)bytes, 'x');
}

static void created(void)
{
    static char memory[(WORDS + 300) * sizeof(long)];
    const size_t total = sizeof memory;
    char *heap = malloc(total);
    char *mapped = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    create("malloc", heap, total, 8);
    create("mmap", mapped, total, 800);
    create("static", memory, total, 1608);
    free(heap);
    munmap(mapped, total);
}

static void *map_at(void *at, size_t len)
{
    return mmap(at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0),
                -1, 0);
}

/* The memory of a window that still exists is replaced, and a new window over it sees what is there
 * now. */
static void mapped_anew(void)
{
    const size_t len = 4 * page;
    long *at = map_at(NULL, len);
    MPI_Win old, new;

    mt_section("memory mapped anew under a window");
    fill(at, 16);
    MT_OK(MPI_Win_create(at, (MPI_Aint)len, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &old));
    use("before", old, at);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(map_at(at, len) == at, "mmap gives other memory");
    fill(at, 16);
    MT_OK(MPI_Win_create(at, (MPI_Aint)len, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &new));
    check_path("mapped anew", new);
    use("mapped anew", new, at);
    MT_OK(MPI_Win_free(&new));
    MT_OK(MPI_Win_free(&old));
    munmap(at, len);
}

static void many_windows(void)
{
    MPI_Win win[WINDOWS];
    long *at = malloc(WINDOWS * 16 * sizeof(long));

    mt_section("many windows in the same pages");
    fill(at, WINDOWS * 16);
    for (int i = 0; i < WINDOWS; i++)
        MT_OK(MPI_Win_create(at + (ptrdiff_t)i * 16, 16 * sizeof(long), sizeof(long), MPI_INFO_NULL,
                             MPI_COMM_WORLD, &win[i]));
    for (int i = 0; i < WINDOWS; i++)
        use("one of many", win[i], at + (ptrdiff_t)i * 16);
    for (int i = 0; i < WINDOWS; i++)
        MT_OK(MPI_Win_free(&win[i]));
    free(at);
}

/* ---- dynamic windows ---- */

static MPI_Aint address_from(const void *mine, int rank)
{
    MPI_Aint all[mt_size], at;
    MPI_Get_address(mine, &at);
    MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    return all[rank];
}

/* Add 1 to a word of the right neighbour, which its owner finds. */
static void add_there(const char *what, MPI_Win win, long *mine)
{
    const MPI_Aint there = address_from(mine, right);
    const long one = 1, was = *mine;
    long got = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
    MT_OK(MPI_Get(&got, 1, MPI_LONG, right, there, 1, MPI_LONG, win));
    MT_OK(MPI_Win_flush(right, win));
    got += 1;
    MT_OK(MPI_Put(&got, 1, MPI_LONG, right, there, 1, MPI_LONG, win));
    MT_OK(MPI_Win_flush(right, win));
    MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, right, there, 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, right, there, MPI_SUM, win));
    MT_OK(MPI_Win_unlock(right, win));
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win));
    CHECK(*mine == was + 3, "%s: %ld became %ld", what, was, *mine);
    MT_OK(MPI_Win_unlock(mt_rank, win));
}

static void regions(MPI_Win win)
{
    long *at[REGIONS];

    mt_section("regions of malloc");
    for (int i = 0; i < REGIONS; i++) {
        at[i] = malloc((size_t)(i + 1) * 40);
        *at[i] = i;
        MT_OK(MPI_Win_attach(win, at[i], (i + 1) * 40));
    }
    for (int i = 0; i < REGIONS; i++)
        add_there("region", win, at[i]);
    for (int i = 0; i < REGIONS; i += 2)
        MT_OK(MPI_Win_detach(win, at[i]));
    for (int i = 1; i < REGIONS; i += 2)
        add_there("region that is left", win, at[i]);
    for (int i = 0; i < REGIONS; i += 2)
        MT_OK(MPI_Win_attach(win, at[i], (i + 1) * 40));
    for (int i = 0; i < REGIONS; i++)
        add_there("region attached again", win, at[i]);
    for (int i = 0; i < REGIONS; i++) {
        MT_OK(MPI_Win_detach(win, at[i]));
        free(at[i]);
    }
}

/* A region goes with its memory, and another one comes to the same address. */
static void region_mapped_anew(MPI_Win win)
{
    long *at = map_at(NULL, 2 * page);

    mt_section("region mapped anew");
    for (int round = 0; round < 5; round++) {
        *at = round;
        MT_OK(MPI_Win_attach(win, at, (MPI_Aint)(2 * page)));
        add_there("region mapped anew", win, at);
        MT_OK(MPI_Win_detach(win, at));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(map_at(at, 2 * page) == at, "mmap gives other memory");
    }
    munmap(at, 2 * page);
}

/* One operation on words of two regions. */
static void two_regions(MPI_Win win)
{
    long *a = malloc(1000), *b = map_at(NULL, page), value[2] = {mt_rank + 100, mt_rank + 200};
    const MPI_Aint there[2] = {address_from(a, right), address_from(b, right)};
    MPI_Datatype both;

    mt_section("an operation on two regions");
    MT_OK(MPI_Win_attach(win, a, 1000));
    MT_OK(MPI_Win_attach(win, b, (MPI_Aint)page));
    *a = *b = 1;
    MPI_Type_create_hindexed_block(2, 1, there, MPI_LONG, &both);
    MPI_Type_commit(&both);
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
    MT_OK(MPI_Accumulate(value, 2, MPI_LONG, right, 0, 1, both, MPI_SUM, win));
    MT_OK(MPI_Win_unlock(right, win));
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win));
    CHECK(*a == left + 101 && *b == left + 201, "%ld, %ld", *a, *b);
    MT_OK(MPI_Win_unlock(mt_rank, win));
    MPI_Type_free(&both);
    MT_OK(MPI_Win_detach(win, a));
    MT_OK(MPI_Win_detach(win, b));
    free(a);
    munmap(b, page);
}

static void dynamic(void)
{
    MPI_Win win;
    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_path("dynamic", win);
    regions(win);
    region_mapped_anew(win);
    two_regions(win);
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    expected = argc > 1 ? argv[1] : "any";
    page = (size_t)sysconf(_SC_PAGESIZE);
    right = (mt_rank + 1) % mt_size;
    left = (mt_rank + mt_size - 1) % mt_size;
    created();
    mapped_anew();
    many_windows();
    dynamic();
    created(); /* what was given up meanwhile stays so */
    return MT_FINISH();
}
