/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_dynamic.c - MPI_Win_attach and MPI_Win_detach (MPI 4.1, 12.2.5).
 *
 * Put, get and accumulate through absolute addresses, many regions, parts of a
 * region, detach and attach again, access to memory that is not attached
 * (MPI_ERR_RMA_RANGE, the window goes on), overlapping attaches
 * (MPI_ERR_RMA_ATTACH), attach while others use other parts, stack and global
 * memory, MPI_BOTTOM as the origin with an absolute-address datatype, memory from
 * MPI_Alloc_mem, which works on the mapped path too.
 */
#include "mtest.h"

static int global_cell[16];

/* A dynamic window without memory; false with a line where the path has none. */
static bool open_window(MPI_Win *win)
{
    int err = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win);

    if (err != MPI_SUCCESS && mt_path_is("mapped")) {
        mt_skip("dynamic windows are not available on the mapped path");
        return false;
    }
    if (!MT_OK(err)) {
        return false;
    }
    MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
    return true;
}

/* Address of every rank's memory. */
static void addresses(const void *mine, MPI_Aint *all)
{
    MPI_Aint a;

    MPI_Get_address(mine, &a);
    MPI_Allgather(&a, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
}

/* Rank r's cell gets base + r, plus 2. */
static void use(MPI_Win win, int target, MPI_Aint at, const int *cell, int base)
{
    int value = base + target, two = 2, got = -1;

    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(&value, 1, MPI_INT, target, at, 1, MPI_INT, win));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Accumulate(&two, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Get(&got, 1, MPI_INT, target, at, 1, MPI_INT, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(got == value + 2, "expected %d, got %d", value + 2, got);
    CHECK(*cell == base + mt_rank + 2, "own cell: expected %d, saw %d", base + mt_rank + 2, *cell);
}

static void kinds_of_memory(MPI_Win win)
{
    int stack_cell[16] = {0}, *heap_cell = calloc(16, sizeof(int)), *shared_cell = NULL;
    int next = (mt_rank + 1) % mt_size;
    MPI_Aint *at = malloc((size_t)mt_size * sizeof *at);

    MT_OK(MPI_Alloc_mem(16 * sizeof(int), MPI_INFO_NULL, &shared_cell));
    int *cells[4] = {stack_cell, heap_cell, global_cell, shared_cell};
    static const char *const names[4] = {"stack", "malloc", "global", "MPI_Alloc_mem"};
    for (int i = 0; i < 4; i++) {
        mt_section("attach %s memory", names[i]);
        if (i < 3 && mt_path_is("mapped")) {
            mt_skip("%s memory is not available on the mapped path", names[i]);
            continue;
        }
        if (!MT_OK(MPI_Win_attach(win, cells[i], 16 * sizeof(int)))) {
            continue;
        }
        addresses(cells[i], at);
        use(win, next, MPI_Aint_add(at[next], 4 * (MPI_Aint)sizeof(int)), &cells[i][4], 10 * i);
        MT_OK(MPI_Win_detach(win, cells[i]));
    }
    MT_OK(MPI_Free_mem(shared_cell));
    free(heap_cell);
    free(at);
}

/* One block cut into regions of different length, gaps between them; some are detached again. */
static void many_regions(MPI_Win win)
{
    enum { REGIONS = 100, STEP = 256 };
    char *block;
    int next = (mt_rank + 1) % mt_size;
    MPI_Aint *at = malloc((size_t)mt_size * sizeof *at);
    int value[REGIONS];

    mt_section("%d regions", REGIONS);
    MT_OK(MPI_Alloc_mem(REGIONS * STEP, MPI_INFO_NULL, &block));
    memset(block, 0, REGIONS * STEP);
    for (int k = 0; k < REGIONS; k++) {
        int i = k * 37 % REGIONS; /* neither ascending nor descending */
        MT_OK(MPI_Win_attach(win, block + i * STEP, 64 + i));
    }
    addresses(block, at);
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < REGIONS; i++) {
        value[i] = 1000 * mt_rank + i;
        MT_OK(MPI_Put(&value[i], 1, MPI_INT, next, MPI_Aint_add(at[next], i * STEP + 60 + i), 1,
                      MPI_INT, win));
    }
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < REGIONS; i++) {
        int v, prev = (mt_rank + mt_size - 1) % mt_size;
        memcpy(&v, block + i * STEP + 60 + i, sizeof v);
        CHECK(v == 1000 * prev + i, "region %d: expected %d, saw %d", i, 1000 * prev + i, v);
    }
    for (int i = 0; i < REGIONS; i += 2) {
        MT_OK(MPI_Win_detach(win, block + i * STEP));
    }
    MT_OK(MPI_Win_fence(0, win)); /* everybody has detached */
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    for (int i = 0; i < REGIONS; i++) {
        int err = MPI_Put(&value[i], 1, MPI_INT, next, MPI_Aint_add(at[next], i * STEP + 4), 1,
                          MPI_INT, win);
        int flushed = MPI_Win_flush(next, win);
        if (err == MPI_SUCCESS) { /* a packet target answers at the flush */
            err = flushed;
        }
        CHECK_ERR(err, i % 2 == 0 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
    }
    MT_OK(MPI_Win_unlock(next, win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i < REGIONS; i += 2) {
        MT_OK(MPI_Win_detach(win, block + i * STEP));
    }
    MT_OK(MPI_Free_mem(block));
    free(at);
}

/* More regions than a fixed table has had room for, attached in no order, each used by the next
 * rank, then detached in another order. */
static void thousands_of_regions(MPI_Win win)
{
    enum { REGIONS = 10007, STEP = 32, TRIED = 101 }; /* primes: each place once */
    char *block;
    int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    MPI_Aint *at = malloc((size_t)mt_size * sizeof *at);

    mt_section("%d regions", REGIONS);
    MT_OK(MPI_Alloc_mem(REGIONS * STEP, MPI_INFO_NULL, &block));
    memset(block, 0, REGIONS * STEP);
    for (int k = 0; k < REGIONS; k++) {
        if (!MT_OK(MPI_Win_attach(win, block + (size_t)k * 4001 % REGIONS * STEP, 16))) {
            break;
        }
    }
    addresses(block, at);
    MT_OK(MPI_Win_lock_all(0, win));
    for (int k = 0; k < TRIED; k++) {
        const int i = k * (REGIONS / TRIED);
        const long long value = 1000000LL * mt_rank + i;
        MT_OK(MPI_Put(&value, 1, MPI_LONG_LONG, next, MPI_Aint_add(at[next], i * STEP + 8), 1,
                      MPI_LONG_LONG, win));
        MT_OK(MPI_Win_flush(next, win));
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_fence(0, win));
    for (int k = 0; k < TRIED; k++) {
        const int i = k * (REGIONS / TRIED);
        long long saw;
        memcpy(&saw, block + i * STEP + 8, sizeof saw);
        CHECK(saw == 1000000LL * prev + i, "region %d: expected %lld, saw %lld", i,
              1000000LL * prev + i, saw);
    }
    for (int k = 0; k < REGIONS; k++) {
        if (!MT_OK(MPI_Win_detach(win, block + (size_t)k * 7001 % REGIONS * STEP))) {
            break;
        }
    }
    MT_OK(MPI_Free_mem(block));
    free(at);
}

/* Regions of 0 bytes: any number at one address, also where a region with bytes is; each detach
 * takes the last one that was attached there. */
static void empty_regions(MPI_Win win)
{
    int *cell;
    int next = (mt_rank + 1) % mt_size;
    MPI_Aint *at = malloc((size_t)mt_size * sizeof *at);

    mt_section("regions of 0 bytes");
    MT_OK(MPI_Alloc_mem(16 * sizeof(int), MPI_INFO_NULL, &cell));
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Win_attach(win, cell, 0));
        MT_OK(MPI_Win_attach(win, NULL, 0));
    }
    MT_OK(MPI_Win_attach(win, cell, 16 * sizeof(int)));
    MT_OK(MPI_Win_attach(win, cell, 0));
    MT_OK(MPI_Win_attach(win, cell + 4, 0));
    MT_OK(MPI_Win_detach(win, cell));
    addresses(cell, at);
    use(win, next, MPI_Aint_add(at[next], 4 * (MPI_Aint)sizeof(int)), &cell[4], 70);
    MT_OK(MPI_Win_detach(win, cell));
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Win_detach(win, cell));
        MT_OK(MPI_Win_detach(win, NULL));
    }
    MT_OK(MPI_Win_detach(win, cell + 4));
    if (!mt_host_only("errors in dynamic windows")) {
        CHECK_ERR(MPI_Win_detach(win, cell), MPI_ERR_RMA_ATTACH);
        CHECK_ERR(MPI_Win_detach(win, cell + 4), MPI_ERR_RMA_ATTACH);
        CHECK_ERR(MPI_Win_detach(win, NULL), MPI_ERR_RMA_ATTACH);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Free_mem(cell));
    free(at);
}

