/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count_tool.c - a profiling tool (MPI 4.1, 15.2) that counts some calls and tells at MPI_Finalize
 * how many each process made. Built by profiling_tools.sh; with COUNT_FORTRAN it stands before the
 * functions of the host's Fortran library too.
 */
#include <mpi.h>
#include <stdio.h>

static int put_calls, fence_calls, allocate_calls, free_calls, barrier_calls, pcontrol_calls;

static void tell(void)
{
    fprintf(stderr, "tool: put %d fence %d allocate %d free %d barrier %d pcontrol %d\n", put_calls,
            fence_calls, allocate_calls, free_calls, barrier_calls, pcontrol_calls);
}

int MPI_Put(const void *from, int n, MPI_Datatype type, int rank, MPI_Aint disp, int tn,
            MPI_Datatype ttype, MPI_Win win)
{
    put_calls++;
    return PMPI_Put(from, n, type, rank, disp, tn, ttype, win);
}

int MPI_Win_fence(int asserts, MPI_Win win)
{
    fence_calls++;
    return PMPI_Win_fence(asserts, win);
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                     MPI_Win *win)
{
    allocate_calls++;
    return PMPI_Win_allocate(size, unit, info, comm, base, win);
}

int MPI_Win_free(MPI_Win *win)
{
    free_calls++;
    return PMPI_Win_free(win);
}

int MPI_Barrier(MPI_Comm comm)
{
    barrier_calls++;
    return PMPI_Barrier(comm);
}

int MPI_Pcontrol(const int level, ...)
{
    pcontrol_calls++;
    return PMPI_Pcontrol(level);
}

int MPI_Finalize(void)
{
    tell();
    return PMPI_Finalize();
}

#ifdef COUNT_FORTRAN
void mpi_put_(void *from, MPI_Fint *n, MPI_Fint *type, MPI_Fint *rank, MPI_Aint *disp, MPI_Fint *tn,
              MPI_Fint *ttype, MPI_Fint *win, MPI_Fint *err);
void pmpi_put_(void *from, MPI_Fint *n, MPI_Fint *type, MPI_Fint *rank, MPI_Aint *disp,
               MPI_Fint *tn, MPI_Fint *ttype, MPI_Fint *win, MPI_Fint *err);
void mpi_win_fence_(MPI_Fint *asserts, MPI_Fint *win, MPI_Fint *err);
void pmpi_win_fence_(MPI_Fint *asserts, MPI_Fint *win, MPI_Fint *err);
void mpi_win_free_(MPI_Fint *win, MPI_Fint *err);
void pmpi_win_free_(MPI_Fint *win, MPI_Fint *err);
void mpi_barrier_(MPI_Fint *comm, MPI_Fint *err);
void pmpi_barrier_(MPI_Fint *comm, MPI_Fint *err);
void mpi_pcontrol_(MPI_Fint *level);
void pmpi_pcontrol_(MPI_Fint *level);
void mpi_finalize_(MPI_Fint *err);
void pmpi_finalize_(MPI_Fint *err);

void mpi_put_(void *from, MPI_Fint *n, MPI_Fint *type, MPI_Fint *rank, MPI_Aint *disp, MPI_Fint *tn,
              MPI_Fint *ttype, MPI_Fint *win, MPI_Fint *err)
{
    put_calls++;
    pmpi_put_(from, n, type, rank, disp, tn, ttype, win, err);
}

void mpi_win_fence_(MPI_Fint *asserts, MPI_Fint *win, MPI_Fint *err)
{
    fence_calls++;
    pmpi_win_fence_(asserts, win, err);
}

void mpi_win_free_(MPI_Fint *win, MPI_Fint *err)
{
    free_calls++;
    pmpi_win_free_(win, err);
}

void mpi_barrier_(MPI_Fint *comm, MPI_Fint *err)
{
    barrier_calls++;
    pmpi_barrier_(comm, err);
}

void mpi_pcontrol_(MPI_Fint *level)
{
    pcontrol_calls++;
    pmpi_pcontrol_(level);
}

void mpi_finalize_(MPI_Fint *err)
{
    tell();
    pmpi_finalize_(err);
}
#endif
