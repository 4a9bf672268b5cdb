/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_rank.c - the last rank comes late to each kind of window creation: only when the file that
 * is named as argument is there. Run by late_rank.sh, which makes it when the others have said
 * that they wait.
 */
#include "mtest.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    mt_timeout(30);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    struct mt_win w;
    while (mt_rank == mt_size - 1 && access(argv[1], F_OK) != 0)
        usleep(10000);
    if (mt_win_make(&w, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD))
        mt_win_free(&w);
    return MT_FINISH();
}
