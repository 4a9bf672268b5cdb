/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * large_ops.c - the large-count forms of communication calls (MPI 4.1, 12.3).
 *
 * Counts are MPI_Count; otherwise as in put_get.c and accumulate.c. Exported on
 * every host (declared.h).
 *
 * No state, no locks. Neighbours: transfer.h, accumulate.h and request_ops.h, which do the
 * work.
 */
#include <mpi.h>

#include "mpi/calls/argcheck.h"
#include "mpi/calls/accumulate.h"
#include "mpi/calls/request_ops.h"
#include "mpi/calls/transfer.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/traced/traced.h"

MRMA_PUBLIC int PMPI_Put_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, int target,
                           MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Win win)
{
    TRACED_WIN(Put, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Put_c(oaddr, ocount, otype, target, disp, tcount, ttype, win);
    return comm_put_whole(rec, oaddr, ocount, otype, target, disp, tcount, ttype);
}
MRMA_EXPORT_MPI(Put_c);

MRMA_PUBLIC int PMPI_Get_c(void *raddr, MPI_Count rcount, MPI_Datatype rtype, int target,
                           MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Win win)
{
    TRACED_WIN(Get, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Get_c(raddr, rcount, rtype, target, disp, tcount, ttype, win);
    return comm_get_whole(rec, raddr, rcount, rtype, target, disp, tcount, ttype);
}
MRMA_EXPORT_MPI(Get_c);

MRMA_PUBLIC int PMPI_Rput_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, int target,
                            MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Win win,
                            MPI_Request *request)
{
    TRACED_WIN(Rput, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Rput_c(oaddr, ocount, otype, target, disp, tcount, ttype, win, request);
    return comm_rput(rec, oaddr, ocount, otype, target, disp, tcount, ttype, request);
}
MRMA_EXPORT_MPI(Rput_c);

MRMA_PUBLIC int PMPI_Rget_c(void *raddr, MPI_Count rcount, MPI_Datatype rtype, int target,
                            MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Win win,
                            MPI_Request *request)
{
    TRACED_WIN(Rget, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Rget_c(raddr, rcount, rtype, target, disp, tcount, ttype, win, request);
    return comm_rget(rec, raddr, rcount, rtype, target, disp, tcount, ttype, request);
}
MRMA_EXPORT_MPI(Rget_c);

MRMA_PUBLIC int PMPI_Accumulate_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype,
                                  int target, MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype,
                                  MPI_Op op, MPI_Win win)
{
    TRACED_WIN(Accumulate, win);
    struct win_rec *rec = win_lookup(win);
    struct rma_op what;
    int err;

    rma_op_clear(&what);
    if (unlikely(rec == NULL))
        return mpi_host.Accumulate_c(oaddr, ocount, otype, target, disp, tcount, ttype, op, win);
    err = comm_accumulate(rec, &what, oaddr, ocount, otype, target, disp, tcount, ttype, op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Accumulate", err, &what);
}
MRMA_EXPORT_MPI(Accumulate_c);

MRMA_PUBLIC int PMPI_Raccumulate_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype,
                                   int target, MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype,
                                   MPI_Op op, MPI_Win win, MPI_Request *request)
{
    TRACED_WIN(Raccumulate, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Raccumulate_c(oaddr, ocount, otype, target, disp, tcount, ttype, op, win,
                                      request);
    return comm_raccumulate(rec, oaddr, ocount, otype, target, disp, tcount, ttype, op, request);
}
MRMA_EXPORT_MPI(Raccumulate_c);

MRMA_PUBLIC int PMPI_Get_accumulate_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype,
                                      void *raddr, MPI_Count rcount, MPI_Datatype rtype, int target,
                                      MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype,
                                      MPI_Op op, MPI_Win win)
{
    TRACED_WIN(Get_accumulate, win);
    struct win_rec *rec = win_lookup(win);
    struct rma_op what;
    int err;

    rma_op_clear(&what);
    if (unlikely(rec == NULL))
        return mpi_host.Get_accumulate_c(oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                                         tcount, ttype, op, win);
    err = comm_get_accumulate(rec, &what, oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                              tcount, ttype, op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS
                                       : op_fail(rec, "MPI_Get_accumulate", err, &what);
}
MRMA_EXPORT_MPI(Get_accumulate_c);

MRMA_PUBLIC int PMPI_Rget_accumulate_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype,
                                       void *raddr, MPI_Count rcount, MPI_Datatype rtype,
                                       int target, MPI_Aint disp, MPI_Count tcount,
                                       MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                                       MPI_Request *request)
{
    TRACED_WIN(Rget_accumulate, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Rget_accumulate_c(oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                                          tcount, ttype, op, win, request);
    return comm_rget_accumulate(rec, oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                                tcount, ttype, op, request);
}
MRMA_EXPORT_MPI(Rget_accumulate_c);
