/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_large.c - the large-count forms of window calls (MPI 4.1, 12.2): the
 * displacement unit is an MPI_Aint.
 *
 * Units above INT_MAX are refused with MPI_ERR_DISP: MPI_WIN_DISP_UNIT could not
 * report them. Exported on every host (declared.h).
 *
 * No state, no locks. Neighbour: window.h, which does the work.
 */
#include "mpi/calls/window.h"

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/state.h"
#include "mpi/traced/traced.h"

MRMA_PUBLIC int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                  MPI_Comm comm, MPI_Win *win)
{
    TRACED(Win_create);
    struct win_args args = {"MPI_Win_create_c", WIN_CREATE, base, size, disp_unit, info, comm};

    if (engine_disabled())
        return mpi_host.Win_create_c(base, size, disp_unit, info, comm, win);
    return win_make(&args, NULL, win);
}
MRMA_EXPORT_MPI(Win_create_c);

MRMA_PUBLIC int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                                    void *baseptr, MPI_Win *win)
{
    TRACED(Win_allocate);
    struct win_args args = {"MPI_Win_allocate_c", WIN_ALLOCATE, NULL, size, disp_unit, info, comm};

    if (engine_disabled())
        return mpi_host.Win_allocate_c(size, disp_unit, info, comm, baseptr, win);
    return win_make(&args, baseptr, win);
}
MRMA_EXPORT_MPI(Win_allocate_c);

MRMA_PUBLIC int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                           MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    TRACED(Win_allocate_shared);
    struct win_args args = {
        "MPI_Win_allocate_shared_c", WIN_ALLOCATE_SHARED, NULL, size, disp_unit, info, comm,
    };

    if (engine_disabled())
        return mpi_host.Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);
    return win_make(&args, baseptr, win);
}
MRMA_EXPORT_MPI(Win_allocate_shared_c);

MRMA_PUBLIC int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                                        void *baseptr)
{
    TRACED_WIN(Win_shared_query, win);
    struct win_rec *rec = win_lookup(win);
    uint32_t unit = 1;
    int rc;

    if (unlikely(rec == NULL))
        return mpi_host.Win_shared_query_c(win, rank, size, disp_unit, baseptr);
    rc = win_query_shared(rec, rank, size, disp_unit, &unit, baseptr);
    if (rc == MPI_SUCCESS)
        *disp_unit = unit;
    return rc;
}
MRMA_EXPORT_MPI(Win_shared_query_c);
