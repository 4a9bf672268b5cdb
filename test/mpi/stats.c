/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.c - a program whose counts stats.sh knows: rank r makes one window, puts r + 1 times 8
 * bytes to its right neighbour, gets twice 4 bytes from its left one, and has 3 times 100 * (r + 1)
 * bytes of MPI_Alloc_mem.
 *
 * "die": the last rank ends itself before MPI_Finalize. "late SECONDS": it comes so much later.
 */
#include "mtest.h"

#include <string.h>
#include <unistd.h>

static void use_window(void)
{
    const int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size;
    const int64_t value = 1000 + mt_rank;
    int32_t got[2] = {0, 0};
    int64_t *mem;
    MPI_Win win;

    MT_OK(MPI_Win_allocate(4096, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    memset(mem, 0, 4096);
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i <= mt_rank; i++)
        MT_OK(MPI_Put(&value, 1, MPI_INT64_T, right, i, 1, MPI_INT64_T, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(mem[left] == 1000 + left && mem[left + 1] == 0, "%ld", (long)mem[left]);
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Get(&got[i], 1, MPI_INT32_T, left, 0, 1, MPI_INT32_T, win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(got[0] == 1000 + (left + mt_size - 1) % mt_size && got[1] == got[0], "%d", got[0]);
    MT_OK(MPI_Win_free(&win));
}

static void use_memory(void)
{
    void *mem;

    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Alloc_mem(100 * (mt_rank + 1), MPI_INFO_NULL, &mem));
        MT_OK(MPI_Free_mem(mem));
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    mt_timeout(100);
    use_window();
    use_memory();
    if (argc == 1)
        return MT_FINISH();
    if (mt_rank == mt_size - 1) {
        if (strcmp(argv[1], "die") == 0)
            _exit(0);
        sleep((unsigned)atoi(argv[2]));
    }
    MPI_Finalize();
    return mt_failures() != 0;
}
