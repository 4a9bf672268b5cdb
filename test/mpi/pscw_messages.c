/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pscw_messages.c - an exchange by MPI_Win_post, start, complete and wait, whose packets
 * pscw_messages.sh counts.
 *
 *   pscw_messages EPOCHS BYTES
 *
 * Each rank puts two strips of so many bytes to the other of its pair, ranks 2k and 2k + 1, in each
 * epoch, and looks at what has come.
 */
#include "mtest.h"

enum { STRIPS = 2 };

static MPI_Win win;
static unsigned char *mine, *out;
static int bytes;

static void exchange(MPI_Group other, int rank, int epoch)
{
    memset(out, (unsigned char)epoch, (size_t)bytes);
    MT_OK(MPI_Win_post(other, 0, win));
    MT_OK(MPI_Win_start(other, 0, win));
    for (int i = 0; i < STRIPS; i++)
        MT_OK(MPI_Put(out, bytes, MPI_BYTE, rank, (MPI_Aint)i * bytes, bytes, MPI_BYTE, win));
    MT_OK(MPI_Win_complete(win));
    MT_OK(MPI_Win_wait(win));
    const size_t last = (size_t)bytes * STRIPS - 1;
    CHECK(mine[0] == (unsigned char)epoch && mine[last] == (unsigned char)epoch,
          "epoch %d: %d and %d have come", epoch, mine[0], mine[last]);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int epochs = argc > 1 ? atoi(argv[1]) : 100, other = mt_rank ^ 1;
    MPI_Group all, pair;
    bytes = argc > 2 ? atoi(argv[2]) : 16;
    mt_section("%d epochs of %d bytes", epochs, bytes);
    out = malloc((size_t)bytes);
    MT_OK(
        MPI_Win_allocate((MPI_Aint)bytes * STRIPS, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &pair);
    for (int i = 0; i < epochs; i++)
        exchange(pair, other, i);
    MPI_Group_free(&pair);
    MPI_Group_free(&all);
    MT_OK(MPI_Win_free(&win));
    free(out);
    return MT_FINISH();
}
