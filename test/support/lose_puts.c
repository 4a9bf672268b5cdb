/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lose_puts.c - preloaded by test/product/halo.tap: puts of 256 bytes in all are lost, whatever is
 * beneath.
 */
#include <mpi.h>

enum { LOST = 256 };

int MPI_Put(const void *oaddr, int ocount, MPI_Datatype otype, int target, MPI_Aint disp,
            int tcount, MPI_Datatype ttype, MPI_Win win)
{
    int size;

    MPI_Type_size(otype, &size);
    if (size * ocount == LOST)
        return MPI_SUCCESS;
    return PMPI_Put(oaddr, ocount, otype, target, disp, tcount, ttype, win);
}
