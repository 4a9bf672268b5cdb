/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_over_shared.c - MPI_Win_create over memory that is shared already (MPI 4.1, 12.2.1
 * and 12.2.3).
 *
 * The memory is this process's part of a window of MPI_Win_allocate_shared or MPI_Win_allocate, or
 * another's, reached by MPI_Win_shared_query: whoever has made the segment, the new window is
 * mapped like the old one. Contents of puts, gets and accumulates, and the loads and stores of all
 * who see the same memory by the old window.
 */
#include "mtcomm.h"

enum { SMALL = 4096, LARGE = 1 << 20, SKIP = 64 };

/* Everybody stores at the next rank's part of the new window, by put and by accumulate, and
 * fetches. */
static void operate(MPI_Win win, int next)
{
    const int64_t v = 1000 + mt_rank, one = 1;
    int64_t got = -1, old = -1;

    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    MT_OK(MPI_Put(&v, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, win));
    MT_OK(MPI_Win_flush(next, win));
    MT_OK(MPI_Get(&got, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, win));
    MT_OK(MPI_Win_flush(next, win));
    CHECK(got == v, "expected %ld, saw %ld", (long)v, (long)got);
    MT_OK(MPI_Win_unlock(next, win));
    MT_OK(MPI_Win_lock_all(0, win));
    for (int r = 0; r < mt_size; r++) {
        MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, r, 8, MPI_SUM, win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, r, 16, 1, MPI_INT64_T, MPI_SUM, win));
    }
    MT_OK(MPI_Win_unlock_all(win));
}

/* A window of this process over the part of rank (mt_rank + shift). */
static void over_part(enum mt_kind kind, MPI_Aint bytes, int shift)
{
    const int owner = (mt_rank + shift) % mt_size, next = (mt_rank + 1) % mt_size;
    struct mt_win shared;
    MPI_Win win;
    MPI_Aint size;
    int unit;
    char *part, *mapped = NULL;

    mt_section("%s, parts of %ld bytes, %s", mt_kind_name(kind), (long)bytes,
               shift ? "another's" : "one's own");
    if (!mt_win_make(&shared, kind, bytes, 1, MPI_COMM_WORLD)) {
        return;
    }
    MT_OK(MPI_Win_shared_query(shared.win, owner, &size, &unit, &part));
    if (size == 0 && !mt_path_is("auto") &&
        !mt_path_is("mapped")) { /* not mapped where a path is forced */
        mt_win_free(&shared);
        return;
    }
    if (MT_OK(MPI_Win_create(part + SKIP, bytes - 2 * SKIP, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                             &win))) {
        MT_OK(MPI_Win_shared_query(win, next, &size, &unit, &mapped));
        if (mt_path_is("auto") || mt_path_is("mapped")) {
            CHECK(size == bytes - 2 * SKIP && mapped != NULL, "not mapped: %ld bytes", (long)size);
        }
        mt_sync(&shared);
        operate(win, next);
        mt_sync(&shared);
        const int64_t *seen = (const void *)(part + SKIP);
        CHECK(seen[0] == 1000 + (mt_rank + mt_size - 1) % mt_size, "saw %ld", (long)seen[0]);
        CHECK(seen[1] == mt_size && seen[2] == mt_size, "saw %ld and %ld", (long)seen[1],
              (long)seen[2]);
        MT_OK(MPI_Win_free(&win));
    }
    mt_win_free(&shared);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    for (int shift = 0; shift < 2; shift++) {
        over_part(MT_ALLOCATE_SHARED, SMALL, shift);
        over_part(MT_ALLOCATE_SHARED, LARGE, shift);
        over_part(MT_ALLOCATE, SMALL, shift);
        over_part(MT_ALLOCATE, LARGE, shift);
    }
    return MT_FINISH();
}
