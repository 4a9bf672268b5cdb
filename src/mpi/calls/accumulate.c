/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accumulate.c - MPI_Accumulate, MPI_Get_accumulate and their request forms (MPI
 * 4.1, 12.3.4.1, 12.3.4.2 and 12.3.5).
 *
 * As put_get.c, and besides: the operation is a predefined one, MPI_REPLACE or
 * MPI_NO_OP (else MPI_ERR_OP) and allowed on the type; all elements on every
 * side are of one predefined type (else MPI_ERR_TYPE). Elements are updated
 * atomically against every other accumulate on the window.
 * The large-count forms are in large_ops.c. No state, no locks.
 *
 * Neighbours: accumulate.h, what the forms of a call share; rma/layer/fast.h, the short cuts.
 */
#include "mpi/calls/accumulate.h"

#include "mpi/calls/request_ops.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/traced/traced.h"
#include "rma/layer/fast.h"

/* Predefined and known, for a short cut; ACC_OP_NONE: ask args_accumulate. */
static inline enum acc_op quick_op(MPI_Op op)
{
    return likely(op == MPI_SUM) ? ACC_SUM : acc_op_from_mpi(op);
}

static __attribute__((noinline)) int accumulate_general(const void *oaddr, int ocount,
                                                        MPI_Datatype otype, int target,
                                                        MPI_Aint disp, int tcount,
                                                        MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    TRACED_WIN(Accumulate, win);
    struct win_rec *rec = win_lookup(win);
    struct rma_op what;
    int err;

    rma_op_clear(&what);
    if (unlikely(rec == NULL))
        return mpi_host.Accumulate(oaddr, ocount, otype, target, disp, tcount, ttype, op, win);
    err = comm_accumulate(rec, &what, oaddr, ocount, otype, target, disp, tcount, ttype, op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Accumulate", err, &what);
}

/* Both have a short cut, for the window used last, the same known contiguous datatype and count on
 * all sides, and mapped memory (rma/layer/fast.h). */
MRMA_PUBLIC int PMPI_Accumulate(const void *oaddr, int ocount, MPI_Datatype otype, int target,
                                MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op,
                                MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const enum acc_op quick = quick_op(op);
    const struct dtype *type;
    size_t len;

    if (likely(win_is(rec, win) && args_plain(rec, ocount | tcount, target, disp) &&
               otype == ttype && ocount == tcount && oaddr != NULL && quick != ACC_NO_OP &&
               args_known_type(ttype, &type) && type->contig &&
               !__builtin_mul_overflow((size_t)tcount, type->size, &len)) &&
        fast_acc(rec->win, quick, type, (size_t)tcount, oaddr, NULL, target, disp, len))
        return MPI_SUCCESS;
    return accumulate_general(oaddr, ocount, otype, target, disp, tcount, ttype, op, win);
}
MRMA_EXPORT_MPI(Accumulate);

MRMA_PUBLIC int PMPI_Raccumulate(const void *oaddr, int ocount, MPI_Datatype otype, int target,
                                 MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op,
                                 MPI_Win win, MPI_Request *request)
{
    TRACED_WIN(Raccumulate, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Raccumulate(oaddr, ocount, otype, target, disp, tcount, ttype, op, win,
                                    request);
    return comm_raccumulate(rec, oaddr, ocount, otype, target, disp, tcount, ttype, op, request);
}
MRMA_EXPORT_MPI(Raccumulate);

static __attribute__((noinline)) int get_accumulate_general(
    const void *oaddr, int ocount, MPI_Datatype otype, void *raddr, int rcount, MPI_Datatype rtype,
    int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    TRACED_WIN(Get_accumulate, win);
    struct win_rec *rec = win_lookup(win);
    struct rma_op what;
    int err;

    rma_op_clear(&what);
    if (unlikely(rec == NULL))
        return mpi_host.Get_accumulate(oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                                       tcount, ttype, op, win);
    err = comm_get_accumulate(rec, &what, oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                              tcount, ttype, op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS
                                       : op_fail(rec, "MPI_Get_accumulate", err, &what);
}

/* With MPI_NO_OP the origin's three arguments are not looked at. */
MRMA_PUBLIC int PMPI_Get_accumulate(const void *oaddr, int ocount, MPI_Datatype otype, void *raddr,
                                    int rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                                    int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const enum acc_op quick = quick_op(op);
    const struct dtype *type;
    size_t len;

    if (likely(win_is(rec, win) && args_plain(rec, rcount | tcount, target, disp) &&
               rtype == ttype && rcount == tcount && raddr != NULL &&
               (quick == ACC_NO_OP || (otype == ttype && ocount == tcount && oaddr != NULL)) &&
               args_known_type(ttype, &type) && type->contig &&
               !__builtin_mul_overflow((size_t)tcount, type->size, &len)) &&
        fast_acc(rec->win, quick, type, (size_t)tcount, oaddr, raddr, target, disp, len))
        return MPI_SUCCESS;
    return get_accumulate_general(oaddr, ocount, otype, raddr, rcount, rtype, target, disp, tcount,
                                  ttype, op, win);
}
MRMA_EXPORT_MPI(Get_accumulate);

MRMA_PUBLIC int PMPI_Rget_accumulate(const void *oaddr, int ocount, MPI_Datatype otype, void *raddr,
                                     int rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                                     int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                                     MPI_Request *request)
{
    TRACED_WIN(Rget_accumulate, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Rget_accumulate(oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                                        tcount, ttype, op, win, request);
    return comm_rget_accumulate(rec, oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                                tcount, ttype, op, request);
}
MRMA_EXPORT_MPI(Rget_accumulate);
