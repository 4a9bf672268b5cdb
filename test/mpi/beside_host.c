/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * beside_host.c - what of the host uses windows, or looks like it, beside the library's windows:
 * parallel files (ROMIO and OMPIO, with shared file pointers, collective and atomic access),
 * communicators made in an epoch, and other collective calls. Neither disturbs the other.
 */
#include "mtest.h"

#include <unistd.h>

enum { CELLS = 1024, ROUNDS = 5 };

static struct mt_win w;

static void put_somewhere(int64_t value)
{
    const int right = (mt_rank + 1) % mt_size;
    MT_OK(MPI_Put(&value, 1, MPI_INT64_T, right, mt_disp(&w, right, 8), 1, MPI_INT64_T, w.win));
}

static void check_put(int64_t value)
{
    int64_t seen;
    memcpy(&seen, w.base + 8, sizeof seen);
    CHECK(seen == value, "%lld, not %lld", (long long)seen, (long long)value);
}

/* One file, open while epochs come and go: blocks of each rank by collective and by shared pointer.
 */
static void files(const char *name)
{
    const int left = (mt_rank + mt_size - 1) % mt_size;
    int64_t out[CELLS], in[CELLS];
    MPI_File file;

    mt_section("files, %s", mt_kind_name(w.kind));
    if (!MT_OK(MPI_File_open(MPI_COMM_WORLD, name,
                             MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &file)))
        return;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CELLS; i++)
            out[i] = round * 100000 + mt_rank * 10000 + i;
        MT_OK(MPI_Win_fence(0, w.win));
        put_somewhere(round * 10 + mt_rank);
        MT_OK(MPI_File_write_at_all(file, (MPI_Offset)mt_rank * (MPI_Offset)sizeof out, out, CELLS,
                                    MPI_INT64_T, MPI_STATUS_IGNORE));
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        check_put(round * 10 + left);
        MT_OK(MPI_File_sync(file));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        MT_OK(MPI_File_sync(file));
        memset(in, 0, sizeof in);
        MT_OK(MPI_File_read_at(file, (MPI_Offset)left * (MPI_Offset)sizeof in, in, CELLS,
                               MPI_INT64_T, MPI_STATUS_IGNORE));
        for (int i = 0; i < CELLS; i++)
            if (!CHECK(in[i] == round * 100000 + left * 10000 + i, "element %d is %lld", i,
                       (long long)in[i]))
                break;
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    MT_OK(MPI_File_close(&file));
}

/* In the midst of an epoch, which such calls do not end. */
static void collectives(void)
{
    MPI_Comm dup, split;
    int64_t one = 1, sum = 0;

    mt_section("collective calls in an epoch, %s", mt_kind_name(w.kind));
    MT_OK(MPI_Win_lock_all(0, w.win));
    put_somewhere(77);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MT_OK(MPI_Comm_split(dup, mt_rank % 2, mt_rank, &split));
    MT_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT64_T, MPI_SUM, dup));
    CHECK(sum == mt_size, "%lld", (long long)sum);
    MT_OK(MPI_Win_flush_all(w.win));
    MT_OK(MPI_Comm_free(&split));
    MT_OK(MPI_Comm_free(&dup));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_sync(w.win));
    check_put(77);
    MT_OK(MPI_Win_unlock_all(w.win));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    static const enum mt_kind kinds[] = {MT_CREATE_MALLOC, MT_ALLOCATE};
    char name[256];
    long pid = (long)getpid();
    const char *dir = getenv("TMPDIR");

    MT_OK(MPI_Bcast(&pid, 1, MPI_LONG, 0, MPI_COMM_WORLD));
    snprintf(name, sizeof name, "%s/mpi-rma-beside-host.%ld", dir != NULL ? dir : "/tmp", pid);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!mt_win_make(&w, kinds[i], 64, 1, MPI_COMM_WORLD))
            continue;
        files(name);
        collectives();
        mt_win_free(&w);
    }
    return MT_FINISH();
}
