/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran_attr_mpich.c - MPI_Win_get_attr from Fortran, on MPICH.
 *
 * All three Fortran bindings of MPICH call MPII_Win_get_attr, which the C library exports for them,
 * so this function is replaced here. A Fortran keyval of a predefined attribute is the C keyval
 * plus one and asks for the value; the C keyval asks for what C gets.
 *
 * No state, no locks. Neighbours: fortran_attr_mpich.h, which has the host's function; win_attr.h,
 * which has the values.
 */
#include "mpi/calls/fortran_attr_mpich.h"

#include <mpi.h>

#include "mpi/calls/win_attr.h"

int MPII_Win_get_attr(int win, int keyval, void *attribute, int *flag, int type)
{
    struct win_rec *rec = win_lookup(win);
    void *pointer;
    MPI_Aint value;

    if (rec != NULL && win_attr_get(rec, keyval - 1, &pointer, &value)) {
        *(MPI_Aint *)attribute = value;
    } else if (rec != NULL && win_attr_get(rec, keyval, &pointer, &value)) {
        *(void **)attribute = pointer;
    } else {
        return host_get_attr(win, keyval, attribute, flag, type);
    }
    *flag = 1;
    return MPI_SUCCESS;
}