/* The first error of an operation and of the flush after it. */
static int put_and_flush(MPI_Win win, int target, MPI_Aint at, int count)
{
    static char buf[8192];
    int err = MPI_Put(buf, count, MPI_BYTE, target, at, count, MPI_BYTE, win);
    int flushed = MPI_Win_flush(target, win);

    return err != MPI_SUCCESS ? err : flushed;
}

static void outside(MPI_Win win)
{
    char *block;
    int next = (mt_rank + 1) % mt_size;
    MPI_Aint *at = malloc((size_t)mt_size * sizeof *at), a;

    mt_section("access to memory that is not attached");
    MT_OK(MPI_Alloc_mem(8192, MPI_INFO_NULL, &block));
    memset(block, 0, 8192);
    MT_OK(MPI_Win_attach(win, block + 1024, 1024));
    addresses(block, at);
    a = at[next];
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    CHECK_ERR(put_and_flush(win, next, a, 8), MPI_ERR_RMA_RANGE);
    CHECK_ERR(put_and_flush(win, next, MPI_Aint_add(a, 1023), 1), MPI_ERR_RMA_RANGE);
    CHECK_ERR(put_and_flush(win, next, MPI_Aint_add(a, 1020), 8), MPI_ERR_RMA_RANGE);
    CHECK_ERR(put_and_flush(win, next, MPI_Aint_add(a, 2048), 1), MPI_ERR_RMA_RANGE);
    CHECK_ERR(put_and_flush(win, next, MPI_Aint_add(a, 2044), 8), MPI_ERR_RMA_RANGE);
    CHECK_ERR(put_and_flush(win, next, MPI_Aint_add(a, 1000), 2000), MPI_ERR_RMA_RANGE);
    CHECK_ERR(put_and_flush(win, next, 0, 4), MPI_ERR_RMA_RANGE);
    MT_OK(put_and_flush(win, next, MPI_Aint_add(a, 1024), 1024));
    MT_OK(put_and_flush(win, next, MPI_Aint_add(a, 2047), 1));
    MT_OK(MPI_Win_unlock(next, win));
    CHECK_PUT_WORKS(win, next, MPI_Aint_add(a, 1024 + 4 * mt_rank), 70 + mt_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_BYTES(block, 1024, 0);
    CHECK_BYTES(block + 2048, 8192 - 2048, 0);
    MT_OK(MPI_Win_detach(win, block + 1024));
    MT_OK(MPI_Free_mem(block));
    free(at);
}

static void attach_errors(MPI_Win win)
{
    char *block;

    mt_section("attach and detach errors");
    MT_OK(MPI_Alloc_mem(4096, MPI_INFO_NULL, &block));
    MT_OK(MPI_Win_attach(win, block + 1024, 1024));
    CHECK_ERR(MPI_Win_attach(win, block + 1024, 1024), MPI_ERR_RMA_ATTACH);
    CHECK_ERR(MPI_Win_attach(win, block, 1025), MPI_ERR_RMA_ATTACH);
    CHECK_ERR(MPI_Win_attach(win, block + 2047, 1), MPI_ERR_RMA_ATTACH);
    CHECK_ERR(MPI_Win_attach(win, block, 4096), MPI_ERR_RMA_ATTACH);
    CHECK_ERR(MPI_Win_attach(win, block + 1100, 8), MPI_ERR_RMA_ATTACH);
    MT_OK(MPI_Win_attach(win, block, 1024)); /* touching is not overlapping */
    MT_OK(MPI_Win_attach(win, block + 2048, 1024));
    CHECK_ERR(MPI_Win_attach(win, block, -1), MPI_ERR_SIZE);
    CHECK(MPI_Win_detach(win, block + 8) != MPI_SUCCESS, "detach of no region's start");
    MT_OK(MPI_Win_detach(win, block));
    CHECK(MPI_Win_detach(win, block) != MPI_SUCCESS, "detach a second time");
    MT_OK(MPI_Win_detach(win, block + 2048));
    MT_OK(MPI_Win_detach(win, block + 1024));
    MT_OK(MPI_Win_attach(win, block, 4096)); /* now free */
    MT_OK(MPI_Win_detach(win, block));
    MT_OK(MPI_Free_mem(block));
}

/* Everybody works on rank 0's first region while rank 0 attaches and detaches others. */
static void attach_under_fire(MPI_Win win)
{
    enum { OTHERS = 64 };
    char *block;
    MPI_Aint *at = malloc((size_t)mt_size * sizeof *at);
    int rounds = mt_size > 2 ? 40 : 300, one = 1;

    mt_section("attach while others use other parts");
    MT_OK(MPI_Alloc_mem(4096 * (OTHERS + 1), MPI_INFO_NULL, &block));
    memset(block, 0, 64);
    MT_OK(MPI_Win_attach(win, block, 64));
    addresses(block, at);
    MT_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < rounds; i++) {
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, at[0], 1, MPI_INT, MPI_SUM, win));
        MT_OK(MPI_Win_flush(0, win));
        if (mt_rank == 0) {
            char *other = block + 4096 * (1 + i % OTHERS);
            MT_OK(MPI_Win_attach(win, other, 4096));
            MT_OK(MPI_Win_detach(win, other));
        }
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_fence(0, win));
    if (mt_rank == 0) {
        int sum;
        memcpy(&sum, block, sizeof sum);
        CHECK(sum == rounds * mt_size, "expected %d, saw %d", rounds * mt_size, sum);
    }
    MT_OK(MPI_Win_detach(win, block));
    MT_OK(MPI_Free_mem(block));
    free(at);
}

