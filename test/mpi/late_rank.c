/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_rank.c - the last rank comes late to the creation of a window, and to a fence in it: only
 * when the file that is named as the first argument, and then the second, is there. Run by
 * late_rank.sh, which makes them when the others have said that they wait.
 */
#include "mtest.h"

#include <unistd.h>

static void come_late(const char *file)
{
    while (mt_rank == mt_size - 1 && access(file, F_OK) != 0)
        usleep(10000);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    mt_timeout(60);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    struct mt_win w;
    come_late(argv[1]);
    if (!mt_win_make(&w, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD))
        return MT_FINISH();
    MPI_Win_fence(0, w.win);
    come_late(argv[2]);
    MPI_Win_fence(0, w.win);
    mt_win_free(&w);
    return MT_FINISH();
}
