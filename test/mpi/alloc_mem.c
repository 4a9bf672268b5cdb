/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc_mem.c - MPI_Alloc_mem and MPI_Free_mem (MPI 4.1, 10.2 "Memory Allocation").
 *
 * Sizes from 0 to tens of MiB, contents kept apart, the alignment hint
 * mpi_minimum_memory_alignment, errors (negative size, more than there is, free
 * of what was never allocated or already freed), freeing in another order, memory
 * reused many times, windows over whole and part of an allocation.
 */
#include "mtest.h"

static const MPI_Aint sizes[] = {0,    1,    2,    63,    64,      65,           1000,
                                 4095, 4096, 4097, 65536, 1 << 20, (5 << 20) + 3};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void many_sizes(void)
{
    unsigned char *p[SIZES];

    mt_section("sizes");
    for (int i = 0; i < SIZES; i++) {
        p[i] = NULL;
        if (!MT_OK(MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &p[i]))) {
            return;
        }
        if (sizes[i] > 0) {
            CHECK(p[i] != NULL, "no memory for %ld bytes", (long)sizes[i]);
            CHECK((uintptr_t)p[i] % 16 == 0, "%p for %ld bytes", (void *)p[i], (long)sizes[i]);
            memset(p[i], i + 1, (size_t)sizes[i]);
        }
    }
    for (int i = 0; i < SIZES; i++) {
        CHECK_BYTES(p[i], (size_t)sizes[i], i + 1);
    }
    for (int i = 0; i < SIZES; i += 2) {
        MT_OK(MPI_Free_mem(p[i]));
    }
    for (int i = 1; i < SIZES; i += 2) {
        CHECK_BYTES(p[i], (size_t)sizes[i], i + 1);
        MT_OK(MPI_Free_mem(p[i]));
    }
}

static void alignment(void)
{
    static const char *const values[] = {"8", "64", "512", "4096", "65536", "2097152"};

    for (int i = 0; i < 6; i++) {
        MPI_Info info;
        uintptr_t want = (uintptr_t)atol(values[i]);
        void *p[3];
        mt_section("mpi_minimum_memory_alignment=%s", values[i]);
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", values[i]);
        for (int k = 0; k < 3; k++) {
            p[k] = NULL;
            if (MT_OK(MPI_Alloc_mem(100 + k, info, &p[k]))) {
                CHECK((uintptr_t)p[k] % want == 0, "%p", p[k]);
                memset(p[k], 1, 100);
            }
        }
        for (int k = 0; k < 3; k++) {
            MT_OK(MPI_Free_mem(p[k]));
        }
        MPI_Info_free(&info);
    }
}

static void errors(void)
{
    static char never[256];
    void *p = NULL;
    char *q = NULL;

    mt_section("errors");
    CHECK_ERR(MPI_Alloc_mem(-1, MPI_INFO_NULL, &p), MPI_ERR_ARG);
    CHECK_ERR(MPI_Alloc_mem((MPI_Aint)1 << 56, MPI_INFO_NULL, &p), MPI_ERR_NO_MEM);
    CHECK_ERR(MPI_Free_mem(never), MPI_ERR_BASE);
    CHECK_ERR(MPI_Free_mem(&p), MPI_ERR_BASE);
    if (!MT_OK(MPI_Alloc_mem(4096, MPI_INFO_NULL, &q))) {
        return;
    }
    CHECK_ERR(MPI_Free_mem(q + 64), MPI_ERR_BASE);
    memset(q, 7, 4096);
    MT_OK(MPI_Free_mem(q));
    CHECK_ERR(MPI_Free_mem(q), MPI_ERR_BASE);
    if (MT_OK(MPI_Alloc_mem(4096, MPI_INFO_NULL, &q))) {
        memset(q, 8, 4096);
        MT_OK(MPI_Free_mem(q));
    }
}

