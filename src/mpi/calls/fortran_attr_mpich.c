/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran_attr_mpich.c - MPI_Win_get_attr from Fortran, on MPICH.
 *
 * All three Fortran bindings of MPICH call MPII_Win_get_attr, which the C library
 * exports for them, so that is what is replaced here. A Fortran keyval of a
 * predefined attribute is the C keyval plus one and asks for the value; the C
 * keyval asks for what C gets.
 *
 * State: where the host's function is, found once. No locks. Neighbour: win_attr.h, which has the
 * values.
 */
#include <mpi.h>

#include "base/atomic.h"
#include "mpi/calls/win_attr.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"

/* type: the kind of integer that the binding has room for; 0 stands for a pointer. */
typedef int get_attr_fn(MPI_Win win, int keyval, void *attribute, int *flag, int type);

MRMA_PUBLIC int MPII_Win_get_attr(MPI_Win win, int keyval, void *attribute, int *flag, int type);

static get_attr_fn *host_get_attr(void)
{
    static _Atomic(get_attr_fn *) found;
    get_attr_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);

    if (fn == NULL) {
        *(void **)&fn = host_symbol("MPII_Win_get_attr");
        atomic_store_explicit(&found, fn, memory_order_relaxed);
    }
    return fn;
}

int MPII_Win_get_attr(MPI_Win win, int keyval, void *attribute, int *flag, int type)
{
    struct win_rec *rec = win_lookup(win);
    void *pointer;
    MPI_Aint value;

    if (rec != NULL && win_attr_get(rec, keyval - 1, &pointer, &value)) {
        *(MPI_Aint *)attribute = value;
    } else if (rec != NULL && win_attr_get(rec, keyval, &pointer, &value)) {
        *(void **)attribute = pointer;
    } else {
        get_attr_fn *fn = host_get_attr();

        return fn != NULL ? fn(win, keyval, attribute, flag, type) : MPI_ERR_OTHER;
    }
    *flag = 1;
    return MPI_SUCCESS;
}
