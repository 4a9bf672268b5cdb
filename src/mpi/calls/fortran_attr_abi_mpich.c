/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran_attr_abi_mpich.c - MPI_Win_get_attr from Fortran, over the standard ABI on MPI libraries
 * that derive from MPICH.
 *
 * The Fortran binding of Intel MPI for the ABI (libmpifort_abi) calls public functions for windows,
 * except here: it calls MPII_Win_get_attr of the C library, which would look for the attributes in
 * the window behind the handle. So that function is replaced here. It takes the window as
 * MPI_Win_toint gives it, and the keyval as MPICH numbers it inside: the predefined attributes of
 * windows have two numbers each, in the order of the table below, the first asks for what C gets
 * and the second for the value.
 *
 * No state, no locks. Neighbours: fortran_attr_mpich.h, which has the host's function; win_attr.h,
 * which has the values.
 */
#include "mpi/calls/fortran_attr_mpich.h"

#include <mpi.h>
#include <stdbool.h>

#include "mpi/calls/win_attr.h"

enum { FIRST_KEYVAL = 0x66000001 };

static const int predefined[] = {
    MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL,
};

/* get_own does what the host's function does, for a window of this library and a predefined
 * attribute; otherwise it returns false. */
static bool get_own(int win, int keyval, void *attribute)
{
    unsigned number = (unsigned)keyval - FIRST_KEYVAL;
    struct win_rec *rec;
    void *pointer;
    MPI_Aint value;

    if (number >= 2 * sizeof predefined / sizeof predefined[0])
        return false;
    rec = win_lookup(PMPI_Win_fromint(win));
    if (rec == NULL || !win_attr_get(rec, predefined[number / 2], &pointer, &value))
        return false;
    if (number % 2 == 1)
        *(MPI_Aint *)attribute = value;
    else
        *(void **)attribute = pointer;
    return true;
}

int MPII_Win_get_attr(int win, int keyval, void *attribute, int *flag, int type)
{
    if (get_own(win, keyval, attribute)) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    return host_get_attr(win, keyval, attribute, flag, type);
}
