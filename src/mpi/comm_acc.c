/*
 * comm_acc.c - MPI_Accumulate, MPI_Get_accumulate and their request forms (MPI
 * 4.1, 12.3.4.1, 12.3.4.2 and 12.3.5).
 *
 * As comm.c, and besides: the operation is a predefined one, MPI_REPLACE or
 * MPI_NO_OP (else MPI_ERR_OP) and allowed on the type; all elements on every
 * side are of one predefined type (else MPI_ERR_TYPE). Elements are updated
 * atomically against every other accumulate on the window.
 * The large-count forms are in comm_large.c. No state, no locks.
 */
#include "mpi/comm_acc.h"

#include "mpi/comm_request.h"
#include "mpi/export.h"
#include "mpi/host.h"

MRMA_PUBLIC int PMPI_Accumulate(const void *oaddr, int ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                                int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    struct win_rec *rec = win_lookup(win);
    struct rma_op what;
    int err;

    rma_op_clear(&what);
    if (unlikely(rec == NULL))
        return mpi_host.Accumulate(oaddr, ocount, otype, target, disp, tcount, ttype, op, win);
    err = comm_accumulate(rec, &what, oaddr, ocount, otype, target, disp, tcount, ttype, op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Accumulate", err, &what);
}
MRMA_EXPORT_MPI(Accumulate);

MRMA_PUBLIC int PMPI_Raccumulate(const void *oaddr, int ocount, MPI_Datatype otype, int target,
                                 MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                                 MPI_Request *request)
{
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Raccumulate(oaddr, ocount, otype, target, disp, tcount, ttype, op, win, request);
    return comm_raccumulate(rec, oaddr, ocount, otype, target, disp, tcount, ttype, op, request);
}
MRMA_EXPORT_MPI(Raccumulate);

MRMA_PUBLIC int PMPI_Get_accumulate(const void *oaddr, int ocount, MPI_Datatype otype, void *raddr,
                                    int rcount, MPI_Datatype rtype, int target, MPI_Aint disp, int tcount,
                                    MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    struct win_rec *rec = win_lookup(win);
    struct rma_op what;
    int err;

    rma_op_clear(&what);
    if (unlikely(rec == NULL))
        return mpi_host.Get_accumulate(oaddr, ocount, otype, raddr, rcount, rtype, target, disp, tcount,
                                       ttype, op, win);
    err = comm_get_accumulate(rec, &what, oaddr, ocount, otype, raddr, rcount, rtype, target, disp, tcount,
                              ttype, op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Get_accumulate", err, &what);
}
MRMA_EXPORT_MPI(Get_accumulate);

MRMA_PUBLIC int PMPI_Rget_accumulate(const void *oaddr, int ocount, MPI_Datatype otype, void *raddr,
                                     int rcount, MPI_Datatype rtype, int target, MPI_Aint disp, int tcount,
                                     MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Rget_accumulate(oaddr, ocount, otype, raddr, rcount, rtype, target, disp, tcount,
                                        ttype, op, win, request);
    return comm_rget_accumulate(rec, oaddr, ocount, otype, raddr, rcount, rtype, target, disp, tcount, ttype,
                                op, request);
}
MRMA_EXPORT_MPI(Rget_accumulate);