/* Origin and target described by absolute addresses: MPI_BOTTOM with an hindexed type. */
static void bottom_as_origin(MPI_Win win)
{
    int values[2] = {11 + mt_rank, 22 + mt_rank}, *cell, one = 1,
        prev = (mt_rank + mt_size - 1) % mt_size;
    int next = (mt_rank + 1) % mt_size;
    MPI_Aint *at = malloc((size_t)mt_size * sizeof *at), from[2];
    MPI_Datatype type;
    int lengths[2] = {1, 1};

    mt_section("MPI_BOTTOM");
    MT_OK(MPI_Alloc_mem(2 * sizeof(int), MPI_INFO_NULL, &cell));
    cell[0] = cell[1] = 0;
    MT_OK(MPI_Win_attach(win, cell, 2 * sizeof(int)));
    addresses(cell, at);
    MPI_Get_address(&values[1], &from[0]);
    MPI_Get_address(&values[0], &from[1]);
    MPI_Type_create_hindexed(2, lengths, from, MPI_INT, &type);
    MPI_Type_commit(&type);
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(MPI_BOTTOM, 1, type, next, at[next], 2, MPI_INT, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(cell[0] == 22 + prev && cell[1] == 11 + prev, "saw %d, %d", cell[0], cell[1]);
    MPI_Type_free(&type);

    /* The target's address inside its datatype, displacement 0 (which is MPI_BOTTOM there). */
    MPI_Type_create_hindexed(1, &one, &at[next], MPI_INT, &type);
    MPI_Type_commit(&type);
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(&values[0], 1, MPI_INT, next, 0, 1, type, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(cell[0] == 11 + prev, "expected %d, saw %d", 11 + prev, cell[0]);
    MPI_Type_free(&type);
    MT_OK(MPI_Win_detach(win, cell));
    MT_OK(MPI_Free_mem(cell));
    free(at);
}

int main(int argc, char **argv)
{
    MPI_Win win;

    MT_INIT(argc, argv);
    mt_section("create");
    if (open_window(&win)) {
        kinds_of_memory(win);
        many_regions(win);
        thousands_of_regions(win);
        empty_regions(win);
        if (!mt_host_only("errors in dynamic windows")) {
            outside(win);
            attach_errors(win);
        }
        attach_under_fire(win);
        bottom_as_origin(win);
        mt_section("free with memory attached");
        MT_OK(MPI_Win_attach(win, MPI_BOTTOM, 0));
        int *last;
        MT_OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &last));
        MT_OK(MPI_Win_attach(win, last, 64));
        MT_OK(MPI_Win_free(&win));
        MT_OK(MPI_Free_mem(last));
    }
    return MT_FINISH();
}
