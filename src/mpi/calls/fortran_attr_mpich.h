/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran_attr_mpich.h - MPII_Win_get_attr, which Fortran bindings that come from MPICH call in the
 * C library for MPI_Win_get_attr.
 *
 * Each of the two builds for libraries that derive from MPICH replaces it in a file of its own, the
 * only one that includes this header: fortran_attr_mpich.c and fortran_attr_abi_mpich.c. The window
 * is a number in both: a handle of MPICH's own interface, or what MPI_Win_toint gives over the
 * standard ABI.
 *
 * State: where the host's function is, found once. No locks.
 */
#ifndef MRMA_MPI_CALLS_FORTRAN_ATTR_MPICH_H
#define MRMA_MPI_CALLS_FORTRAN_ATTR_MPICH_H

#include <mpi.h>
#include <stddef.h>

#include "base/atomic.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"

/* type: the kind of integer that the binding has room for; 0 stands for a pointer. */
typedef int mpii_get_attr_fn(int win, int keyval, void *attribute, int *flag, int type);

MRMA_PUBLIC mpii_get_attr_fn MPII_Win_get_attr;

/* host_get_attr asks the host's function, with the same arguments, and returns its result, or
 * MPI_ERR_OTHER where the host does not have it. Any thread. */
static inline int host_get_attr(int win, int keyval, void *attribute, int *flag, int type)
{
    static _Atomic(mpii_get_attr_fn *) found;
    mpii_get_attr_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);

    if (fn == NULL) {
        *(void **)&fn = host_symbol("MPII_Win_get_attr");
        atomic_store_explicit(&found, fn, memory_order_relaxed);
    }
    return fn != NULL ? fn(win, keyval, attribute, flag, type) : MPI_ERR_OTHER;
}

#endif
