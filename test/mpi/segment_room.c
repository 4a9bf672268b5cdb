/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment_room.c - windows that do not fit; run by env_nonsense.sh.
 *
 * Arguments: MiB that must not fit, what ran out ("memory" or "descriptors").
 * memory: MPI_Win_allocate, MPI_Win_allocate_shared and MPI_Alloc_mem of that size
 * give MPI_ERR_NO_MEM on every rank concerned (also when only the last rank asks
 * too much), then small windows work. descriptors: windows are made until one is
 * refused, with an error and not a crash; those that exist work and are freed.
 */
#include "mtest.h"

static void small_window_works(int value)
{
    struct mt_win w;

    if (mt_win_make(&w, MT_ALLOCATE, 64, 4, MPI_COMM_WORLD)) {
        CHECK_PUT_WORKS(w.win, (mt_rank + 1) % mt_size, 2, value);
        mt_win_free(&w);
    }
}

static void no_memory(MPI_Aint bytes)
{
    bool last = mt_rank == mt_size - 1;
    MPI_Win win = MPI_WIN_NULL;
    void *base = NULL;

    mt_section("before");
    small_window_works(1);
    for (int round = 0; round < 3; round++) {
        mt_section("%ld bytes, round %d", (long)bytes, round);
        CHECK_ERR(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                  MPI_ERR_NO_MEM);
        CHECK_ERR(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                  MPI_ERR_NO_MEM);
        CHECK_ERR(
            MPI_Win_allocate(last ? bytes : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
            MPI_ERR_NO_MEM);
        CHECK_ERR(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base), MPI_ERR_NO_MEM);
        CHECK(win == MPI_WIN_NULL && base == NULL, "refused calls must not touch their results");
        small_window_works(2 + round);
    }
}

static void no_descriptors(void)
{
    enum { MOST = 100 };
    static struct {
        MPI_Win win;
        int *base;
    } have[MOST];
    int n = 0, err = MPI_SUCCESS, errclass;

    mt_section("windows until there are no descriptors");
    MPI_Barrier(MPI_COMM_WORLD);
    for (; n < MOST; n++) {
        err = MPI_Win_allocate((5 << 20) + 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &have[n].base,
                               &have[n].win);
        if (err != MPI_SUCCESS) {
            break;
        }
        MPI_Win_set_errhandler(have[n].win, MPI_ERRORS_RETURN);
    }
    if (err != MPI_SUCCESS) {
        MPI_Error_class(err, &errclass);
        CHECK(errclass == MPI_ERR_NO_MEM || errclass == MPI_ERR_OTHER, "%s",
              mt_class_name(errclass));
    }
    if (mt_rank == 0) {
        printf("segment_room: %d windows, then %s\n", n,
               err != MPI_SUCCESS ? "an error" : "enough");
    }
    for (int i = 0; i < n; i++) {
        CHECK_PUT_WORKS(have[i].win, (mt_rank + 1) % mt_size, 4 * mt_rank, i);
    }
    for (int i = 0; i < n; i++) {
        MT_OK(MPI_Win_free(&have[i].win));
    }
    mt_section("after");
    small_window_works(9);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MPI_Aint bytes = argc > 1 ? (MPI_Aint)atol(argv[1]) << 20 : 0;
    if (!CHECK(argc == 3 && bytes > 0, "usage: segment_room MIB memory|descriptors")) {
        return MT_FINISH();
    }
    if (strcmp(argv[2], "memory") == 0) {
        no_memory(bytes);
    } else {
        no_descriptors();
    }
    return MT_FINISH();
}