/* Thousands of blocks of random size, at most 64 alive, contents checked. */
static void churn(void)
{
    enum { SLOTS = 64 };
    struct {
        unsigned char *p;
        size_t size;
        int mark;
    } slot[SLOTS] = {{NULL, 0, 0}};
    struct mt_rng rng = mt_rng((uint64_t)mt_rank);

    mt_section("churn");
    for (int i = 0; i < 4000; i++) {
        int s = (int)mt_rng_below(&rng, SLOTS);
        if (slot[s].p != NULL) {
            CHECK(slot[s].p[0] == slot[s].mark && slot[s].p[slot[s].size - 1] == slot[s].mark,
                  "block %d of %zu bytes was overwritten", s, slot[s].size);
            MT_OK(MPI_Free_mem(slot[s].p));
            slot[s].p = NULL;
        } else {
            slot[s].size = 1 + mt_rng_below(&rng, 1u << mt_rng_below(&rng, 18));
            slot[s].mark = i & 0xff;
            if (MT_OK(MPI_Alloc_mem((MPI_Aint)slot[s].size, MPI_INFO_NULL, &slot[s].p))) {
                slot[s].p[0] = slot[s].p[slot[s].size - 1] = (unsigned char)slot[s].mark;
            }
        }
    }
    for (int s = 0; s < SLOTS; s++) {
        if (slot[s].p != NULL) {
            MT_OK(MPI_Free_mem(slot[s].p));
        }
    }
}

/* A window over the middle of a block; then freed, and the block is still whole. */
static void windows_over_it(void)
{
    static const MPI_Aint blocks[] = {256, 100000, 6 << 20};
    int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;

    for (int i = 0; i < 3; i++) {
        MPI_Aint bytes = blocks[i];
        unsigned char *p, fill[64];
        MPI_Win win;
        mt_section("window over %ld bytes", (long)bytes);
        if (!MT_OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &p))) {
            return;
        }
        memset(p, 0x11, (size_t)bytes);
        if (!MT_OK(MPI_Win_create(p + 64, bytes - 128, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win))) {
            MT_OK(MPI_Free_mem(p));
            continue;
        }
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        memset(fill, 0x40 + mt_rank, sizeof fill);
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Put(fill, 64, MPI_BYTE, next, 0, 64, MPI_BYTE, win));
        MT_OK(MPI_Put(fill, 64, MPI_BYTE, next, bytes - 192, 64, MPI_BYTE, win));
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Win_free(&win));
        CHECK_BYTES(p, 64, 0x11);
        CHECK_BYTES(p + 64, 64, 0x40 + prev);
        CHECK_BYTES(p + 128, (size_t)bytes - 256, bytes > 256 ? 0x11 : 0x40 + prev);
        CHECK_BYTES(p + bytes - 128, 64, 0x40 + prev);
        CHECK_BYTES(p + bytes - 64, 64, 0x11);
        MT_OK(MPI_Free_mem(p));
    }
}

/* Some ranks bring MPI_Alloc_mem memory, some malloc: each target has its own path. */
static void mixed_memory(void)
{
    int *cell = NULL, next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    int value = 31 + mt_rank;
    MPI_Win win;

    mt_section("malloc on odd ranks");
    if (mt_path_is("mapped")) {
        mt_skip("malloc memory is not available on the mapped path");
        return;
    }
    if (mt_rank % 2 == 1) {
        cell = malloc(64);
    } else if (!MT_OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &cell))) {
        return;
    }
    if (MT_OK(MPI_Win_create(cell, 64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win))) {
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Put(&value, 1, MPI_INT, next, 3, 1, MPI_INT, win));
        MT_OK(MPI_Win_fence(0, win));
        CHECK(cell[3] == 31 + prev, "expected %d, saw %d", 31 + prev, cell[3]);
        MT_OK(MPI_Win_free(&win));
    }
    if (mt_rank % 2 == 0) {
        MT_OK(MPI_Free_mem(cell));
    } else {
        free(cell);
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    many_sizes();
    if (mt_failures() > 0) {
        return MT_FINISH(); /* nothing else here works without memory */
    }
    alignment();
    if (!mt_host_only("errors of MPI_Free_mem")) {
        errors();
    }
    churn();
    windows_over_it();
    mixed_memory();
    return MT_FINISH();
}
