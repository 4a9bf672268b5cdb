/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran_attr_openmpi.c - MPI_Win_get_attr from Fortran, on Open MPI.
 *
 * The wrapper behind mpif.h and use mpi (ompi_win_get_attr_f, known under the names of every
 * Fortran name mangling; use mpi_f08 calls one of those) looks for attributes inside the host's
 * window, which does not have this library's. So the wrapper is replaced under all of its names,
 * and passes on attributes that are not predefined. Keyvals are the same in C and Fortran; Fortran
 * gets values of address size (12.2.6).
 *
 * State: where the host's function is, found once. No locks. Neighbour: win_attr.h, which has the
 * values.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <stddef.h>

#include "base/atomic.h"
#include "mpi/calls/win_attr.h"
#include "mpi/host/export.h"

typedef void get_attr_fn(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *attribute, MPI_Fint *flag,
                         MPI_Fint *ierror);

MRMA_PUBLIC get_attr_fn ompi_win_get_attr_f;

#define NAME "ompi_win_get_attr_f"

/* The Fortran library may have been loaded after this one by a dlopen that keeps it out of the
 * global scope; it is there, since it calls this function. */
static get_attr_fn *host_get_attr(void)
{
    static _Atomic(get_attr_fn *) found;
    get_attr_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);
    void *symbol;

    if (fn != NULL)
        return fn;
    symbol = dlsym(RTLD_NEXT, NAME);
    if (symbol == NULL) {
        void *library = dlopen("libmpi_mpifh.so.40", RTLD_LAZY | RTLD_NOLOAD);
        symbol = library != NULL ? dlsym(library, NAME) : NULL;
    }
    *(void **)&fn = symbol;
    atomic_store_explicit(&found, fn, memory_order_relaxed);
    return fn;
}

void ompi_win_get_attr_f(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *attribute, MPI_Fint *flag,
                         MPI_Fint *ierror)
{
    struct win_rec *rec = win_lookup(PMPI_Win_f2c(*win));
    void *pointer;

    if (rec == NULL || !win_attr_get(rec, *keyval, &pointer, attribute)) {
        get_attr_fn *fn = host_get_attr();

        if (fn != NULL)
            fn(win, keyval, attribute, flag, ierror);
        else if (ierror != NULL)
            *ierror = MPI_ERR_OTHER;
        return;
    }
    *flag = 1; /* .TRUE. */
    if (ierror != NULL)
        *ierror = MPI_SUCCESS;
}

#define SAME_AS_WRAPPER __attribute__((alias(NAME), visibility("default")))
extern get_attr_fn pmpi_win_get_attr SAME_AS_WRAPPER;
extern get_attr_fn pmpi_win_get_attr_ SAME_AS_WRAPPER;
extern get_attr_fn pmpi_win_get_attr__ SAME_AS_WRAPPER;
extern get_attr_fn PMPI_WIN_GET_ATTR SAME_AS_WRAPPER;
extern get_attr_fn PMPI_Win_get_attr_f SAME_AS_WRAPPER;
extern get_attr_fn PMPI_Win_get_attr_f08 SAME_AS_WRAPPER;

#define WEAK_AS_WRAPPER __attribute__((weak, alias(NAME), visibility("default")))
extern get_attr_fn mpi_win_get_attr WEAK_AS_WRAPPER;
extern get_attr_fn mpi_win_get_attr_ WEAK_AS_WRAPPER;
extern get_attr_fn mpi_win_get_attr__ WEAK_AS_WRAPPER;
extern get_attr_fn MPI_WIN_GET_ATTR WEAK_AS_WRAPPER;
extern get_attr_fn MPI_Win_get_attr_f WEAK_AS_WRAPPER;
extern get_attr_fn MPI_Win_get_attr_f08 WEAK_AS_WRAPPER;
